"""What a report means. Never refused: it is news, or it changes nothing.

Out of date is what an earlier launch says, what concerns a run that is over, and what was said
before. So a stream that comes twice, late or in another order adds up to the same session.
"""

from typing import assert_never

from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.begin import call_off, deliver, exited, stop_run
from holdfast.core.errors import Refused
from holdfast.core.evolve import fold
from holdfast.core.ids import LaunchNumber, RunNumber, TimerId
from holdfast.core.lost import begin_or_wish, follow_up
from holdfast.core.news import news
from holdfast.core.offer import drift_of
from holdfast.core.plan import Strategy
from holdfast.core.resume import choose, close_calls, may_continue_by_itself, not_back
from holdfast.core.session import (
    Cause,
    ErrorClass,
    Evidence,
    LaunchStatus,
    Session,
    State,
    StopReason,
    Wish,
)
from holdfast.core.truth import Drift


def report(s: Session, given: i.Report, facts: i.Facts) -> list[e.Event]:
    if not s.opened:
        return []
    match given:
        case i.Heard(launch=launch, events=events):
            if launch is not None:
                return _heard(s, events) if _current(s, launch) else []
            heard = _heard(s, events)
            return [*heard, *follow_up(s, heard, facts)]
        case i.AgentStarted(launch=launch, handle=handle):
            waiting = _current(s, launch) and _status(s) is LaunchStatus.REQUESTED
            return [e.LaunchStarted(launch=launch, handle=handle)] if waiting else []
        case i.AgentReady():
            return _ready(s, given) if _current(s, given.launch) else []
        case i.AgentExited():
            return _exited(s, given, facts) if _current(s, given.launch) else []
        case i.PromptTyped():
            return _typed(s, given) if _current(s, given.launch) else []
        case i.TokenRefused():
            return _refused(s, given, facts) if _current(s, given.launch) else []
        case i.RunFinished():
            return _finished(s, given, facts)
        case i.OwnerLost():
            return _owner_lost(s, given, facts)
        case i.TimerDue(timer=timer):
            return _timer(s, timer, facts)
        case i.StartFailed(message=message):
            return _failed(s, message, facts)
        case _:
            assert_never(given)


def _current(s: Session, launch: LaunchNumber) -> bool:
    return s.launch is not None and s.launch.number == launch and s.launch.alive


def _status(s: Session) -> LaunchStatus:
    return s.launch.status if s.launch else LaunchStatus.EXITED


def _heard(s: Session, events: tuple[i.Reportable, ...]) -> list[e.Event]:
    heard: list[e.Event] = news(s, events[0]) if events else []
    done = 0
    for event in events[1:]:  # what follows is judged by what went before
        s = fold(s, heard[done:])
        done = len(heard)
        heard += news(s, event)
    return heard


def _ready(s: Session, given: i.AgentReady) -> list[e.Event]:
    if _status(s) is LaunchStatus.READY or s.launch is None:
        return []
    events: list[e.Event] = [e.LaunchReady(launch=given.launch, abilities=given.abilities)]
    plan = s.launch.plan
    if why := not_back(plan.token, given.token, fork=plan.fork, forked=given.forked):
        events.append(e.ContextLost(launch=given.launch, why=why))
    if given.token is not None and given.token != s.token:
        events.append(e.TokenLearned(launch=given.launch, token=given.token))
    s = fold(s, events)
    if s.run is not None and not s.run.delivered:
        return [*events, deliver(s)]
    if s.state is State.STARTING:
        events.append(e.Reattached(launch=given.launch))
    return events


def _exited(s: Session, given: i.AgentExited, facts: i.Facts) -> list[e.Event]:
    out = e.LaunchExited(
        launch=given.launch,
        exit_code=given.exit_code,
        signal=given.signal,
        error=given.error,
        message=given.message,
    )
    gone = exited(s, out)
    if s.run is None:
        return gone
    evidence = Evidence(exit_code=given.exit_code, signal=given.signal)
    if s.run.cancelling:
        return [*gone, *stop_run(s, facts, reason=StopReason.CANCELLED, evidence=evidence)]
    if _once_more(s, given):
        return [*gone, e.Notice(kind="relaunch", text=ONCE_MORE), _relaunch(s)]
    message = given.message or _how(given)
    error = given.error or ErrorClass.UNKNOWN
    reason = StopReason.RATE_LIMITED if error is ErrorClass.RATE_LIMITED else StopReason.ERROR
    return [
        *gone,
        *stop_run(s, facts, reason=reason, error=error, message=message, evidence=evidence),
    ]


ONCE_MORE = "The agent ended before it got the prompt: it is started once more."
LAUNCHES = 2  # for one prompt


def _once_more(s: Session, given: i.AgentExited) -> bool:
    """A process that died by itself before it had the prompt did nothing yet (SPEC G7). One that we
    ended, or that said what is wrong, would do the same again."""
    died = given.exit_code is not None or given.signal is not None
    waiting = s.run is not None and not s.run.delivered and s.run.launches < LAUNCHES
    return waiting and died and given.error is None


def _relaunch(s: Session) -> e.LaunchRequested:
    assert s.launch is not None
    return e.LaunchRequested(launch=LaunchNumber(s.launches + 1), plan=s.launch.plan)


def _how(given: i.AgentExited) -> str:
    if given.signal is not None:
        return f"The agent was killed by signal {given.signal}."
    if given.exit_code is not None:
        return f"The agent exited with code {given.exit_code}."
    return "The agent is gone."


def _refused(s: Session, given: i.TokenRefused, facts: i.Facts) -> list[e.Event]:
    """Not a failure: the session waits, says so, and its next prompt carries the history. A
    prompt that is already waiting is not lost: the agent is started afresh once (SPEC E5, E6)."""
    why = f"The agent does not know its earlier conversation: {given.why}"
    events: list[e.Event] = [
        e.TokenDropped(launch=given.launch, why=given.why),
        e.ContextLost(launch=given.launch, why=given.why),
        *exited(s, e.LaunchExited(launch=given.launch, message=why, liveness="unknown")),  # killed
    ]
    afresh = s.launch is not None and s.launch.plan.strategy in (Strategy.INJECT, Strategy.FRESH)
    if s.run is not None and (s.run.delivered or afresh):
        said = f"{why}. When it goes on, it starts afresh and gets the history."
        return [
            *events,
            *stop_run(s, facts, reason=StopReason.ERROR, error=ErrorClass.UNKNOWN, message=said),
        ]
    events.append(e.Notice(kind="token_refused", text=why))
    if s.run is None:
        return events
    plan = choose(facts.abilities, token=None, there=False, history=s.messages > 0)
    return [*events, e.LaunchRequested(launch=LaunchNumber(s.launches + 1), plan=plan)]


def _typed(s: Session, given: i.PromptTyped) -> list[e.Event]:
    """The agent is at work on it, whatever we think of it: a run like any other. While one is active, the
    words are a part of that."""
    if s.run is not None or s.terminal or s.launch is None:
        return []
    run = RunNumber(s.runs + 1)
    return [
        e.InputAccepted(input=given.input, text=given.text),
        *close_calls(s, probes={}, can_rerun=False, still_asking=False),
        e.RunStarted(
            run=run, cause=Cause.PROMPT, limits=s.limits, input=given.input, text=given.text
        ),
        e.PromptDelivered(run=run, launch=given.launch, inject=s.inject, typed=True),
    ]


def _failed(s: Session, message: str, facts: i.Facts) -> list[e.Event]:
    """Its run ends like every other: with the one event that says why (SPEC A5). Only a session that
    never got anywhere has failed (SPEC A3); any other waits, with a run that went wrong."""
    if s.terminal:
        return []
    stopped = [*call_off(s), *stop_run(s, facts, reason=StopReason.ERROR, message=message)]
    if s.round == 0 and s.last_stop is None and s.state in (State.CREATED, State.STARTING):
        return [*stopped, e.SessionFailed(message=message)]
    return stopped if s.run else [*stopped, e.Notice(kind="start_failed", text=message)]


def _finished(s: Session, given: i.RunFinished, facts: i.Facts) -> list[e.Event]:
    if s.run is None or s.run.number != given.run or not _current(s, given.launch):
        return []
    killed = s.run.cancelling and given.reason in (StopReason.ERROR, StopReason.INTERRUPTED)
    reason = StopReason.CANCELLED if killed else given.reason
    events = stop_run(
        s,
        facts,
        reason=reason,
        error=None if killed else given.error,
        message=given.message,
        evidence=given.evidence,
        finished=given,
    )
    if not facts.abilities.needs_process:
        events.append(e.LaunchExited(launch=given.launch))
    after = fold(s, events)
    if reason is StopReason.COMPLETED and after.queue:
        events += _by_itself(after, facts, Wish(cause=Cause.QUEUE, input=after.queue[0].id))
    return events


def _by_itself(s: Session, facts: i.Facts, wish: Wish) -> list[e.Event]:
    """Nobody is there to be refused: why it did not begin is said to whoever looks."""
    try:
        return begin_or_wish(s, facts, wish)
    except Refused as refused:
        return [e.Notice(kind="not_continued", text=f"Not continued by itself: {refused}")]


def _owner_lost(s: Session, given: i.OwnerLost, facts: i.Facts) -> list[e.Event]:
    """The agent may live on without us; then nothing is interrupted. Unknown is not dead, but
    nobody is listening either: the run is interrupted and the agent must be gone before the next."""
    if given.alive or not (s.agent_alive or s.run):
        return []
    liveness = "unknown" if given.alive is None else "dead"
    gone: list[e.Event] = (
        exited(s, e.LaunchExited(launch=s.launch.number, liveness=liveness))
        if s.launch is not None and s.launch.alive
        else []
    )
    if s.run is None:
        return gone
    reason = StopReason.CANCELLED if s.run.cancelling else StopReason.INTERRUPTED
    evidence = Evidence(daemon_stopping=given.stopping, liveness=liveness)
    return [*gone, *stop_run(s, facts, reason=reason, evidence=evidence)]


def _timer(s: Session, timer: TimerId, facts: i.Facts) -> list[e.Event]:
    due = next((t for t in s.timers if t.id == timer), None)
    if due is None:
        return []
    fired: list[e.Event] = [e.TimerFired(timer=timer)]
    if due.what != "continue" or s.taken:
        return fired
    drift = drift_of(s, facts.truth) if facts.truth is not None else Drift.SAME
    why = may_continue_by_itself(fold(s, fired), drift=drift, now=facts.now)
    if s.runs == 0:
        why = "nothing has run yet"
    if why is None:
        return [*fired, *_by_itself(fold(s, fired), facts, Wish(cause=Cause.POLICY))]
    return [*fired, e.Notice(kind="not_continued", text=f"Not continued by itself: {why}")]
