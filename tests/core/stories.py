"""Given what happened, when this arrives, then these events follow: the words that stories use."""

from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.decide import decide
from holdfast.core.evolve import fold, rebuild
from holdfast.core.ids import (
    CallId,
    DecisionId,
    InputId,
    LaunchNumber,
    Millis,
    RoundNumber,
    RunNumber,
    SessionId,
    Token,
)
from holdfast.core.plan import Abilities
from holdfast.core.session import Call, Decision, EffectClass, Session, State, StopReason
from holdfast.core.truth import Truth, Workspace

ID = SessionId("0123456789ab")
NOW = Millis(1_800_000_000_000)
TRUTH = Truth(head="a" * 40, branch="main")
BUILTIN = Abilities(replay=True, needs_process=False)
FOREIGN = Abilities(native=True, inject=True)
ONE, TWO = LaunchNumber(1), LaunchNumber(2)
RUN1, RUN2 = RunNumber(1), RunNumber(2)
R1, R2 = RoundNumber(1), RoundNumber(2)
C1, C2, C3 = CallId("c1"), CallId("c2"), CallId("c3")
TOKEN = Token("their-id")
FIRST, SECOND = InputId("i1"), InputId("i2")
YES = DecisionId("d1")


class Story:
    """A session and everything that was written down about it."""

    def __init__(self, abilities: Abilities = BUILTIN) -> None:
        self.abilities = abilities
        self.past: list[e.Event] = []
        self.session = Session(id=ID)

    def facts(self, **changes) -> i.Facts:
        given = {"now": NOW, "abilities": self.abilities, "truth": TRUTH, "there": True}
        return i.Facts(**(given | changes))

    def when(self, given: i.Input, **facts) -> list[e.Event]:
        """What would follow; nothing is written down."""
        return decide(self.session, given, self.facts(**facts))

    def then(self, given: i.Input, **facts) -> list[e.Event]:
        """What follows, written down."""
        events = self.when(given, **facts)
        self.past += events
        self.session = fold(self.session, events)
        assert self.session == rebuild(ID, self.past)
        return events

    def tell(self, *inputs: i.Input) -> "Story":
        for given in inputs:
            self.then(given)
        return self

    def hear(self, *events: i.Reportable, launch: LaunchNumber = ONE) -> "Story":
        for event in events:
            self.then(i.Heard(launch=launch, events=(event,)))
        return self


def opened(abilities: Abilities = BUILTIN, *, git: bool = True) -> Story:
    place = Workspace(id="w", path="/w", branch="main", git=git)
    return Story(abilities).tell(i.OpenSession(agent="x", workspace=place))


def starting(abilities: Abilities = BUILTIN) -> Story:
    return opened(abilities).tell(i.SendPrompt(input=FIRST, text="do it"))


def running(abilities: Abilities = BUILTIN) -> Story:
    token = TOKEN if abilities.native else None
    return starting(abilities).tell(
        i.AgentStarted(launch=ONE), i.AgentReady(launch=ONE, token=token)
    )


def calling(effect: EffectClass = EffectClass.UNSAFE, abilities: Abilities = BUILTIN) -> Story:
    """A round that asked for one call, which has not begun."""
    call = Call(id=C1, name="shell", effect=effect)
    return running(abilities).hear(
        e.RoundStarted(round=R1),
        e.TextSaved(round=R1, text="I will."),
        e.ResponseFinished(round=R1, calls=(call,)),
    )


def cut_off(effect: EffectClass = EffectClass.UNSAFE) -> Story:
    """The owner died after a call had begun."""
    story = calling(effect).hear(e.CallIntended(call=C1))
    return story.tell(i.OwnerLost())


def stopped(reason: StopReason = StopReason.COMPLETED, abilities: Abilities = BUILTIN) -> Story:
    return running(abilities).tell(i.RunFinished(launch=ONE, run=RUN1, reason=reason))


def asking() -> Story:
    question = Decision(id=YES, kind="permission", text="Run it?", options=("yes", "no"), call=C1)
    return calling().hear(e.DecisionAsked(decision=question))


def failed() -> Story:
    return opened().tell(i.StartFailed(message="no such agent"))


def closed(*, cancelled: bool = False) -> Story:
    return stopped().tell(i.CloseSession(cancelled=cancelled))


IN = {
    State.CREATED: (opened,),
    State.STARTING: (starting, lambda: starting(FOREIGN)),
    State.RUNNING: (running, lambda: running(FOREIGN)),
    State.WAITING_FOR_INPUT: (stopped, lambda: stopped(abilities=FOREIGN)),
    State.COMPLETED: (closed,),
    State.FAILED: (failed,),
    State.CANCELLED: (lambda: closed(cancelled=True),),
}

EVERYTHING: tuple[i.Input, ...] = (
    i.SendPrompt(input=SECOND, text="more"),
    i.ContinueRun(),
    i.CancelRun(),
    i.Reattach(),
    i.CloseSession(),
    i.CloseSession(cancelled=True),
    i.ReopenSession(),
    i.AgentReady(launch=ONE),
    i.AgentExited(launch=ONE, exit_code=1),
    i.RunFinished(launch=ONE, run=RUN1, reason=StopReason.COMPLETED),
    i.OwnerLost(),
    i.StartFailed(message="no"),
)


def reach(start: State) -> set[State]:
    """The states that one input leads to."""
    found = set()
    for make in IN[start]:
        for given in EVERYTHING:
            story = make()
            assert story.session.state is start
            try:
                story.then(given)
            except Exception as refused:  # noqa: BLE001
                assert type(refused).__name__ == "Refused"
                continue
            found.add(story.session.state)
    return found
