"""What stopped, what came back and how well, from the events alone."""

# spec: L1

from holdfast.core import events as e
from holdfast.core.budget import Limits, Usage
from holdfast.core.plan import Plan, Strategy
from holdfast.core.session import (
    Call,
    Cause,
    CoderState,
    EffectClass,
    Origin,
    Phase,
    Stop,
    StopReason,
)
from holdfast.core.truth import Drift
from holdfast.views.moments import DAY, from_rfc3339
from holdfast.views.stats import percentiles, stats
from holdfast.views.telemetry import Ledger

NOON = from_rfc3339("2026-11-15T12:00:00Z")
PLAN = Plan(strategy=Strategy.REPLAY, drift=Drift.OURS_PARTIAL)


def write(id, content, effect=EffectClass.PROBEABLE):
    return Call(
        id=id, name="write", arguments=f'{{"path": "a", "content": "{content}"}}', effect=effect
    )


def begin(run, cause=Cause.PROMPT, plan=None):
    return e.RunStarted(run=run, cause=cause, limits=Limits(), plan=plan)


def halt(run, reason=StopReason.INTERRUPTED, phase=Phase.EXECUTING_TOOLS, at=NOON):
    return e.RunStopped(run=run, stop=Stop(reason=reason, phase=phase, at=at))


def respond(*calls, **usage):
    return e.ResponseFinished(round=1, calls=calls, usage=Usage(**usage))


def done(id, **more):
    return e.CallFinished(call=id, **more)


def ledger(*events, at=NOON, session="s"):
    """An event may be given with its moment."""
    found = Ledger(session)
    for seq, item in enumerate(events, 1):
        when, event = item if isinstance(item, tuple) else (at, item)
        found.add(seq, when, event)
    return found


def test_a_stop_knows_its_phase_and_how_it_came_back():
    later = NOON + 90_000
    [stop] = ledger(
        begin(1), halt(1), (later, begin(2, Cause.CONTINUE, PLAN)), (later, respond())
    ).stops
    assert ("executing_tools", "interrupted") == (stop.phase, stop.reason)
    assert (later, "continue", "replay", "ours_partial", True) == (
        stop.resumed_at, stop.cause, stop.strategy, stop.drift, stop.success,
    )  # fmt: skip


def test_a_resume_that_got_nothing_done_failed():
    first, second = ledger(
        begin(1), halt(1), begin(2, Cause.CONTINUE, PLAN), halt(2, StopReason.ERROR)
    ).stops
    assert (False, None) == (first.success, second.success)


def test_what_is_not_known_yet_is_not_said():
    [stop] = ledger(begin(1), halt(1), begin(2, Cause.CONTINUE, PLAN)).stops
    assert stop.success is None and stop.resumed_at is not None


def test_a_prompt_after_a_completed_run_resumes_nothing():
    [stop] = ledger(begin(1), halt(1, StopReason.COMPLETED), begin(2), respond()).stops
    assert stop.resumed_at is None


def test_a_finished_change_that_is_asked_for_again_is_repeated_work():
    kept = respond(write("1", "x"), write("2", "y"), write("3", "z", EffectClass.PURE))
    again = write("9", "x")
    again = Call(id="9", name="write", arguments='{"content":"x","path":"a"}', effect=again.effect)
    [stop] = ledger(
        begin(1),
        kept,
        done("1"),
        done("2", failed=True),
        done("3"),
        halt(1),
        begin(2, Cause.CONTINUE, PLAN),
        respond(again, write("10", "y"), write("11", "z"), write("12", "other")),
    ).stops
    assert 1 == stop.repeated


def test_only_the_first_twenty_calls_are_compared():
    others = [write(f"o{n}", f"other {n}") for n in range(20)]
    [stop] = ledger(
        begin(1), respond(write("1", "x")), done("1"), halt(1),
        begin(2, Cause.CONTINUE, PLAN), respond(*others), respond(write("2", "x")),
    ).stops  # fmt: skip
    assert 0 == stop.repeated


def test_going_on_from_the_middle_gives_the_same():
    events = (
        begin(1),
        respond(write("1", "x")),
        done("1"),
        halt(1),
        begin(2, Cause.CONTINUE, PLAN),
    )
    whole = ledger(*events, respond(write("2", "x")))
    half = ledger(*events)
    half.add(6, NOON, respond(write("2", "x")))
    assert (whole.stops, whole.days, whole.seq) == (half.stops, half.days, half.seq)


def test_all_sessions_together():
    yesterday = NOON - DAY
    one = ledger(
        (yesterday, begin(1)),
        (yesterday, respond(cost_micros=2_000_000, input_tokens=10, output_tokens=5)),
        (yesterday, halt(1, at=yesterday)),
        (yesterday + 4000, begin(2, Cause.CONTINUE, PLAN)),
        (NOON, respond(cost_micros=500_000)),
        (NOON, halt(2, StopReason.COMPLETED, Phase.IDLE)),
        session="a",
    )
    long_ago = ledger((NOON - 40 * DAY, begin(1)), halt(1, at=NOON - 40 * DAY), session="b")
    found = stats([one, long_ago], now=NOON, days=7)

    assert 1 == found.sessions
    assert [("completed", 1), ("interrupted", 1)] == [(s.reason, s.count) for s in found.stops]
    assert (1, 1, 1, 1.0) == (
        found.resumes.stops, found.resumes.resumed, found.resumes.succeeded, found.resumes.success_rate,
    )  # fmt: skip
    assert 4.0 == found.time_to_resume.p50
    assert ({"replay": 1}, {"ours_partial": 1}) == (found.strategies, found.drifts)
    assert 7 == len(found.per_day)
    assert ("2026-11-15", 0.5, 1) == (
        found.per_day[-1].day,
        found.per_day[-1].cost,
        found.per_day[-1].stops,
    )
    assert (2.0, 10, 1) == (
        found.per_day[-2].cost, found.per_day[-2].input_tokens, found.per_day[-2].interrupted,
    )  # fmt: skip
    assert ["a"] == [s.session for s in found.interruptions]


def test_percentiles_are_values_that_occurred():
    assert percentiles([]) is None
    found = percentiles([n * 1000 for n in range(1, 101)])
    assert (50, 90, 99, 100) == (found.p50, found.p90, found.p99, found.most)
    assert 0 == percentiles([-5]).p50


def test_what_a_fork_came_with_is_its_parents():
    opened = e.SessionOpened(agent="builtin", origin=Origin(session="parent", seq=9))
    forked = halt(1, StopReason.CANCELLED)
    later = NOON + 5000
    found = ledger(
        opened,
        begin(1),
        respond(),
        forked,
        (later, begin(2, Cause.CONTINUE, PLAN)),
        (later, halt(2)),
    )
    assert [2] == [stop.run for stop in found.stops]
    assert 1 == found.days["2026-11-15"].runs


def test_what_was_adopted_happened_elsewhere():
    opened = e.SessionOpened(agent="claude")
    theirs = e.RunStarted(run=1, cause=Cause.PROMPT, limits=Limits(), input="adopted-1")
    found = ledger(opened, theirs, respond(), halt(1), (NOON + 5000, begin(2)))
    assert ([], 1) == (found.stops, found.days["2026-11-15"].runs)


def test_what_a_coder_and_a_summary_cost_is_spent_too():
    usage = Usage(input_tokens=5, output_tokens=1, cost_micros=7)
    noted = e.CoderNoted(call="c", state=CoderState(), usage=usage)
    compacted = e.ConversationCompacted(summary="s", kept_from=3, usage=usage)
    day = ledger(begin(1), respond(input_tokens=10), noted, compacted).days["2026-11-15"]
    assert (20, 2, 14) == (day.input_tokens, day.output_tokens, day.cost_micros)
