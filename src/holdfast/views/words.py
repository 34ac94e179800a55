"""One line per stop, for people; what a reason means to a shell. The texts are SPEC K2's.

What time it is where the reader sits, nobody knows here: the page gets moments and writes them itself,
the command line brings its own `clock`."""

from collections.abc import Callable

from holdfast.core.budget import LABELS
from holdfast.core.events_life import BudgetWarned, ContextInjected, PolicyFired
from holdfast.core.events_work import Rewound, WorkspaceLost, WorkspaceRebuilt
from holdfast.core.offer import Offer, OfferKind
from holdfast.core.session import ErrorClass, Phase, StopReason
from holdfast.core.truth import Drift
from holdfast.core.value import Value
from holdfast.views.moments import age, clock, from_rfc3339
from holdfast.views.plain import ACTIONS, DOING, DURING, REASONS, TRIGGERS, TROUBLE
from holdfast.views.stops import StopOut

Clock = Callable[[int], str]  # a moment as the time of day

STOPPED: dict[StopReason, str] = {
    StopReason.COMPLETED: "Completed",
    StopReason.CANCELLED: "Agent stopped by user",
    StopReason.BUDGET_EXCEEDED: "Budget limit reached",
    StopReason.TOOL_LIMIT: "Tool call limit reached",
    StopReason.ROUND_LIMIT: "Round limit reached",
    StopReason.TIME_LIMIT: "Time limit reached",
    StopReason.RATE_LIMITED: "Rate limited",
    StopReason.ERROR: "Something went wrong",
    StopReason.INTERRUPTED: "Session was interrupted. Resume where you left off?",
}

# The icon and the tint of a banner. What is completed has none.
LOOKS: dict[StopReason, tuple[str, str]] = {
    StopReason.CANCELLED: ("pause", "gray"),
    StopReason.BUDGET_EXCEEDED: ("bolt", "amber"),
    StopReason.TOOL_LIMIT: ("wrench", "amber"),
    StopReason.ROUND_LIMIT: ("wrench", "amber"),
    StopReason.TIME_LIMIT: ("wrench", "amber"),
    StopReason.RATE_LIMITED: ("hourglass", "amber"),
    StopReason.ERROR: ("warning", "red"),
    StopReason.INTERRUPTED: ("pause", "gray"),
}
BUTTONS: dict[OfferKind, str | None] = {
    OfferKind.NONE: None,
    OfferKind.RESUME: "Resume",
    OfferKind.RESUME_ANYWAY: "Resume anyway",
}


class BannerOut(Value, omit_defaults=False):
    """All that the strip between messages and input shows (SPEC K2)."""

    reason: StopReason
    title: str  # where there is a `resumes_at`, its reader adds "until", in local time
    text: str  # what is known beyond the title; may be empty
    icon: str
    tint: str
    button: str | None
    dismiss: bool  # a second button
    at: str
    phase: str
    during: str  # the phase, for people
    round: int
    resumes_at: str | None


# What had become of the workspace, in the line that divides a resume from what came before (SPEC D5).
MOVED: dict[Drift, str] = {
    Drift.SAME: "",
    Drift.OURS_PARTIAL: "its own half-done changes were there",
    Drift.FOREIGN_EDITS: "somebody else had changed files",
    Drift.BRANCH_MOVED: "on another branch",
    Drift.HEAD_MOVED: "after other commits",
    Drift.WORKSPACE_MISSING: "the workspace was gone",
}

OK, FAILED, CANCELLED, LIMIT = 0, 1, 4, 75
EXIT_CODES: dict[StopReason, int] = {
    StopReason.COMPLETED: OK,
    StopReason.CANCELLED: CANCELLED,
    StopReason.BUDGET_EXCEEDED: LIMIT,
    StopReason.TOOL_LIMIT: LIMIT,
    StopReason.ROUND_LIMIT: LIMIT,
    StopReason.TIME_LIMIT: LIMIT,
    StopReason.RATE_LIMITED: LIMIT,
    StopReason.ERROR: FAILED,
    StopReason.INTERRUPTED: FAILED,
}


def headline(stop: StopOut) -> str:
    """Without moments."""
    text = STOPPED[StopReason(stop.reason)]
    spent = stop.reason == StopReason.BUDGET_EXCEEDED and stop.percent is not None
    return f"{text} ({stop.percent}% used)" if spent else text


def banner(stop: StopOut, clock: Clock = clock) -> str:
    """The one line between the last message and the input."""
    if stop.reason == StopReason.RATE_LIMITED and stop.resumes_at is not None:
        return f"{headline(stop)} until {clock(from_rfc3339(stop.resumes_at))}"
    return headline(stop)


def strip(stop: StopOut | None, offer: Offer | None = None) -> BannerOut | None:
    """None: there is nothing to say. Without a button: it is not offered, and `text` says why."""
    reason = StopReason(stop.reason) if stop else StopReason.COMPLETED
    if stop is None or reason not in LOOKS:
        return None
    interrupted = reason is StopReason.INTERRUPTED
    icon, tint = LOOKS[reason]
    return BannerOut(
        reason=reason,
        title=headline(stop),
        text=(offer.reason if offer else "") or beyond(stop),
        icon=icon,
        tint=tint,
        button=BUTTONS[offer.kind if offer else OfferKind.RESUME],
        dismiss=interrupted,
        at=stop.at,
        phase=stop.phase,
        during=DURING[Phase(stop.phase)],
        round=stop.round,
        resumes_at=stop.resumes_at,
    )


def workspace_lost(event: WorkspaceLost) -> str:
    if event.given_up:
        return f"The workspace could not be made again: {event.why}"
    after = f" It is made again from {event.source}." if event.wish else ""
    return f"The workspace is gone: {event.why}{after}"


def workspace_rebuilt(event: WorkspaceRebuilt) -> str:
    if event.snapshot:
        return f"The workspace was made again, with the work of snapshot {event.snapshot}"
    branch = event.workspace.branch or "its first commit"
    return f"Sandbox expired, starting fresh: the workspace was made again from {branch} alone"


def injected(event: ContextInjected) -> str:
    told = "The agent got our record of the conversation"
    return f"{told}: {event.why}" if event.why else told


def warned(event: BudgetWarned) -> str:
    return f"{event.percent}% of the {LABELS.get(event.limit, event.limit).lower()} is used"


def by_policy(event: PolicyFired) -> str:
    """What a runbook did by itself, and why."""
    why, what = TRIGGERS.get(event.trigger, event.trigger), ACTIONS.get(event.action, event.action)
    again = f", attempt {event.attempt}" if event.attempt > 1 else ""
    return f"{why}: {what}{again} (by the runbook)"


def went_back(event: Rewound) -> str:
    what = {(True, True): "files and conversation", (True, False): "files"}
    where = f"the end of round {event.round}" if event.round else "the beginning"
    return f"Rewound to {where}: {what.get((event.code, event.conversation), 'conversation')}"


def resumed(drift: Drift) -> str:
    return f"Resumed; {MOVED[drift]}" if MOVED[drift] else "Resumed"


def explained(stop: StopOut, clock: Clock = clock) -> str:
    """The banner's line and what we know beyond it."""
    said, more = banner(stop, clock), beyond(stop)
    return f"{said}{'' if said.endswith('?') else ':'} {more}" if more else said


def beyond(stop: StopOut) -> str:
    trouble = TROUBLE[ErrorClass(stop.error)] if stop.error is not None else ""
    message = stop.message.removeprefix(f"{STOPPED[StopReason(stop.reason)]}: ")
    known = [said for said in (trouble, message) if said]
    if stop.evidence.get("daemon_stopping"):
        known.append("The daemon was stopped.")
    return " ".join(known)


def where(stop: StopOut, now: int) -> str:
    """The second line of an interrupted session: round, phase, age."""
    parts = [f"round {stop.round}"] if stop.round else []
    return ", ".join([*parts, DURING[Phase(stop.phase)], age(from_rfc3339(stop.at), now)])


def doing(*, question: bool, phase: str | None, last: StopOut | None) -> str:
    """In a list: what it is at (`phase` None: nothing runs), or why it stopped."""
    if question:
        return "question open"
    if phase is not None:
        return DOING[Phase(phase)]
    return REASONS[StopReason(last.reason)] if last else "not started"


def money(dollars: float) -> str:
    return "" if dollars == 0 else f"${dollars:.2f}" if dollars >= 0.1 else f"${dollars:.4f}"  # noqa: PLR2004
