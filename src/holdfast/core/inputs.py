"""Everything that can enter: commands from people and policies, reports from adapters.

A report speaks in the journal's own words wherever it can (`Heard`): an adapter says what it saw,
and decide.py says whether that is news.
"""

from collections.abc import Mapping

from holdfast.core import events as e
from holdfast.core.adoption import Turn
from holdfast.core.budget import Limits
from holdfast.core.ids import (
    CallId,
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
from holdfast.core.plan import Abilities
from holdfast.core.resume import Probe
from holdfast.core.session import ErrorClass, Evidence, Handle, Hint, Origin, StopReason, Timer
from holdfast.core.truth import Lost, NoTruth, Truth, Workspace
from holdfast.core.value import Value


class Facts(Value):
    """What the world looked like when the input was decided. Gathered by the engine."""

    now: Millis
    abilities: Abilities = Abilities()
    truth: Truth | NoTruth | None = None
    there: bool | None = None  # the agent's own record of the conversation exists
    probes: Mapping[CallId, Probe] = {}
    lost: Lost | None = None  # the workspace is not there
    losses: tuple[str, ...] = ()  # what goes with the work tree, and is nowhere else


# --- commands -------------------------------------------------------------------------------


class OpenSession(Value):
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
    fork_of: Token | None = None


class ConfigureSession(Value):
    agent: str | None = None
    via: str | None = None
    model: str | None = None
    mode: str | None = None
    limits: Limits | None = None
    cap: Limits | None = None


class AdoptConversation(Value):
    """A session opened with what an agent said and did without us: both, or nothing."""

    opened: OpenSession
    token: Token | None  # None: the conversation stays the agent's (`opened.fork_of`)
    turns: tuple[Turn, ...]


class RenameSession(Value):
    title: str


class PinSession(Value):
    pinned: bool = True


class TagSession(Value):
    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()


class ArchiveSession(Value):
    archived: bool = True


class TrashSession(Value):
    """`force`: the user has seen what would be lost, and wants it so."""

    force: bool = False


class RestoreSession(Value):
    pass


class PurgeSession(Value):
    """For good. `kept`: only if it has been in the trash for that long (ms)."""

    kept: int = 0


class ForkSession(Value):
    """`round` None: as far as it has come."""

    child: SessionId
    round: RoundNumber | None = None


class CloseSession(Value):
    cancelled: bool = False


class ReopenSession(Value):
    pass


class SendPrompt(Value):
    input: InputId
    text: str
    limits: Limits | None = None


class EditInput(Value):
    input: InputId
    text: str


class WithdrawInput(Value):
    input: InputId


class ContinueRun(Value):
    """`command`: minted by whoever asks; said again, it has been done."""

    command: CommandId | None = None
    message: str | None = None
    limits: Limits | None = None
    rerun: tuple[CallId, ...] = ()  # unknown calls the user wants to be run again
    by_policy: bool = False
    fresh: bool = False


class CancelRun(Value):
    """`kill`: its agent is not asked, it is ended."""

    kill: bool = False


class Reattach(Value):
    """`kill`: an agent that lives is ended first, and its run with it."""

    kill: bool = False


class DismissStop(Value):
    pass


class MarkSeen(Value):
    by: str = ""


class AnswerDecision(Value):
    decision: DecisionId
    answer: str
    by: str = "user"
    always: str | None = None


class Rewind(Value):
    """`message_count` is what the conversation had at the end of that round, when the session was
    at `head` (rewinding.py)."""

    round: RoundNumber
    message_count: int
    head: Seq
    since: Seq = Seq(0)  # the first event after that round
    code: bool = True
    conversation: bool = True
    token: Token | None = None
    message_id: str | None = None


class SetTimer(Value):
    timer: Timer


class CancelTimer(Value):
    timer: TimerId


Command = (
    OpenSession
    | ConfigureSession
    | AdoptConversation
    | RenameSession
    | PinSession
    | TagSession
    | ArchiveSession
    | TrashSession
    | RestoreSession
    | PurgeSession
    | ForkSession
    | CloseSession
    | ReopenSession
    | SendPrompt
    | EditInput
    | WithdrawInput
    | ContinueRun
    | CancelRun
    | Reattach
    | DismissStop
    | MarkSeen
    | AnswerDecision
    | Rewind
    | SetTimer
    | CancelTimer
)


# --- reports --------------------------------------------------------------------------------

Reportable = (
    e.RoundStarted
    | e.TextSaved
    | e.ThinkingSaved
    | e.ResponseFinished
    | e.ResponseDropped
    | e.CallObserved
    | e.CallIntended
    | e.CallFinished
    | e.CallClosed
    | e.DelegationStarted
    | e.CoderNoted
    | e.DelegationFinished
    | e.ConversationRepaired
    | e.ConversationCompacted
    | e.TokenLearned
    | e.ContextInjected
    | e.ContextLost
    | e.DecisionAsked
    | e.DecisionDismissed
    | e.BudgetWarned
    | e.Notice
    | e.WorkspaceSeen
    | e.WorkspaceSnapshotted
    | e.WorkspaceLost
    | e.WorkspaceRebuilt
)


class Heard(Value):
    """An adapter tells what happened. `launch` None: not an agent's news."""

    events: tuple[Reportable, ...]
    launch: LaunchNumber | None = None
    n: int = 0  # from 1, its place in what this launch says; 0: delivered in order anyway


class AgentStarted(Value):
    launch: LaunchNumber
    handle: Handle = Handle()


class AgentReady(Value):
    launch: LaunchNumber
    token: Token | None = None
    abilities: Abilities | None = None
    forked: bool = False  # it is a fork of the conversation that was asked for


class AgentExited(Value):
    launch: LaunchNumber
    exit_code: int | None = None
    signal: int | None = None
    error: ErrorClass | None = None
    message: str = ""


class PromptTyped(Value):
    """Somebody sat at the agent's own terminal and wrote to it there: it has it already."""

    launch: LaunchNumber
    input: InputId
    text: str


class TokenRefused(Value):
    """The agent itself says that it does not know the token."""

    launch: LaunchNumber
    why: str


class RunFinished(Value):
    launch: LaunchNumber
    run: RunNumber
    reason: StopReason
    error: ErrorClass | None = None
    message: str = ""
    resumes_at: Millis | None = None
    percent: int | None = None
    evidence: Evidence = Evidence()
    hint: Hint | None = None


class OwnerLost(Value):
    """Whoever drove this session is gone. `alive`: does its agent still live? None: unknown."""

    alive: bool | None = False
    stopping: bool = False  # not a death: this daemon is going down in order


class TimerDue(Value):
    timer: TimerId


class StartFailed(Value):
    """The session cannot start at all: no workspace, no such agent."""

    message: str


Report = (
    Heard
    | AgentStarted
    | AgentReady
    | AgentExited
    | PromptTyped
    | TokenRefused
    | RunFinished
    | OwnerLost
    | TimerDue
    | StartFailed
)
Input = Command | Report
