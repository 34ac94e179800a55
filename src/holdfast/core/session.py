"""A session as its journal describes it: a value, made by folding events (see evolve.py).

It holds what deciding needs and stays small however long the journal grows: the current run,
round and launch, never the conversation (conversation.py folds that, when it is wanted).
"""

from enum import StrEnum

import msgspec

from holdfast.core.budget import Limits, Spent, Usage
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
from holdfast.core.plan import Abilities, Plan, Strategy
from holdfast.core.truth import Truth, Workspace
from holdfast.core.value import Value


class State(StrEnum):
    """Spelled like this on every wire (SPEC A2)."""

    CREATED = "CREATED"
    STARTING = "STARTING"
    RUNNING = "RUNNING"
    WAITING_FOR_INPUT = "WAITING_FOR_INPUT"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"


TERMINAL = frozenset({State.COMPLETED, State.FAILED, State.CANCELLED})


class Phase(StrEnum):
    """A tag that makes the resume message exact, not a state machine (SPEC C1)."""

    IDLE = "idle"
    STARTING = "starting"
    STREAMING_LLM = "streaming_llm"
    EXECUTING_TOOLS = "executing_tools"
    DELEGATING_CODER = "delegating_coder"


class StopReason(StrEnum):
    COMPLETED = "completed"
    CANCELLED = "cancelled"
    BUDGET_EXCEEDED = "budget_exceeded"
    TOOL_LIMIT = "tool_limit"
    ROUND_LIMIT = "round_limit"
    TIME_LIMIT = "time_limit"
    ERROR = "error"
    RATE_LIMITED = "rate_limited"
    INTERRUPTED = "interrupted"


class ErrorClass(StrEnum):
    AUTH = "auth"
    QUOTA = "quota"
    RATE_LIMITED = "rate_limited"
    OVERLOADED = "overloaded"
    NETWORK = "network"
    CONTEXT_OVERFLOW = "context_overflow"
    BAD_REQUEST = "bad_request"
    REFUSAL = "refusal"
    CORRUPT_REASONING = "corrupt_reasoning"
    UNKNOWN = "unknown"


class EffectClass(StrEnum):
    """What may be done about a call that began and whose result nobody saw (SPEC B3, D7)."""

    PURE = "pure"
    IDEMPOTENT = "idempotent"
    PROBEABLE = "probeable"
    UNSAFE = "unsafe"


class Cause(StrEnum):
    """Why a run began."""

    PROMPT = "prompt"
    QUEUE = "queue"
    CONTINUE = "continue"
    POLICY = "policy"


class Evidence(Value):
    """What we saw, so that nobody has to believe the reason. Unknown stays unknown."""

    exit_code: int | None = None
    signal: int | None = None
    status: int | None = None  # of the provider's answer
    rule: str | None = None  # the pattern that matched
    last_event: str | None = None
    daemon_stopping: bool = False
    liveness: str | None = None  # "dead" or "unknown", where a process was looked for
    detail: str | None = None


class Stop(Value):
    """Why and when a run ended (SPEC A4)."""

    reason: StopReason
    error: ErrorClass | None = msgspec.field(default=None, name="class")
    message: str = ""
    phase: Phase = Phase.IDLE
    round: RoundNumber = RoundNumber(0)
    at: Millis = Millis(0)
    resumes_at: Millis | None = None
    percent: int | None = None
    evidence: Evidence = Evidence()
    fingerprint: str | None = None


class Call(Value):
    """A tool call as the model asked for it. Arguments are its own JSON text, valid or not."""

    id: CallId
    name: str
    arguments: str = "{}"
    effect: EffectClass = EffectClass.UNSAFE
    part: int = 0  # its place among the response's parts
    files: tuple[str, ...] = ()  # workspace files it would change, where that can be told


class CallStatus(StrEnum):
    PENDING = "pending"  # asked for, not begun
    INTENDED = "intended"  # begun; without a result this means: unknown
    FINISHED = "finished"
    CLOSED = "closed"  # settled without a result of its own: unknown, cancelled, probed ...


class Closing(StrEnum):
    UNKNOWN = "unknown"
    CANCELLED = "cancelled"
    NOT_STARTED = "not_started"
    PROBED_DONE = "probed_done"
    DENIED = "denied"


class OpenCall(Value):
    """A call of the current round."""

    call: Call
    status: CallStatus = CallStatus.PENDING
    attempt: int = 0  # how often it was begun
    result: str | None = None  # the first part of it, for the briefing
    failed: bool = False
    how: Closing | None = None  # it was closed without a result of its own
    decided: int = 0  # recorded decisions to run it again


class Run(Value):
    number: RunNumber
    cause: Cause
    limits: Limits
    spent: Spent = Spent()
    input: InputId | None = None
    text: str | None = None  # the user's words
    briefing: str | None = None  # our own, marked as synthetic
    delivered: bool = False
    cancelling: bool = False
    launches: int = 0  # of an agent, for this run


class Wish(Value):
    """What is to begin: a run, or (without a cause) only its agent, brought back idle. Kept in the
    session while the workspace is made again."""

    cause: Cause | None
    input: InputId | None = None
    text: str | None = None
    message: str | None = None
    limits: Limits | None = None
    rerun: tuple[CallId, ...] = ()
    fresh: bool = False
    command: CommandId | None = None
    before: State = State.WAITING_FOR_INPUT  # where it is if nothing comes of it


class LaunchStatus(StrEnum):
    REQUESTED = "requested"
    STARTED = "started"
    READY = "ready"
    EXITED = "exited"


class Handle(Value):
    """What is needed to find an agent's process again (SPEC G8)."""

    runtime: str = "local"
    name: str = ""  # container id, tmux session, ...
    host: str = ""
    pid: int = 0
    boot: str = ""  # with pid and start, an identity; a bare pid is none
    start: str = ""
    address: str = ""


class Launch(Value):
    """One life of an agent's process."""

    number: LaunchNumber
    status: LaunchStatus = LaunchStatus.REQUESTED
    plan: Plan = Plan(strategy=Strategy.FRESH)
    handle: Handle | None = None
    reattach: bool = False  # brought back idle: no prompt, no run
    abilities: Abilities | None = None  # as the agent said when it last came up

    @property
    def alive(self) -> bool:
        return self.status is not LaunchStatus.EXITED


class Queued(Value):
    id: InputId
    text: str


PERMISSION, QUESTION = "permission", "question"


class Decision(Value):
    """A question to the human, bound to what it is about."""

    id: DecisionId
    kind: str  # permission: may this call begin; question: the answer is the call's result; escalation
    text: str
    options: tuple[str, ...] = ()
    call: CallId | None = None
    program: str = ""  # what "always" would cover
    launch: LaunchNumber | None = None  # only the process that asked can use the answer


GRANTS = frozenset({"yes", "allow", "always"})  # answers that let a call begin


class Timer(Value):
    id: TimerId
    due: Millis
    what: str


class CoderState(Value):
    """The coder's working memory (SPEC B8)."""

    plan: str = ""
    open_tasks: tuple[str, ...] = ()
    files_touched: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()


class Response(Value):
    """What was saved of the response that is being streamed."""

    text: str = ""
    thinking: str = ""
    saved: tuple[int, ...] = ()  # characters saved, by part


class Hint(Value):
    """Written when a run halts; put into the message of the next continue (SPEC B5)."""

    used: str = ""
    files: tuple[str, ...] = ()
    summary: str = ""


class Origin(Value):
    """Where a forked session came from."""

    session: SessionId
    seq: Seq


class Session(Value):
    id: SessionId
    seq: Seq = Seq(0)  # events folded so far

    state: State = State.CREATED
    opened: bool = False
    agent: str = ""
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
    pinned: bool = False
    tags: tuple[str, ...] = ()
    archived: bool = False
    trashed: bool = False
    trashed_at: Millis = Millis(0)  # 0: nobody wrote it down
    purged: bool = False  # it is being removed for good

    run: Run | None = None
    runs: int = 0
    continued: tuple[CommandId, ...] = ()  # the last commands that began one
    stop: Stop | None = None  # the one the banner shows
    worked_at: Millis | None = None  # the end of the last run that did something
    last_stop: Stop | None = None
    stop_seen: bool = True
    same_error: int = 0  # runs in a row that ended with last_stop's fingerprint and no progress
    progressed: bool = False  # the current run did durable work
    hint: Hint | None = None
    totals: Usage = Usage()
    context: int = 0  # tokens of the last request and its response

    phase: Phase = Phase.IDLE
    round: RoundNumber = RoundNumber(0)
    responses: int = 0  # finished ones
    response: Response = Response()
    calls: tuple[OpenCall, ...] = ()
    early: tuple[CallId, ...] = ()  # results that overtook their calls
    coder: CoderState | None = None
    messages: int = 0
    base_messages: int = 0  # of them, those from before the current or last run
    compacted_at: Seq = Seq(0)
    tail: Seq = Seq(0)  # the first event that the conversation as it stands is made of; 0: all are

    queue: tuple[Queued, ...] = ()
    decisions: tuple[Decision, ...] = ()
    granted: tuple[CallId, ...] = ()  # calls of this round that the user said yes to
    always: tuple[str, ...] = ()  # programs the user allowed for this session
    timers: tuple[Timer, ...] = ()

    launch: Launch | None = None
    launches: int = 0
    token: Token | None = None
    fork_of: Token | None = None  # a conversation that stays as it is, and that ours begins with
    fork_at: str | None = None  # up to this message of it; None: with all of it
    past_tokens: tuple[Token, ...] = ()  # newest first
    message_id: str | None = None
    inject: bool = False  # the next prompt carries the history
    context_lost: str | None = None

    truth: Truth | None = None
    touched: tuple[str, ...] = ()  # files that finished calls changed since then
    snapshot: int = 0
    changed: RoundNumber = RoundNumber(0)  # the last one that began to change files, or may have
    workspace_lost: bool = False
    wish: Wish | None = None  # begins when the workspace is back

    @property
    def comes_back_to(self) -> Token | None:
        """Its own conversation with the agent, or the one that this will be a fork of."""
        return self.token or self.fork_of

    @property
    def own_tree(self) -> bool:
        """It works in a tree that was made for it, not in a folder of the user's."""
        return self.workspace.git and self.workspace.id == self.id

    @property
    def terminal(self) -> bool:
        return self.state in TERMINAL

    @property
    def taken(self) -> bool:
        """It runs, or is about to."""
        return self.run is not None or self.wish is not None

    @property
    def agent_alive(self) -> bool:
        return self.launch is not None and self.launch.alive

    @property
    def questions(self) -> frozenset[CallId]:
        """Calls whose result will be the user's answer."""
        return frozenset(d.call for d in self.decisions if d.kind == QUESTION and d.call)

    @property
    def open_calls(self) -> tuple[OpenCall, ...]:
        return tuple(c for c in self.calls if c.status in (CallStatus.PENDING, CallStatus.INTENDED))
