"""Events of a session's life: opened, prompted, run, launched, asked. See events.py."""

from holdfast.core.budget import Limits
from holdfast.core.ids import (
    CommandId,
    DecisionId,
    InputId,
    LaunchNumber,
    Millis,
    RoundNumber,
    RunNumber,
    Seq,
    SessionId,
    TimerId,
    Token,
)
from holdfast.core.plan import Abilities, Plan
from holdfast.core.session import Cause, Decision, ErrorClass, Handle, Hint, Origin, Stop, Timer
from holdfast.core.truth import Workspace
from holdfast.core.value import Value

# --- the session itself ---------------------------------------------------------------------


class SessionOpened(Value):
    agent: str
    via: str = ""
    model: str = ""
    mode: str = "edits"
    title: str = ""
    runtime: str = "local"
    workspace: Workspace = Workspace()
    limits: Limits = Limits()
    cap: Limits | None = None
    origin: Origin | None = None
    task: str | None = None
    fork_of: Token | None = None  # the agent's conversation that it takes in, and leaves as it is


class SessionConfigured(Value):
    """None: as before."""

    agent: str | None = None
    via: str | None = None
    model: str | None = None
    mode: str | None = None
    limits: Limits | None = None
    cap: Limits | None = None


class SessionRenamed(Value):
    title: str


class SessionPinned(Value):
    pinned: bool


class SessionTagged(Value):
    tags: tuple[str, ...]


class SessionArchived(Value):
    archived: bool


class SessionTrashed(Value):
    """Its work tree goes too, if we made it. `lost`: what the user saw, and let go with it."""

    at: Millis = Millis(0)
    removes: bool = False
    lost: tuple[str, ...] = ()


class SessionRestored(Value):
    pass


class SessionPurged(Value):
    """The last that is written of it: then it is removed, for good."""


class SessionForked(Value):
    """Written before the child is made. `round` None: all that there was at `at`."""

    child: SessionId
    at: Seq
    round: RoundNumber | None = None


class SessionFailed(Value):
    """It cannot start at all."""

    message: str


class SessionClosed(Value):
    cancelled: bool = False


class SessionReopened(Value):
    pass


# --- what the user typed --------------------------------------------------------------------


class InputAccepted(Value):
    input: InputId
    text: str
    queued: bool = False


class InputEdited(Value):
    input: InputId
    text: str


class InputWithdrawn(Value):
    input: InputId


# --- runs -----------------------------------------------------------------------------------


class RunStarted(Value):
    run: RunNumber
    cause: Cause
    limits: Limits
    input: InputId | None = None
    text: str | None = None  # the user's words, unless `input` already carries them
    briefing: str | None = None
    plan: Plan | None = None
    command: CommandId | None = None  # that asked for it


class PromptDelivered(Value):
    """Written before it is handed over: handed over at most once."""

    run: RunNumber
    launch: LaunchNumber
    inject: bool = False  # with the history in front of it
    typed: bool = False  # by somebody at the agent's own terminal: nothing is left to hand over


class CancelRequested(Value):
    run: RunNumber


class RunStopped(Value):
    """The one terminal event of a run."""

    run: RunNumber
    stop: Stop
    hint: Hint | None = None


class StopSeen(Value):
    by: str = ""


class StopDismissed(Value):
    pass


class BudgetWarned(Value):
    run: RunNumber
    limit: str
    percent: int


class Notice(Value):
    """Advisory: ends nothing, shows no banner."""

    kind: str
    text: str
    until: Millis | None = None


# --- launches -------------------------------------------------------------------------------


class LaunchRequested(Value):
    launch: LaunchNumber
    plan: Plan
    reattach: bool = False


class LaunchStarted(Value):
    """The process exists; here is how to find it again."""

    launch: LaunchNumber
    handle: Handle


class LaunchReady(Value):
    launch: LaunchNumber
    abilities: Abilities | None = None  # what the agent said it can do


class LaunchExited(Value):
    launch: LaunchNumber
    exit_code: int | None = None
    signal: int | None = None
    error: ErrorClass | None = None
    message: str = ""
    liveness: str = "dead"  # or "unknown": it could not be looked for


class Reattached(Value):
    launch: LaunchNumber


class TokenLearned(Value):
    launch: LaunchNumber
    token: Token


class TokenDropped(Value):
    launch: LaunchNumber
    why: str


class ContextInjected(Value):
    """Our record of the conversation was handed to the agent."""

    launch: LaunchNumber
    characters: int
    why: str = ""  # nothing better was possible


class ContextLost(Value):
    launch: LaunchNumber
    why: str


# --- questions, policies, timers --------------------------------------------------------------


class DecisionAsked(Value):
    decision: Decision


class DecisionAnswered(Value):
    decision: DecisionId
    answer: str
    by: str = "user"
    always: str | None = None  # the program that need not be asked about again


class DecisionDismissed(Value):
    decision: DecisionId
    why: str


class PolicyFired(Value):
    trigger: str
    action: str
    position: int = 0
    attempt: int = 1


class TimerSet(Value):
    timer: Timer


class TimerFired(Value):
    timer: TimerId


class TimerCancelled(Value):
    timer: TimerId
