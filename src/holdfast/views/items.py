"""What a conversation looks like to people: items, the shapes that the page draws.

Rule 1: an item's `id` never changes. Its `seq` is the place in history at which it last changed: of
        two versions of one item, the one with the higher seq is the right one.
Rule 2: items stand in the order of `place`, then `id`. An item that a client does not have is put in
        there; one that lies before the oldest it has loaded is left out (it comes with its page).
Rule 3: nothing is left out because it has its default: whoever reads it need not know ours.
How they are made from events is in chat.py.
"""

from typing import Literal

from holdfast.core.session import EffectClass, Phase, StopReason
from holdfast.core.value import Value

ToolStatus = Literal["pending", "running", "finished", "unknown", "cancelled", "denied"]
PlanState = Literal["pending", "in_progress", "done"]
Level = Literal["info", "warning", "error"]


class Shown(Value, omit_defaults=False, tag_field="kind"):
    """What all items have."""

    id: str
    seq: int
    place: int
    at: str  # RFC 3339: its first event


class UserItem(Shown, tag="user"):
    text: str
    input: str | None


class DividerItem(Shown, tag="divider"):
    """A resume: our words to the agent, not the user's. `text` is one line for people."""

    text: str
    briefing: str
    run: int
    strategy: str | None
    drift: str | None


class AssistantItem(Shown, tag="assistant"):
    """Without text and thinking, and not streaming, there is nothing to show."""

    round: int
    text: str
    thinking: str
    streaming: bool
    model: str


class ToolItem(Shown, tag="tool"):
    """`input` and `output` are cut; the sizes are of the whole, which `/calls/{call}` gives."""

    call: str
    name: str
    summary: str  # the tool and what it is about, on one line
    input: str  # JSON, as the model wrote it
    input_size: int
    output: str
    output_size: int
    status: ToolStatus
    failed: bool
    effect: EffectClass
    millis: int
    files: tuple[str, ...]
    blob: str | None


class PlanLine(Value, omit_defaults=False):
    text: str
    state: PlanState


class PlanItem(Shown, tag="plan"):
    """One for each run; it moves to where it was changed last."""

    run: int
    items: tuple[PlanLine, ...]


class NoticeItem(Shown, tag="notice"):
    level: Level
    text: str
    until: str | None  # what it says ends by itself then


class RewoundItem(Shown, tag="rewound"):
    """Items from `since` on, up to this one, are no part of the conversation any more."""

    text: str
    round: int
    since: int | None  # a place; None: nothing that was said is gone


class QuestionItem(Shown, tag="question"):
    decision: str
    question_kind: str
    title: str  # empty: `text` is all there is to ask
    text: str
    note: str  # beside the question
    tool: str  # of the call that it is about; empty: `text` says what it is about
    input: str  # that call's, cut, as in its own item
    options: tuple[str, ...]
    call: str | None
    answer: str | None  # None: it is open, or `withdrawn` says why not
    withdrawn: str | None


class StopItem(Shown, tag="stop", rename={"error": "class"}):
    reason: StopReason
    error: str | None
    title: str
    text: str
    phase: Phase
    round: int
    resumes_at: str | None
    percent: int | None
    dismissed: bool


class CompactedItem(Shown, tag="compacted"):
    summary: str


class CoderItem(Shown, tag="coder"):
    """A piece of work handed to a coder, with its own working memory (SPEC B8)."""

    call: str
    task: str
    plan: str
    open_tasks: tuple[str, ...]
    files_touched: tuple[str, ...]
    assumptions: tuple[str, ...]
    errors: tuple[str, ...]
    finished: bool


Item = (
    UserItem
    | DividerItem
    | AssistantItem
    | ToolItem
    | PlanItem
    | NoticeItem
    | RewoundItem
    | QuestionItem
    | StopItem
    | CompactedItem
    | CoderItem
)
