"""What crosses the socket: the source of the OpenAPI schema and of the page's types.

Requests name what is wanted and nothing of how; answers are written whole, defaults too. An event
on the wire is the journal's own word in snake case, with moments as RFC 3339; `event_in` is the
way back, for a client that wants to read what it got with the views.
"""

from collections.abc import Callable, Mapping
from typing import Any, get_args

import msgspec

from holdfast.core.budget import Limits
from holdfast.core.events import Event, RunStopped
from holdfast.core.value import Value, replace
from holdfast.views.document import QueuedOut, SessionOut
from holdfast.views.items import Item
from holdfast.views.moments import from_rfc3339, rfc3339
from holdfast.views.stops import stop_out
from holdfast.views.tasks import TaskOut

PROMPT_BYTES = 1_000_000
FRAME_BYTES = 2_000_000
PAGE = 500  # events in one answer, at most

# --- errors: a fixed list (SPEC J3) ---------------------------------------------------------------

CODES: dict[str, int] = {
    "unauthorized": 401,
    "forbidden": 403,
    "not_found": 404,
    "ambiguous": 409,
    "refused": 409,
    "held": 409,
    "would_lose": 409,
    "too_large": 413,
    "invalid": 422,
    "too_many": 429,
    "internal": 500,
    "unavailable": 503,
    "store_full": 507,
}


class ErrorBody(Value, omit_defaults=False):
    code: str
    message: str
    hint: str = ""
    candidates: tuple[str, ...] = ()  # ids that fit, or files that would be lost


class ErrorOut(Value, omit_defaults=False):
    error: ErrorBody


# --- requests -----------------------------------------------------------------------------------


class LimitsIn(Value):
    """None: as configured. 0: off."""

    budget_usd: float | None = None
    budget_tokens: int | None = None
    max_tool_calls: int | None = None
    max_rounds: int | None = None
    max_time: float | None = None  # seconds
    session_budget_usd: float | None = None
    session_budget_tokens: int | None = None

    def over(self, configured: Callable[[str], Any]) -> Limits:
        """What was said here, on top of what was configured."""
        usual = LimitsIn(**{name: configured(name) for name in self.__struct_fields__})
        return limits(self, limits(usual, Limits()))

    def cap(self) -> Limits | None:
        """Of all runs of the session together; None: nothing was said of it."""
        usd, tokens = self.session_budget_usd, self.session_budget_tokens
        mine = LimitsIn(budget_usd=usd, budget_tokens=tokens, max_tool_calls=0)
        return None if usd is tokens is None else limits(mine, Limits())


class NewSession(Value):
    """`folder` is where the user stands. Without a prompt nothing runs."""

    folder: str
    prompt: str | None = None
    input: str | None = None
    id: str | None = None  # of 12 hex digits, minted by the client, so that a retry is recognised
    agent: str | None = None
    via: str | None = None
    model: str | None = None
    mode: str | None = None
    title: str | None = None
    limits: LimitsIn = LimitsIn()
    here: bool = False
    git: bool = True
    with_changes: bool = False
    task: str | None = None
    images: tuple[Any, ...] = ()  # refused: a prompt is text (SPEC B14)
    environ: Mapping[str, str] = {}  # keys for the provider, by the Unix socket; in memory only


class TaskIn(Value):
    title: str
    description: str = ""


class TasksOut(Value):
    tasks: tuple[TaskOut, ...]


class PromptIn(Value):
    text: str
    input: str | None = None  # minted by the client, so that a retry is recognised
    limits: LimitsIn | None = None
    images: tuple[Any, ...] = ()  # refused: a prompt is text (SPEC B14)
    environ: Mapping[str, str] = {}


class ResumeIn(Value):
    command: str | None = None  # minted by the client, so that a retry is recognised
    message: str | None = None
    limits: LimitsIn | None = None
    rerun: tuple[str, ...] = ()
    fresh: bool = False
    kill: bool = False  # end what runs, then carry on
    agent: str | None = None  # let another one carry on
    model: str | None = None  # None: as it was
    mode: str | None = None
    images: tuple[Any, ...] = ()  # refused: a prompt is text (SPEC B14)
    environ: Mapping[str, str] = {}


class CloseIn(Value):
    cancelled: bool = False


class ApplyIn(Value):
    squash: bool = False
    to: str | None = None  # a branch; None: the one the user is on


class RenameIn(Value):
    title: str


class UndoIn(Value):
    """Pin, archive: done, or undone."""

    undo: bool = False


class TagIn(Value):
    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()


class TrashIn(Value):
    """`force`: what `would_lose` named may go."""

    force: bool = False


class ForkIn(Value):
    """`at`: the last round that it has; None: all of them."""

    at: int | None = None


class RewindIn(Value):
    """Back to the end of round `to`; 0 is the beginning."""

    to: int
    code: bool = True
    conversation: bool = True


class EditIn(Value):
    text: str


class AnswerIn(Value):
    decision: str
    answer: str
    always: str | None = None


class SeenIn(Value):
    by: str = ""


class DownIn(Value):
    kill: bool = False


# --- answers ------------------------------------------------------------------------------------


class Created(Value, omit_defaults=False):
    id: str
    session: SessionOut
    run: int | None = None
    notes: tuple[str, ...] = ()  # what the user should know, one line each


class RunOut(Value, omit_defaults=False):
    run: int | None
    already_running: bool = False
    head: int = 0  # follow from here


class PromptOut(Value, omit_defaults=False):
    input: str
    run: int | None
    queued: bool
    head: int


class Done(Value, omit_defaults=False):
    session: SessionOut
    changed: bool


class SessionsOut(Value, omit_defaults=False):
    sessions: tuple[SessionOut, ...]
    next: str | None = None


class RewoundOut(Value, omit_defaults=False):
    session: SessionOut
    undo: str  # the command that brings back what was cut away
    notes: tuple[str, ...] = ()


class QueueOut(Value, omit_defaults=False):
    queue: tuple[QueuedOut, ...]
    held: bool  # nothing of it is delivered before the session is resumed


class Health(Value, omit_defaults=False):
    version: str
    pid: int
    epoch: str
    store: str
    home: str
    address: str
    socket: str


class PlanOut(Value, omit_defaults=False):
    """What a resume would do, without doing it."""

    would_run: bool
    reason: str  # why not
    hint: str
    strategy: str | None
    why: str
    drift: str | None
    rebuild: str | None  # the workspace is gone: what it would be made again from
    risks: tuple[str, ...]
    estimate_usd: float | None  # None: its price is not known
    estimate_tokens: int  # about what the agent has to read first
    message: str | None  # what the agent would be told
    calls: dict[str, str]  # open ones: what would be done about each


class Skipped(Value, omit_defaults=False):
    id: str
    reason: str


class BulkOut(Value, omit_defaults=False):
    resumed: tuple[str, ...]
    skipped: tuple[Skipped, ...]


class AgentsIn(Value):
    """Which agents are to be brought back, idle: one, or all that are dead."""

    id: str = ""  # the session's or the agent's own, or the beginning of it
    kill: bool = False  # also those that live: they are ended first
    all: bool = False
    environ: Mapping[str, str] = {}


class LoginCode(Value, omit_defaults=False):
    code: str
    link: str


class EventOut(Value, omit_defaults=False):
    seq: int
    type: str  # snake case of the journal's word
    at: str  # RFC 3339, UTC
    data: dict[str, Any]


class EventsOut(Value, omit_defaults=False):
    """From a cursor (epoch, seq): exactly what was missed. Another epoch means: start again."""

    epoch: str
    head: int
    events: tuple[EventOut, ...] = ()


class ItemsOut(Value, omit_defaults=False):
    """A page of the conversation, oldest first; subscribe from `head`. `more`: there are earlier
    ones, to be had with `before` = the id of the first."""

    epoch: str
    head: int
    document: SessionOut
    items: tuple[Item, ...]
    more: bool


class CallOut(Value, omit_defaults=False):
    """A tool call with all that it was given and all that came out."""

    call: str
    name: str
    input: str
    output: str


class DeltaOut(Value, omit_defaults=False):
    """Streamed text that no power-proof commit covers yet: shown, but without a place."""

    round: int
    part: int
    offset: int
    text: str
    thinking: bool = False
    type: str = "delta"


# --- events on the wire ---------------------------------------------------------------------------


def word(kind: type) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in kind.__name__).lstrip("_")


KINDS: dict[str, type] = {word(kind): kind for kind in get_args(Event)}
WORDS: dict[type, str] = {kind: name for name, kind in KINDS.items()}

# Where an event holds a moment.
MOMENTS: dict[str, tuple[tuple[str, ...], ...]] = {
    "run_stopped": (("stop", "at"), ("stop", "resumes_at")),
    "notice": (("until",),),
    "timer_set": (("timer", "due"),),
}


def event_out(seq: int, at: int, event: Event) -> EventOut:
    name = WORDS[type(event)]
    data: dict[str, Any] = msgspec.to_builtins(event)
    if isinstance(event, RunStopped):
        data["stop"] = msgspec.to_builtins(stop_out(event.stop))
    else:
        _at_moments(name, data, rfc3339)
    return EventOut(seq=seq, type=name, at=rfc3339(at), data=data)


def event_in(out: EventOut) -> Event | None:
    """None: a word that this client does not know yet."""
    kind = KINDS.get(out.type)
    if kind is None:
        return None
    data = msgspec.to_builtins(out.data)
    _at_moments(out.type, data, from_rfc3339)
    event: Event = msgspec.convert(data, kind)
    return event


def _at_moments(name: str, data: dict[str, Any], change: Callable[[Any], object]) -> None:
    for path in MOMENTS.get(name, ()):
        place: Any = data
        for step in path[:-1]:
            place = place.get(step) or {}
        if place.get(path[-1]) is not None:
            place[path[-1]] = change(place[path[-1]])


def limits(given: LimitsIn, otherwise: Limits) -> Limits:
    """What was said counts; what was not said is as it was."""
    micros = None if given.budget_usd is None else round(given.budget_usd * 1_000_000)
    millis = None if given.max_time is None else round(given.max_time * 1000)
    said: Mapping[str, int | None] = {
        "cost_micros": micros,
        "tokens": given.budget_tokens,
        "tool_calls": given.max_tool_calls,
        "rounds": given.max_rounds,
        "wall_ms": millis,
    }
    return replace(otherwise, **{name: value for name, value in said.items() if value is not None})
