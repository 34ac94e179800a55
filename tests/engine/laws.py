"""What must hold after every step, whatever went wrong before (PRODUCT.md, P1 to P9)."""

from collections import Counter

from holdfast.core import events as e
from holdfast.core.evolve import fold, rebuild
from holdfast.core.ids import SessionId
from holdfast.core.session import Session, State
from holdfast.core.value import replace
from holdfast.journal.sqlite_store import SqliteStore
from holdfast.views.sessions import summary
from tests.engine.processes import Kind, World


def replay(store: SqliteStore, id: SessionId) -> tuple[list[e.Event], Session]:
    """The session that the journal adds up to; also from its newest copy and what came after it."""
    events = [r.event for r in store.read(id, 0, None)]  # a gap is an error
    session = rebuild(id, events)
    copy = store.snapshot(id)
    if copy is not None:
        assert copy.session == rebuild(id, events[: copy.seq])
        assert fold(copy.session, events[copy.seq :]) == session
    return events, session


def the_list_agrees(store: SqliteStore, session: Session) -> None:
    row = store.row(session.id)
    assert row is not None
    assert row.head == session.seq
    expected = summary(session)
    moving = ("phase", "round", "cost_micros", "input_tokens", "output_tokens")
    if session.run is not None:  # what moves with every event of a run follows with its end
        expected = replace(expected, **{name: getattr(row.summary, name) for name in moving})
    assert expected == row.summary


def one_run_at_a_time(events: list[e.Event]) -> None:
    """P3, A5: runs are numbered, follow one another, and each has one end."""
    active, runs, launches = 0, 0, 0
    for event in events:
        match event:
            case e.RunStarted(run=run):
                assert (active, run) == (0, runs + 1)
                active = runs = run
            case e.RunStopped(run=run):
                assert active == run
                active = 0
            case e.LaunchRequested(launch=launch):
                assert launch == launches + 1
                launches = launch


def a_stopped_session_says_why(session: Session) -> None:
    if session.run is None and session.runs:
        assert session.last_stop is not None
    if session.state in (State.WAITING_FOR_INPUT, State.CREATED) or session.terminal:
        assert session.run is None
    if session.state is State.RUNNING:
        assert session.run is not None


def inputs_are_there_once(events: list[e.Event], session: Session, acknowledged: set[str]) -> None:
    """P8: accepted once; then queued, withdrawn or given to one run."""
    accepted = Counter(x.input for x in events if isinstance(x, e.InputAccepted))
    started = Counter(x.input for x in events if isinstance(x, e.RunStarted) and x.input)
    withdrawn = Counter(x.input for x in events if isinstance(x, e.InputWithdrawn))
    queued = Counter(q.id for q in session.queue)
    assert acknowledged <= set(accepted)
    assert accepted == started + withdrawn + queued
    assert set(accepted.values()) <= {1}
    delivered = Counter(x.run for x in events if isinstance(x, e.PromptDelivered))
    assert set(delivered.values()) <= {1}


def questions_survive(events: list[e.Event], session: Session) -> None:
    """P9: pending is what was asked and neither answered nor dismissed; answered at most once."""
    pending: list[str] = []
    answered: Counter[str] = Counter()
    for event in events:
        match event:
            case e.DecisionAsked(decision=decision):
                assert decision.id not in pending
                assert not answered[decision.id]
                pending.append(decision.id)
            case e.DecisionAnswered(decision=id):
                answered[id] += 1
                pending.remove(id)
            case e.DecisionDismissed(decision=id):
                pending.remove(id)
    assert set(answered.values()) <= {1}
    assert pending == [d.id for d in session.decisions]


def effects_happen_once_per_decision(events: list[e.Event], world: World) -> None:
    """P4: begun at most once, plus once per recorded decision to begin it again."""
    intents = Counter((x.call, x.attempt) for x in events if isinstance(x, e.CallIntended))
    reruns = Counter(x.call for x in events if isinstance(x, e.RerunDecided))
    assert set(intents.values()) <= {1}
    for call, times in Counter(call for call, _ in intents).items():
        assert times <= 1 + reruns[call]
    for begun, times in world.effects.items():
        assert times == 1
        assert begun in intents


def one_process_at_a_time(world: World) -> None:
    assert len(world.living()) <= 1
    launches = [p.launch for p in world.processes if not p.stray]
    assert launches == sorted(set(launches))


def belief_equals_world(session: Session, world: World) -> None:
    """When all is quiet a session believes its agent alive exactly when that process lives."""
    believed = [session.launch.number] if session.launch and session.launch.alive else []
    assert believed == [p.launch for p in world.living()]
    if session.run is not None:
        assert [session.run.number] == [p.runs[-1] for p in world.living()]
    if world.kind is Kind.BUILTIN:
        assert bool(believed) == (session.run is not None)
