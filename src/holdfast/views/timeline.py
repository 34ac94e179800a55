"""Events to plain text, for whoever follows a run in a terminal or reads it later.

Rule 1: text is shown once, however often it comes: as a delta, then as an event, then again after a
        reconnect. Its offset says what of it is left to show.
Rule 2: a tool call is one line when it ends; while it runs it is what the run is `doing`.
Rule 3: nothing is shown that could move the cursor or speak to the terminal.
"""

import re
from enum import StrEnum

import msgspec

from holdfast.core import events as e
from holdfast.core.budget import Usage, add
from holdfast.core.session import Call, StopReason
from holdfast.core.value import Value
from holdfast.views.moments import clock, span
from holdfast.views.stops import stop_out
from holdfast.views.words import (
    Clock,
    explained,
    injected,
    money,
    warned,
    went_back,
    workspace_lost,
    workspace_rebuilt,
)

WIDTH = 100  # of a call's arguments on its line
# Escape sequences, and control characters other than tab and newline, C1 among them.
CONTROL = re.compile(
    r"\x1b(?:\][^\x07\x1b]*(?:\x07|\x1b\\)?|\[[0-?]*[ -/]*[@-~]?|[PX^_][^\x1b]*(?:\x1b\\)?|.)?"
    r"|[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)


def clean(text: str) -> str:
    """Without what a terminal would obey."""
    return CONTROL.sub("", text)


class Tone(StrEnum):
    """What a line is to its reader; how that looks is the screen's."""

    PLAIN = "plain"
    YOURS = "yours"
    QUIET = "quiet"
    NOTICE = "notice"
    TROUBLE = "trouble"
    DONE = "done"


class Shown(Value):
    text: str
    whole: bool = True  # a line of its own; False: the next piece of running text
    tone: Tone = Tone.PLAIN


class Timeline:
    """Grows by `add`; each call says what there is to show beyond what was shown."""

    def __init__(self, clock: Clock = clock) -> None:
        self._clock = clock
        self.doing = "starting"
        self.round = 0
        self.typed: set[str] = set()  # inputs that stand on the screen: whoever reads it typed them
        self._until: int | None = None  # nothing is done before
        self._used = Usage()
        self._shown: dict[tuple[int, int], int] = {}  # characters, by round and part
        self._calls: dict[str, Call] = {}

    def now_doing(self, now: int) -> str:
        """In a line that is drawn again and again."""
        if self._until is None or self._until <= now:
            return self.doing
        return f"trying again in {span(self._until - now + 999)}"

    def add(self, event: e.Event) -> list[Shown]:
        self._until = event.until if isinstance(event, e.Notice) else None
        match event:
            case e.TextSaved(round=round, part=part, offset=offset, text=text):
                return self.text(round, part, offset, text)
            case e.InputAccepted(input=id, text=text, queued=queued):
                if id in self.typed and not queued:
                    return []
                return [_line(f"{'(queued) ' if queued else ''}> {text}", Tone.YOURS)]
            case e.RunStarted(briefing=briefing):
                self.doing = "starting"
                return [_line("-- resumed --", Tone.QUIET)] if briefing else []
            case e.RunStopped(stop=stop):
                self.doing = "stopped"
                found = stop_out(stop)
                return [_line(explained(found, self._clock), _tone(stop.reason))] if found else []
            case e.Notice(text=text):
                return [_notice(text)]
            case e.BudgetWarned():
                return [_notice(warned(event))]
            case e.DecisionAsked(decision=decision):
                self.doing = "waiting for an answer"
                return [_line(f"? {decision.text}", Tone.NOTICE)]
            case e.DecisionAnswered(answer=answer):
                return [_line(f"  answered: {answer}")]
            case e.ContextLost(why=why):
                return [_notice(f"The agent lost its context: {why}")]
            case e.ContextInjected():
                return [_notice(injected(event))]
            case e.Rewound():
                return [_line(f"-- {went_back(event)} --")]
            case e.SessionFailed(message=message):
                return [_line(f"! {message}", Tone.TROUBLE)]
            case e.WorkspaceLost():
                return [_notice(workspace_lost(event))]
            case e.WorkspaceRebuilt():
                return [_notice(workspace_rebuilt(event))]
            case _:
                return self._work(event)

    def remember(self, event: e.Event) -> None:
        """What came before the place from which it is shown: only what its calls are called."""
        match event:
            case e.ResponseFinished(calls=calls):
                self._calls |= {call.id: call for call in calls}
            case e.CallObserved(call=call):
                self._calls[call.id] = call
            case _:
                pass

    @property
    def used(self) -> str:
        """Tokens, and what they cost where that is known."""
        tokens = self._used.input_tokens + self._used.output_tokens
        cost = money(self._used.cost_micros / 1_000_000)
        return " ".join([*([f"{tokens:,} tokens"] if tokens else []), *([cost] if cost else [])])

    def text(self, round: int, part: int, offset: int, text: str) -> list[Shown]:
        self.doing = "streaming"
        known = self._shown.get((round, part), 0)
        fresh = text[max(known - offset, 0) :]
        self._shown[round, part] = max(known, offset + len(text))
        return [Shown(text=clean(fresh), whole=False)] if fresh else []

    def _work(self, event: e.Event) -> list[Shown]:
        match event:
            case e.RoundStarted(round=number):
                self.doing, self.round = "waiting for the model", number
                self._shown = {k: n for k, n in self._shown.items() if k[0] != number}
            case e.ThinkingSaved():
                self.doing = "thinking"
            case e.ResponseFinished(usage=usage):
                self._used = add(self._used, usage)
                self.remember(event)
            case e.CoderNoted(usage=usage) | e.ConversationCompacted(usage=usage):
                self._used = add(self._used, usage)
            case e.CallObserved(call=call):
                self.remember(event)
                self.doing = title(call)
            case e.CallIntended(call=id):
                self.doing = self._name(id)
            case e.CallFinished(call=id, failed=failed, output=output, millis=millis):
                self.doing = "working"
                took = f" ({span(millis)})" if millis >= 1000 else ""  # noqa: PLR2004
                if failed:
                    text = f"x {self._name(id)}{took}: {_first_line(output)}"
                    return [_line(text, Tone.TROUBLE)]
                return [_line(f"* {self._name(id)}{took}", Tone.QUIET)]
            case e.CallClosed(call=id, how=e.Closing.DENIED, output=why):
                return [_line(f"x {self._name(id)}: {_first_line(why)}", Tone.TROUBLE)]
            case e.CallClosed(call=id, how=how):
                return [_line(f"- {self._name(id)}: {how.replace('_', ' ')}", Tone.QUIET)]
            case e.RerunDecided(call=id):
                return [_line(f"- {self._name(id)}: run again", Tone.QUIET)]
            case _:
                pass  # not for people: leases, snapshots, tokens
        return []

    def _name(self, id: str) -> str:
        call = self._calls.get(id)
        return title(call) if call else id


def title(call: Call) -> str:
    """The tool and the one argument that says what it is about."""
    try:
        given = msgspec.json.decode(call.arguments)
    except msgspec.DecodeError:
        given = None
    about = ""
    if isinstance(given, dict):
        named = (given.get(key) for key in ("command", "path", "pattern", "message", "task"))
        about = next((str(value) for value in named if value), "") or ", ".join(call.files)
    return f"{call.name} {_first_line(about)}".strip()


def _first_line(text: str) -> str:
    first, _, rest = text.strip().partition("\n")
    return first[:WIDTH] + ("..." if rest or len(first) > WIDTH else "")


def _line(text: str, tone: Tone = Tone.PLAIN) -> Shown:
    return Shown(text=clean(text), tone=tone)


def _notice(text: str) -> Shown:
    return _line(f"! {text}", Tone.NOTICE)


def _tone(reason: StopReason) -> Tone:
    known = {StopReason.COMPLETED: Tone.DONE, StopReason.ERROR: Tone.TROUBLE}
    return known.get(reason, Tone.NOTICE)
