"""A fork: what of a session's history another one begins with (SPEC A2).

Rule 1: copied, not shared: the fork is whole also when the session it came from is gone for good.
Rule 2: what was said is copied, and how its runs ended. What was spent, asked, launched or queued is
        the parent's own; so is every snapshot but the one its files come from.
Rule 3: a round is taken whole, with the results of its calls. While a run is active, the last round
        that is over is as far as it goes.
Rule 4: a round that a rewind has cut away can be forked: that is how a rewind is undone.
"""

from bisect import bisect_left
from collections.abc import Sequence
from typing import get_args

from holdfast.core import events as e
from holdfast.core.budget import Usage
from holdfast.core.ids import Millis, RoundNumber, Seq
from holdfast.core.session import Stop, StopReason
from holdfast.core.value import Value, replace

COPIED = (
    *get_args(e.InputEvent),
    *get_args(e.ConversationEvent),
    *(k for k in get_args(e.RoundEvent) if k not in (e.CoderNoted, e.RerunDecided)),
    e.RunStarted,
    e.RunStopped,
    e.StopSeen,
    e.StopDismissed,
)


FIRST = 2  # the place of what is copied first: a session begins with how it was opened


class Inherited(Value):
    events: tuple[e.Event, ...]
    rounds: tuple[RoundNumber, ...]  # whose work is in the files, in order; 0: the beginning
    tip: bool  # it goes as far as the parent itself: its files are the fork's


def inherited(events: Sequence[e.Event], *, round: RoundNumber | None, now: Millis) -> Inherited:
    end = _end_of_round(events, round) if round is not None else _end_of_what_is_over(events)
    kept = _copied(events[:end])
    rounds = rounds_in_files(events[:end])
    if _running(kept):
        kept += _cut_off_here(kept, rounds[-1], now)
    return Inherited(events=tuple(kept), rounds=rounds, tip=end == len(events))


def _end_of_round(events: Sequence[e.Event], round: RoundNumber) -> int:
    """The place after the last event of that round; with 0, the beginning."""
    begun = False
    for place, event in enumerate(events):
        match event:
            case e.RoundStarted(round=number) if number == round:
                begun = True
            case e.RoundStarted() | e.RunStarted() | e.Rewound() if begun or not round:
                return place if round else 0
            case _:
                pass
    return len(events) if begun or not round else 0


def _end_of_what_is_over(events: Sequence[e.Event]) -> int:
    if not _running(events):
        return len(events)
    return max(n for n, ev in enumerate(events) if isinstance(ev, e.RoundStarted | e.RunStarted))


def _running(events: Sequence[e.Event]) -> bool:
    last = next(
        (ev for ev in reversed(events) if isinstance(ev, e.RunStarted | e.RunStopped)), None
    )
    return isinstance(last, e.RunStarted)


def _copied(events: Sequence[e.Event]) -> list[e.Event]:
    delivered = {event.input for event in events if isinstance(event, e.RunStarted)}
    kept: list[e.Event] = []
    places: list[int] = []  # in the parent's journal
    for place, event in enumerate(events, 1):
        match event:
            case e.InputAccepted(input=id) | e.InputEdited(input=id) | e.InputWithdrawn(input=id):
                kept += [event] if id in delivered else []
            case e.ResponseFinished():
                kept.append(replace(event, usage=Usage()))
            case e.ConversationCompacted():  # its tail is a place in the parent's journal
                kept.append(replace(event, usage=Usage(), tail=Seq(0)))
            case e.Rewound(since=since) if since:
                at = Seq(FIRST + bisect_left(places, since))
                kept.append(replace(event, since=at, token=None, message_id=None))
            case _ if isinstance(event, COPIED):
                kept.append(event)
            case _:
                pass
        places += [place] * (len(kept) - len(places))
    return kept


def _cut_off_here(kept: Sequence[e.Event], round: RoundNumber, now: Millis) -> list[e.Event]:
    run = next(event.run for event in reversed(kept) if isinstance(event, e.RunStarted))
    stop = Stop(
        reason=StopReason.CANCELLED, message=f"Forked at round {round}.", round=round, at=now
    )
    return [e.RunStopped(run=run, stop=stop), e.StopSeen(by="fork")]


def rounds_in_files(events: Sequence[e.Event]) -> tuple[RoundNumber, ...]:
    """Whose work is in the files: what a rewind took out of them is not."""
    rounds = [RoundNumber(0)]
    for event in events:
        match event:
            case e.RoundStarted(round=number) if number not in rounds:
                rounds.append(number)
            case e.Rewound(code=True, round=back):
                rounds = rounds[: rounds.index(back) + 1] if back in rounds else rounds
            case _:
                pass
    return tuple(rounds)
