"""The words of the core in words for people. The page has these tables too: web/wire_types.py writes
them out, so that a thing is called the same wherever it is read."""

from holdfast.core.plan import Strategy
from holdfast.core.session import EffectClass, ErrorClass, Phase, StopReason
from holdfast.core.truth import Drift

# In a column of a list: one or two words.
REASONS: dict[StopReason, str] = {
    StopReason.COMPLETED: "completed",
    StopReason.CANCELLED: "stopped",
    StopReason.BUDGET_EXCEEDED: "budget limit",
    StopReason.TOOL_LIMIT: "tool limit",
    StopReason.ROUND_LIMIT: "round limit",
    StopReason.TIME_LIMIT: "time limit",
    StopReason.RATE_LIMITED: "rate limited",
    StopReason.ERROR: "error",
    StopReason.INTERRUPTED: "interrupted",
}

# What it is at; and what it was at when it stopped.
DOING: dict[Phase, str] = {
    Phase.IDLE: "waiting",
    Phase.STARTING: "starting",
    Phase.STREAMING_LLM: "answering",
    Phase.EXECUTING_TOOLS: "using tools",
    Phase.DELEGATING_CODER: "coder at work",
}
DURING: dict[Phase, str] = {
    Phase.IDLE: "between steps",
    Phase.STARTING: "while starting",
    Phase.STREAMING_LLM: "while answering",
    Phase.EXECUTING_TOOLS: "while using tools",
    Phase.DELEGATING_CODER: "while a coder worked",
}

# How the agent gets to know again what was said and done.
CONTEXT: dict[Strategy, str] = {
    Strategy.REPLAY: "the whole conversation, from our record",
    Strategy.ACP_RESUME: "the agent's own memory",
    Strategy.ACP_LOAD: "the agent's own memory, read back to us",
    Strategy.NATIVE: "the agent's own memory",
    Strategy.INJECT: "our record, put before the next message",
    Strategy.FRESH: "none: the agent starts afresh",
}

# What has become of the workspace since.
WORKSPACE: dict[Drift, str] = {
    Drift.SAME: "as it was left",
    Drift.OURS_PARTIAL: "with half-done changes of the agent's own",
    Drift.FOREIGN_EDITS: "with changes by somebody else",
    Drift.BRANCH_MOVED: "on another branch",
    Drift.HEAD_MOVED: "with other commits",
    Drift.WORKSPACE_MISSING: "gone",
}

# What kind of trouble, where the reason alone does not say it.
TROUBLE: dict[ErrorClass, str] = {
    ErrorClass.AUTH: "The key or login was refused.",
    ErrorClass.QUOTA: "The account has no credit left.",
    ErrorClass.RATE_LIMITED: "",
    ErrorClass.OVERLOADED: "The provider is overloaded.",
    ErrorClass.NETWORK: "The provider could not be reached.",
    ErrorClass.CONTEXT_OVERFLOW: "The conversation is too long for the model.",
    ErrorClass.BAD_REQUEST: "The provider refused the request.",
    ErrorClass.REFUSAL: "The model declined.",
    ErrorClass.CORRUPT_REASONING: "The agent's stored reasoning is damaged.",
    ErrorClass.UNKNOWN: "",
}

# What may be done about a call whose result nobody saw.
EFFECTS: dict[EffectClass, str] = {
    EffectClass.PURE: "Only looks: can be done again",
    EffectClass.IDEMPOTENT: "Can be done again without harm",
    EffectClass.PROBEABLE: "Can be checked afterwards",
    EffectClass.UNSAFE: "Never done again by itself",
}
# What a session may do without asking.
MODES: dict[str, str] = {
    "read-only": "Read only",
    "ask": "Asks before every change",
    "edits": "Edits freely",
    "full": "Full access",
}

# What a runbook does by itself, and when (SPEC F4).
TRIGGERS = {
    "on_idle": "Quiet for a while",
    "on_dead": "The agent was gone",
    "on_error": "After an error",
    "on_prompt": "A question came up",
}
ACTIONS = {
    "nudge": "asked to go on",
    "done": "taken as done",
    "fail": "given up",
    "resume": "resumed",
    "escalate": "you are asked",
    "gate": "checked by a command",
}

TABLES: dict[str, dict[str, str]] = {
    name: {str(key): text for key, text in table.items()}
    for name, table in (
        ("REASONS", REASONS),
        ("DURING", DURING),
        ("CONTEXT", CONTEXT),
        ("WORKSPACE", WORKSPACE),
        ("EFFECTS", EFFECTS),
        ("MODES", MODES),
    )
}
