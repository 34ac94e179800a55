"""The tools that change nothing in the world: update_plan; and two that the loop itself carries out:
ask_user and delegate."""

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
