"""How a run begins and how it ends: the events that every way into and out of a run shares.

A run begins with the truth about the workspace where it matters, with every open call closed, with
one message for the agent and with a plan for bringing its context back. All of that is written
down in one transaction, so a crash cannot change what was decided. Where the workspace itself is gone
nothing begins: what was wished for is written down instead (lost.py).
"""

from collections.abc import Sequence

from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.briefing import briefing, graceful, made_again
from holdfast.core.errors import Refused
from holdfast.core.evolve import fold
from holdfast.core.ids import LaunchNumber, RunNumber
from holdfast.core.offer import drift_of
from holdfast.core.plan import Plan, Strategy
from holdfast.core.resume import choose, close_calls, close_cancelled, held_back
from holdfast.core.session import (
    Cause,
    ErrorClass,
    Evidence,
    LaunchStatus,
    Phase,
    Session,
    Stop,
    StopReason,
    Wish,
)
from holdfast.core.truth import Drift, NoTruth, Truth

NO_GIT = Truth(head="", branch="")
CONTINUED = (Cause.CONTINUE, Cause.POLICY)


def begin(
    s: Session, facts: i.Facts, wish: Wish, *, cause: Cause, rebuilt: bool = False
) -> list[e.Event]:
    """A run, from the state `s` in which none is active. `rebuilt`: in a workspace that was made
    again for it."""
    looks = rebuilt or cut_off(s) or cause in CONTINUED
    seen = _look(s, facts, rebuilt=rebuilt) if looks else None
    moved = seen.drift if seen else Drift.SAME
    by = "policy" if cause is Cause.POLICY else "user"
    closed = close_calls(
        s,
        probes=facts.probes,
        rerun=frozenset(wish.rerun),
        by=by,
        can_rerun=facts.abilities.replay,
        still_asking=cause in CONTINUED,
    )
    plan = plan_for(s, facts, moved, fresh=wish.fresh)
    started = e.RunStarted(
        run=RunNumber(s.runs + 1),
        cause=cause,
        limits=wish.limits or s.limits,
        input=wish.input,
        text=wish.text,
        briefing=_told(s, facts, cause, moved, closed, wish.message),
        plan=plan,
        command=wish.command,
    )
    events = [*([seen] if seen else []), *closed, *_withdrawn(s, closed), started]
    return [*events, *_hand_over(fold(s, events), plan)]


def _told(
    s: Session,
    facts: i.Facts,
    cause: Cause,
    moved: Drift,
    closed: list[e.CallClosed | e.RerunDecided],
    message: str | None,
) -> str | None:
    truth = facts.truth if isinstance(facts.truth, Truth) else NO_GIT
    if cut_off(s):
        return briefing(s, truth=truth, drift=moved, closed=closed, message=message)
    place = made_again(s, truth) if moved is Drift.WORKSPACE_MISSING else None
    if cause in CONTINUED:
        by_policy = cause is Cause.POLICY
        return graceful(by_policy=by_policy, hint=s.hint, message=message, place=place)
    return place


def _withdrawn(
    s: Session, closed: Sequence[e.CallClosed | e.RerunDecided]
) -> list[e.DecisionDismissed]:
    """A question about a call that will not be run as it stands is no longer open."""
    gone = {c.call for c in closed if isinstance(c, e.CallClosed)}
    why = "the run went on without it"
    return [e.DecisionDismissed(decision=d.id, why=why) for d in s.decisions if d.call in gone]


def cut_off(s: Session) -> bool:
    """In the middle of something: its owner died, its agent did, or a call was left open."""
    last = s.last_stop
    left = [c for c in s.open_calls if c.call.id not in held_back(s)]
    if last is None or left:
        return bool(left)
    return last.reason is StopReason.INTERRUPTED or _agent_died(last)


def _agent_died(stop: Stop) -> bool:
    died = stop.evidence.exit_code is not None or stop.evidence.signal is not None
    return stop.reason is StopReason.ERROR and died and stop.phase is not Phase.IDLE


def _look(s: Session, facts: i.Facts, *, rebuilt: bool) -> e.WorkspaceSeen | None:
    """If git cannot answer, say so and stop: an error text is never the truth (SPEC D4)."""
    if not s.workspace.git:
        return None
    match facts.truth:
        case Truth() as now:
            moved = Drift.WORKSPACE_MISSING if rebuilt else drift_of(s, now)
            return e.WorkspaceSeen(truth=now, drift=moved or Drift.SAME)
        case NoTruth(error=error):
            raise Refused(
                f"Git could not say what state {s.workspace.path or 'the workspace'} is in: {error}",
                "Nothing was changed; put it right and resume again.",
            )
        case None:
            raise Refused("Nobody has looked at the workspace.", "This is a fault of ours.")


def plan_for(s: Session, facts: i.Facts, moved: Drift, *, fresh: bool) -> Plan:
    if s.launches == 0 and s.runs == 0:
        strategy = Strategy.REPLAY if facts.abilities.replay else Strategy.FRESH
        return Plan(strategy=strategy)
    last = s.last_stop
    return choose(
        facts.abilities,
        token=s.comes_back_to,
        fork=s.token is None,
        at=s.fork_at,
        there=facts.there,
        history=s.messages > 0,
        in_flight=cut_off(s),
        asked_fresh=fresh,
        corrupt_reasoning=last is not None and last.error is ErrorClass.CORRUPT_REASONING,
        drift=moved,
    )


def _hand_over(s: Session, plan: Plan) -> list[e.Event]:
    """To an agent that is there now, or to one that is started first."""
    if s.launch is not None and s.launch.status is LaunchStatus.READY:
        return [deliver(s)]
    if s.agent_alive:
        return []  # on its way up; it gets the prompt when it is ready
    return [e.LaunchRequested(launch=LaunchNumber(s.launches + 1), plan=plan)]


def launch(s: Session, facts: i.Facts, *, reattach: bool) -> e.LaunchRequested:
    plan = plan_for(s, facts, Drift.SAME, fresh=False)
    return e.LaunchRequested(launch=LaunchNumber(s.launches + 1), plan=plan, reattach=reattach)


def call_off(s: Session) -> list[e.Event]:
    """The launch is over for us. What may be left of it is killed (react.py) before the next one
    starts, so nothing more is handed to it meanwhile."""
    if s.launch is None or not s.launch.alive:
        return []
    gone = e.LaunchExited(launch=s.launch.number, message="called off", liveness="unknown")
    return exited(s, gone)


def exited(s: Session, gone: e.LaunchExited) -> list[e.Event]:
    """Nobody is left to take the answers to what that process asked."""
    why = "the agent that asked is gone"
    asked = [d.id for d in s.decisions if d.launch == gone.launch]
    return [gone, *(e.DecisionDismissed(decision=id, why=why) for id in asked)]


def deliver(s: Session) -> e.PromptDelivered:
    assert s.run is not None and s.launch is not None
    return e.PromptDelivered(run=s.run.number, launch=s.launch.number, inject=s.inject)


def stop_run(
    s: Session,
    facts: i.Facts,
    *,
    reason: StopReason,
    error: ErrorClass | None = None,
    message: str = "",
    evidence: Evidence = Evidence(),
    finished: i.RunFinished | None = None,
) -> list[e.Event]:
    """The one end of a run. What it leaves open stays open, to be closed by what the world says
    when the next one begins; but a cancelled or completed run leaves nothing to find out."""
    if s.run is None:
        return []
    over = reason in (StopReason.CANCELLED, StopReason.COMPLETED)
    calls = close_cancelled(s) if over else []
    closed: list[e.Event] = [*calls, *_withdrawn(s, calls)]
    stop = Stop(
        reason=reason,
        error=error,
        message=message,
        phase=s.phase,
        round=s.round,
        at=facts.now,
        resumes_at=finished.resumes_at if finished else None,
        percent=finished.percent if finished else None,
        evidence=evidence,
        fingerprint=fingerprint(error, message) if reason is StopReason.ERROR else None,
    )
    hint = finished.hint if finished else None
    return [*closed, e.RunStopped(run=s.run.number, stop=stop, hint=hint)]


def fingerprint(error: ErrorClass | None, message: str) -> str:
    """The same trouble, said with other numbers, is the same trouble (SPEC B7)."""
    words = "".join(" " if c.isdigit() else c for c in message.lower()).split()
    return f"{error or ErrorClass.UNKNOWN}: {' '.join(words)[:120]}"
