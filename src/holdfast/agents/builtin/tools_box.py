"""The tools as the loop holds them: of one session, in its workspace, under its permission mode."""

from collections.abc import Mapping

from holdfast.agents.builtin import permission, seam
from holdfast.agents.builtin.files import Refused
from holdfast.agents.builtin.model import ToolSchema
from holdfast.agents.builtin.tools import answer, unknown_tool
from holdfast.agents.builtin.tools_kind import Context, Tool
from holdfast.agents.builtin.tools_talk import AskUser, Delegate, Note
from holdfast.core.session import Call, EffectClass
from holdfast.core.value import fields


class Box:
    def __init__(self, tools: Mapping[str, Tool], context: Context, *, mode: str) -> None:
        self._tools, self._context, self._mode = tools, context, mode

    def schemas(self) -> tuple[ToolSchema, ...]:
        return tuple(
            ToolSchema(name=t.name, description=t.description, schema=t.schema())
            for t in self._tools.values()
        )

    def effect(self, name: str) -> EffectClass:
        """A tool that does not exist changes nothing: its call is answered, not run."""
        tool = self._tools.get(name)
        return tool.effect if tool else EffectClass.PURE

    def files(self, name: str, arguments: str) -> tuple[str, ...]:
        tool = self._tools.get(name)
        return tool.files(arguments, self._context.tree) if tool else ()

    def verdict(self, call: Call, always: tuple[str, ...]) -> seam.Ask | seam.Deny | None:
        tool = self._tools.get(call.name)
        if tool is None:
            return seam.Deny(text=unknown_tool(self._tools, call.name))
        sandbox = self._context.sandbox is not None
        found = permission.verdict(self._mode, tool, call.arguments, sandbox=sandbox, always=always)
        match found:
            case permission.Allow():
                return None
            case permission.Ask(text=text, program=program):
                return seam.Ask(text=text, program=program)
            case permission.Deny(text=text):
                return seam.Deny(text=text)

    def inner(self, call: Call) -> seam.Inner | None:
        """Arguments that are no good go the usual way: `run` says what is wrong with them."""
        tool = self._tools.get(call.name)
        if tool is None or tool.function is not None:
            return None
        try:
            asked = tool.decode(call.arguments)
        except Refused:
            return None
        match asked:
            case AskUser(question=question, options=options):
                return seam.Question(text=question, options=options)
            case Delegate(task=task, context=context):
                return seam.Delegation(task=task, context=context)
            case Note():
                return seam.Note(**fields(asked))
            case _:
                return None

    async def run(self, call: Call) -> seam.Ran:
        result = await answer(self._tools, call.name, call.arguments, self._context)
        return seam.Ran(output=result.output, failed=result.failed, files=result.files)


def checked(box: Box) -> seam.Toolbox:
    """That it is what the loop asks for, said to the type checker."""
    return box
