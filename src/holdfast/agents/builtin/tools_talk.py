"""The tools that change nothing in the world: update_plan; and those that the loop itself carries
out: ask_user, delegate, and the coder's note."""

from typing import Annotated, Literal

from msgspec import Meta

from holdfast.agents.builtin.tools_kind import Arguments, Context, Tool, ToolResult
from holdfast.core.session import EffectClass


class PlanItem(Arguments):
    text: str
    state: Literal["pending", "in_progress", "done"]


class UpdatePlan(Arguments):
    items: tuple[PlanItem, ...]


class AskUser(Arguments):
    question: Annotated[str, Meta(min_length=1)]
    options: Annotated[tuple[str, ...], Meta(description="Answers to choose from, if any.")] = ()


class Delegate(Arguments):
    task: Annotated[str, Meta(min_length=1, description="What to do, and how to know it is done.")]
    context: Annotated[str, Meta(description="What the coder must know beforehand.")] = ""


class Note(Arguments):
    plan: Annotated[str | None, Meta(description="How you go about the task.")] = None
    open_tasks: Annotated[tuple[str, ...] | None, Meta(description="What is left to do.")] = None
    assumptions: Annotated[
        tuple[str, ...] | None, Meta(description="What you took for granted.")
    ] = None


async def update_plan(arguments: UpdatePlan, context: Context) -> ToolResult:
    """The journaled call is the plan: whoever shows it reads it from there."""
    done = sum(item.state == "done" for item in arguments.items)
    return ToolResult(output=f"Plan noted: {done} of {len(arguments.items)} done.")


TOOLS = (
    Tool(
        name="update_plan",
        description="Show the user your plan: the whole list, each time something changes.",
        arguments=UpdatePlan,
        effect=EffectClass.IDEMPOTENT,
        function=update_plan,
    ),
    Tool(
        name="ask_user",
        description="Ask the user, and wait for the answer. Only if you cannot find out yourself.",
        arguments=AskUser,
        effect=EffectClass.IDEMPOTENT,  # the question is journaled; asked again, it is the same one
        function=None,
    ),
    Tool(
        name="delegate",
        description="Hand a piece of coding work to a coder with a fresh memory. It sees only the "
        "task and the context you give it, works in the same tree, and reports back.",
        arguments=Delegate,
        effect=EffectClass.UNSAFE,
        function=None,
    ),
)
CODERS = (
    Tool(
        name="note",
        description="Your working memory: plan, open tasks, assumptions. Note it when you begin and "
        "whenever it changes: it is what is left of your work if you are cut off. What you leave out "
        "stays as it was. Files you changed and errors are noted by themselves.",
        arguments=Note,
        effect=EffectClass.IDEMPOTENT,
        function=None,
    ),
)
NOT_CODERS = frozenset({"ask_user", "delegate", "update_plan"})
