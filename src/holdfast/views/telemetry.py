"""What stopped, what came back, and how well: one session's journal, folded (SPEC L1). Local only.

Rule 1: every stop is counted, with the phase it came in. A stop that was not the end of the work and
        was followed by another run was *resumed*; how long that took is the time between the two.
Rule 2: a resume succeeded when the run that followed got something done: a response, a call, the end.
        It failed when that run stopped before that. Until then nobody knows.
Rule 3: work is *repeated* when one of the first 20 calls after a resume has the tool and the arguments
        of a call that changed something and finished in the run that was cut off.
Rule 4: cost follows what is new: a ledger goes on from the event it last saw.
Rule 5: what a session came with, as a fork or by adoption, is not counted: it happened elsewhere. All
        of it was written with the session's first event, at the same moment.
"""

import hashlib

import msgspec

from holdfast.core import events as e
from holdfast.core.adoption import ADOPTED
from holdfast.core.budget import Usage
from holdfast.core.session import Call, EffectClass, StopReason
from holdfast.core.value import Value, replace
from holdfast.views.moments import rfc3339

KINDS = (
    e.SessionOpened,
    e.RunStarted,
    e.RunStopped,
    e.ResponseFinished,
    e.CallObserved,
    e.CallFinished,
    e.CoderNoted,
    e.ConversationCompacted,
)
WATCHED = 20  # calls after a resume
DATE = 10  # characters of a moment that say the day


class StopRecord(Value):
    """A stop, and what came of it."""

    session: str
    run: int
    at: int
    reason: StopReason
    phase: str
    error: str | None = None
    resumed_at: int | None = None
    cause: str = ""  # why the run that followed began
    strategy: str = ""
    drift: str = ""
    success: bool | None = None
    repeated: int = 0

    @property
    def resumable(self) -> bool:
        return self.reason is not StopReason.COMPLETED


class DayRecord(Value):
    runs: int = 0
    cost_micros: int = 0
    input_tokens: int = 0
    output_tokens: int = 0


class Ledger:
    """One session's. Grows by `add`."""

    def __init__(self, session: str) -> None:
        self.session = session
        self.seq = 0
        self.stops: list[StopRecord] = []
        self.days: dict[str, DayRecord] = {}
        self._calls: dict[str, Call] = {}
        self._done: set[bytes] = set()  # calls of this run that changed something, and finished
        self._before: set[bytes] = set()  # the same of the run that was cut off
        self._left = 0  # calls that are still compared with those
        self._opened: int | None = None  # when, if it came with a past

    def add(self, seq: int, at: int, event: e.Event) -> None:
        self.seq = seq
        if _inherited(event):
            self._opened = at
        if at != self._opened:
            self._count(at, event)

    def _count(self, at: int, event: e.Event) -> None:
        match event:
            case e.RunStarted():
                self._began(at, event)
            case e.RunStopped():
                self._stopped(at, event)
            case e.ResponseFinished(calls=calls, usage=usage):
                self._went_on(well=True)
                self._spent(at, usage)
                for call in calls:
                    self._asked(call)
            case e.CallObserved(call=call):
                self._asked(call)
            case e.CallFinished(call=id, failed=failed):
                self._went_on(well=True)
                self._finished(id, failed=failed)
            case e.CoderNoted(usage=usage) | e.ConversationCompacted(usage=usage):
                self._spent(at, usage)
            case _:
                pass

    def _began(self, at: int, event: e.RunStarted) -> None:
        day = self._day(at)
        self.days[day] = replace(self.days[day], runs=self.days[day].runs + 1)
        if not self.stops or not self.stops[-1].resumable:
            self._left = 0
            return
        plan = event.plan
        self._left = WATCHED
        self._correct(
            resumed_at=at,
            cause=event.cause,
            strategy=plan.strategy if plan else "",
            drift=plan.drift if plan else "",
        )

    def _stopped(self, at: int, event: e.RunStopped) -> None:
        stop = event.stop
        self._went_on(well=stop.reason is StopReason.COMPLETED)
        record = StopRecord(
            session=self.session,
            run=event.run,
            at=stop.at or at,
            reason=stop.reason,
            phase=stop.phase,
            error=stop.error,
        )
        self.stops.append(record)
        self._before, self._done = self._done, set()
        self._calls, self._left = {}, 0

    def _went_on(self, *, well: bool) -> None:
        last = self.stops[-1] if self.stops else None
        if last is not None and last.resumed_at is not None and last.success is None:
            self._correct(success=well)

    def _asked(self, call: Call) -> None:
        self._calls[call.id] = call
        if self._left > 0:
            self._left -= 1
            if _key(call) in self._before:
                self._correct(repeated=self.stops[-1].repeated + 1)

    def _finished(self, id: str, *, failed: bool) -> None:
        call = self._calls.get(id)
        if call is not None and not failed and call.effect is not EffectClass.PURE:
            self._done.add(_key(call))

    def _correct(self, **changes: object) -> None:
        self.stops[-1] = replace(self.stops[-1], **changes)

    def _spent(self, at: int, usage: Usage) -> None:
        day = self._day(at)
        known = self.days[day]
        self.days[day] = replace(
            known,
            cost_micros=known.cost_micros + usage.cost_micros,
            input_tokens=known.input_tokens + usage.input_tokens,
            output_tokens=known.output_tokens + usage.output_tokens,
        )

    def _day(self, at: int) -> str:
        day = rfc3339(at)[:DATE]
        self.days.setdefault(day, DayRecord())
        return day


def _inherited(event: e.Event) -> bool:
    """It is of another session's past, or of another program's."""
    match event:
        case e.SessionOpened(origin=origin):
            return origin is not None
        case e.RunStarted(input=input):
            return input is not None and input.startswith(ADOPTED)
        case _:
            return False


def _key(call: Call) -> bytes:
    """The tool and its arguments, however they were written."""
    try:
        given = msgspec.json.encode(msgspec.json.decode(call.arguments), order="deterministic")
    except msgspec.DecodeError:
        given = call.arguments.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(call.name.encode() + b"\0" + given, digest_size=16).digest()
