"""Events of the work in a run: rounds, calls, conversation, workspace. See events.py."""

from holdfast.core.budget import Usage
from holdfast.core.ids import BlobId, CallId, RoundNumber, Seq, Token
from holdfast.core.session import Call, Closing, CoderState, Wish
from holdfast.core.truth import Drift, Truth, Workspace
from holdfast.core.value import Value

# --- rounds ---------------------------------------------------------------------------------


class RoundStarted(Value):
    round: RoundNumber
    attempt: int = 1


class TextSaved(Value):
    """The next piece of a response. `offset` makes merging pieces idempotent."""

    round: RoundNumber
    text: str
    offset: int = 0
    part: int = 0


class ThinkingSaved(Value):
    round: RoundNumber
    text: str
    offset: int = 0
    part: int = 0


class Signature(Value):
    """What a provider wants back, byte for byte, with one part of a response."""

    part: int
    value: str
    redacted: bool = False


class ResponseFinished(Value):
    """The text is in the pieces before it; calls are not begun by being asked for."""

    round: RoundNumber
    calls: tuple[Call, ...] = ()
    usage: Usage = Usage()
    model: str = ""
    provider: str = ""
    signatures: tuple[Signature, ...] = ()
    message_id: str | None = None


class ResponseDropped(Value):
    """A half-streamed response that is asked for again: it is no part of the conversation."""

    round: RoundNumber
    why: str = ""


class CallObserved(Value):
    """A foreign agent's call. It ran it by itself: no intent of ours came first."""

    round: RoundNumber
    call: Call


class CallIntended(Value):
    """Durable before the call begins."""

    call: CallId
    attempt: int = 1


class CallFinished(Value):
    call: CallId
    output: str = ""
    failed: bool = False
    attempt: int = 1
    blob: BlobId | None = None  # the whole of an output too large for a row
    size: int = 0
    millis: int = 0
    files: tuple[str, ...] = ()  # what it changed


class CallClosed(Value):
    """A call settled without a result of its own. `output` is what the model is told."""

    call: CallId
    how: Closing
    output: str


class RerunDecided(Value):
    """Written before a call is begun again."""

    call: CallId
    by: str  # rule, user or policy


class DelegationStarted(Value):
    call: CallId
    task: str = ""


class CoderNoted(Value):
    """The coder's memory, and what it has spent since it was last noted."""

    call: CallId
    state: CoderState
    usage: Usage = Usage()
    tool_calls: int = 0


class DelegationFinished(Value):
    call: CallId


# --- the conversation -----------------------------------------------------------------------


class ConversationRepaired(Value):
    repairs: tuple[str, ...]


class ConversationCompacted(Value):
    """What came before message `kept_from` is now `summary`."""

    summary: str
    kept_from: int
    tail: Seq = Seq(0)  # the first event that what is kept was made of; 0: not known
    usage: Usage = Usage()


class Rewound(Value):
    """Back to the end of a round; 0 is the beginning."""

    round: RoundNumber
    code: bool
    conversation: bool
    message_count: int = 0
    since: Seq = Seq(0)  # the first event that was cut away; 0: nobody wrote it down
    token: Token | None = None  # the conversation with the agent in which that round ended
    message_id: str | None = None  # with this message of it (SPEC E18)


# --- the workspace --------------------------------------------------------------------------


class WorkspaceSeen(Value):
    truth: Truth
    drift: Drift = Drift.SAME


class WorkspaceSnapshotted(Value):
    number: int
    commit: str
    left_out: tuple[str, ...] = ()


class WorkspaceLost(Value):
    """It is not there. With a wish, it is made again, and then the wish is carried out."""

    why: str
    source: str = ""  # what it is made again from
    wish: Wish | None = None
    given_up: bool = False  # it could not be made again: no wish is left


class WorkspaceRebuilt(Value):
    workspace: Workspace
    snapshot: int = 0
