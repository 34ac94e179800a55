"""What happened, in the past tense. The journal holds these and nothing else.

A field may be added with a default; nothing may be renamed or given another meaning. Where that
cannot be avoided, the version in journal/codec.py goes up and an upcaster reads the earlier one.
"""

from holdfast.core.events_life import (
    BudgetWarned,
    CancelRequested,
    ContextInjected,
    ContextLost,
    DecisionAnswered,
    DecisionAsked,
    DecisionDismissed,
    InputAccepted,
    InputEdited,
    InputWithdrawn,
    LaunchExited,
    LaunchReady,
    LaunchRequested,
    LaunchStarted,
    Notice,
    PolicyFired,
    PromptDelivered,
    Reattached,
    RunStarted,
    RunStopped,
    SessionArchived,
    SessionClosed,
    SessionConfigured,
    SessionFailed,
    SessionForked,
    SessionOpened,
    SessionPinned,
    SessionPurged,
    SessionRenamed,
    SessionReopened,
    SessionRestored,
    SessionTagged,
    SessionTrashed,
    StopDismissed,
    StopSeen,
    TimerCancelled,
    TimerFired,
    TimerSet,
    TokenDropped,
    TokenLearned,
)
from holdfast.core.events_work import (
    CallClosed,
    CallFinished,
    CallIntended,
    CallObserved,
    CoderNoted,
    ConversationCompacted,
    ConversationRepaired,
    DelegationFinished,
    DelegationStarted,
    RerunDecided,
    ResponseDropped,
    ResponseFinished,
    Rewound,
    RoundStarted,
    Signature,
    TextSaved,
    ThinkingSaved,
    WorkspaceLost,
    WorkspaceRebuilt,
    WorkspaceSeen,
    WorkspaceSnapshotted,
)
from holdfast.core.session import Closing

SessionEvent = (
    SessionOpened
    | SessionConfigured
    | SessionRenamed
    | SessionPinned
    | SessionTagged
    | SessionArchived
    | SessionTrashed
    | SessionRestored
    | SessionPurged
    | SessionForked
    | SessionFailed
    | SessionClosed
    | SessionReopened
)
InputEvent = InputAccepted | InputEdited | InputWithdrawn
RunEvent = (
    RunStarted
    | PromptDelivered
    | CancelRequested
    | RunStopped
    | StopSeen
    | StopDismissed
    | BudgetWarned
    | Notice
)
LaunchEvent = (
    LaunchRequested
    | LaunchStarted
    | LaunchReady
    | LaunchExited
    | Reattached
    | TokenLearned
    | TokenDropped
    | ContextInjected
    | ContextLost
)
DecisionEvent = (
    DecisionAsked
    | DecisionAnswered
    | DecisionDismissed
    | PolicyFired
    | TimerSet
    | TimerFired
    | TimerCancelled
)
RoundEvent = (
    RoundStarted
    | TextSaved
    | ThinkingSaved
    | ResponseFinished
    | ResponseDropped
    | CallObserved
    | CallIntended
    | CallFinished
    | CallClosed
    | RerunDecided
    | DelegationStarted
    | CoderNoted
    | DelegationFinished
)
ConversationEvent = ConversationRepaired | ConversationCompacted | Rewound
WorkspaceEvent = WorkspaceSeen | WorkspaceSnapshotted | WorkspaceLost | WorkspaceRebuilt

Event = (
    SessionEvent
    | InputEvent
    | RunEvent
    | LaunchEvent
    | DecisionEvent
    | RoundEvent
    | ConversationEvent
    | WorkspaceEvent
)

__all__ = [
    "BudgetWarned",
    "CallClosed",
    "CallFinished",
    "CallIntended",
    "CallObserved",
    "CancelRequested",
    "Closing",
    "CoderNoted",
    "ContextInjected",
    "ContextLost",
    "ConversationCompacted",
    "ConversationEvent",
    "ConversationRepaired",
    "DecisionAnswered",
    "DecisionAsked",
    "DecisionDismissed",
    "DecisionEvent",
    "DelegationFinished",
    "DelegationStarted",
    "Event",
    "InputAccepted",
    "InputEdited",
    "InputEvent",
    "InputWithdrawn",
    "LaunchEvent",
    "LaunchExited",
    "LaunchReady",
    "LaunchRequested",
    "LaunchStarted",
    "Notice",
    "PolicyFired",
    "PromptDelivered",
    "Reattached",
    "RerunDecided",
    "ResponseDropped",
    "ResponseFinished",
    "Rewound",
    "RoundEvent",
    "RoundStarted",
    "RunEvent",
    "RunStarted",
    "RunStopped",
    "SessionArchived",
    "SessionClosed",
    "SessionConfigured",
    "SessionEvent",
    "SessionFailed",
    "SessionForked",
    "SessionOpened",
    "SessionPinned",
    "SessionPurged",
    "SessionRenamed",
    "SessionReopened",
    "SessionRestored",
    "SessionTagged",
    "SessionTrashed",
    "Signature",
    "StopDismissed",
    "StopSeen",
    "TextSaved",
    "ThinkingSaved",
    "TimerCancelled",
    "TimerFired",
    "TimerSet",
    "TokenDropped",
    "TokenLearned",
    "WorkspaceEvent",
    "WorkspaceLost",
    "WorkspaceRebuilt",
    "WorkspaceSeen",
    "WorkspaceSnapshotted",
]
