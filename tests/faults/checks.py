"""What must hold after any crash (PRODUCT.md). Each function returns what it found wrong."""

from collections import Counter
from pathlib import Path
from typing import NamedTuple

from holdfast.core import events as e
from holdfast.core.evolve import rebuild
from holdfast.core.ids import SessionId
from holdfast.core.session import EffectClass
from holdfast.ports import Journal, Recorded
from holdfast.testing.world import FileWorld
from tests.faults.scenario import PROMPTS, finished


class Verdict(NamedTuple):
    lost: list[str]
    doubled: list[str]
    other: list[str]

    @property
    def clean(self) -> bool:
        return not (self.lost or self.doubled or self.other)


async def examine(journal: Journal, folder: Path, ids: list[SessionId]) -> Verdict:
    """Opens nothing and changes nothing: the journal is already open."""
    verdict = Verdict([], [], [])
    acks = _acks(folder)
    world = FileWorld(folder)
    done, told = world.done(), world.told()
    for id in ids:
        past = await journal.read(id)  # raises if there is a gap
        _acknowledged(id, past, acks, verdict)
        _once(id, past, verdict)
        _effects(id, past, done, verdict)
        _paid(id, past, told, verdict)
        await _converged(journal, id, past, verdict)
    _leases(acks, verdict)
    return verdict


def _acks(folder: Path) -> list[list[str]]:
    path = folder / "acks"
    return [line.split(" ") for line in path.read_text().splitlines()] if path.exists() else []


def _acknowledged(id: str, past: list[Recorded], acks: list[list[str]], verdict: Verdict) -> None:
    """P1, P8: what was acknowledged is there."""
    head = past[-1].seq if past else 0
    shown = max((int(seq) for kind, who, seq, *_ in acks if (kind, who) == ("seq", id)), default=0)
    if shown > head:
        verdict.lost.append(f"P1: {id} acknowledged up to {shown}, the store has {head}")
    stored = {r.event.input for r in past if isinstance(r.event, e.InputAccepted)}
    for kind, who, what, *_ in acks:
        if (kind, who) == ("input", id) and what not in stored:
            verdict.lost.append(f"P8: {id} input {what} was acknowledged and is not there")


def _once(id: str, past: list[Recorded], verdict: Verdict) -> None:
    """P2, P8, P9: nothing is recorded twice; a question is answered once."""
    named: Counter[str] = Counter()
    for r in past:
        match r.event:
            case e.InputAccepted(input=input):
                named[f"input {input}"] += 1
            case e.RunStarted(run=run):
                named[f"run {run}"] += 1
            case e.RunStopped(run=run):
                named[f"stop of run {run}"] += 1
            case e.DecisionAnswered(decision=decision):
                named[f"answer {decision}"] += 1
            case e.CallIntended(call=call, attempt=attempt):
                named[f"intent {call}/{attempt}"] += 1
            case e.CallFinished(call=call, attempt=attempt):
                named[f"result {call}/{attempt}"] += 1
    verdict.doubled.extend(f"P2: {id} has {n} times {name}" for name, n in named.items() if n > 1)


def _effects(
    id: str, past: list[Recorded], done: Counter[tuple[str, str, int]], verdict: Verdict
) -> None:
    """P4: at most once per decision, and never without intent; what is said to be done was done."""
    intents = {(r.event.call, r.event.attempt) for r in past if isinstance(r.event, e.CallIntended)}
    reruns = Counter(r.event.call for r in past if isinstance(r.event, e.RerunDecided))
    finished_ = {
        (r.event.call, r.event.attempt) for r in past if isinstance(r.event, e.CallFinished)
    }
    unsafe = {
        call.id
        for r in past
        if isinstance(r.event, e.ResponseFinished)
        for call in r.event.calls
        if call.effect is EffectClass.UNSAFE
    }
    verdict.other.extend(
        f"P4: {id} {call} is unsafe and was decided to run again, by nobody"
        for call in unsafe & set(reruns)
    )
    mine = {(call, n): count for (owner, call, n), count in done.items() if owner == id}
    for (call, attempt), count in mine.items():
        if count > 1:
            verdict.doubled.append(f"P4: {id} {call}/{attempt} happened {count} times")
        if (call, attempt) not in intents:
            verdict.other.append(f"P4: {id} {call}/{attempt} happened without intent")
    for call, times in Counter(call for call, _ in mine).items():
        if times > 1 + reruns[call]:
            verdict.doubled.append(f"P4: {id} {call} ran {times} times, {reruns[call]} decisions")
    for pair in finished_ - set(mine):
        verdict.lost.append(f"{id}: {pair[0]}/{pair[1]} is recorded as done and never happened")


def _paid(id: str, past: list[Recorded], told: set[str], verdict: Verdict) -> None:
    """What an event owes is done, however often the process died in between."""
    owed = {f"{id}/{r.seq}/0" for r in past if isinstance(r.event, e.DecisionAsked)}
    verdict.lost.extend(f"{errand}: owed and never done" for errand in owed - told)


async def _converged(
    journal: Journal, id: SessionId, past: list[Recorded], verdict: Verdict
) -> None:
    """P5, and the list and the copies agree with the events."""
    session = rebuild(id, (r.event for r in past))
    if not finished(session):
        verdict.other.append(f"P5: {id} did not come to an end: {session.state} {session.stop}")
    stored = {r.event.input for r in past if isinstance(r.event, e.InputAccepted)}
    verdict.lost.extend(f"P8: {id} has no input {p}" for p in PROMPTS if p not in stored)
    if await journal.owed(id):
        verdict.other.append(f"{id} still owes something")
    row = await journal.row(id)
    if row is None or row.summary.state != session.state or row.summary.run is not None:
        verdict.other.append(f"{id}: the list says {row and row.summary.state}")
    copy = await journal.snapshot(id)
    if copy is not None and copy.session != rebuild(id, (r.event for r in past[: copy.seq])):
        verdict.other.append(f"{id}: the copy at {copy.seq} is not what the events add up to")


def _leases(acks: list[list[str]], verdict: Verdict) -> None:
    """P3: no generation was ever given to two owners."""
    owners: dict[tuple[str, str], set[str]] = {}
    for kind, session, *rest in acks:
        if kind == "lease":
            owners.setdefault((session, rest[0]), set()).add(rest[1])
    for (session, generation), who in owners.items():
        if len(who) > 1:
            verdict.doubled.append(f"P3: {session} generation {generation} had {who}")
