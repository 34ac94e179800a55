"""An event as the item that it makes, and in which words. What becomes of it later is in chat.py."""

from collections.abc import Callable
from typing import Any, TypedDict

import msgspec

from holdfast.core import events as e
from holdfast.core.session import Call, Decision
from holdfast.views import asking
from holdfast.views.items import (
    CoderItem,
    DividerItem,
    Item,
    Level,
    NoticeItem,
    PlanLine,
    QuestionItem,
    RewoundItem,
    StopItem,
    ToolItem,
    ToolStatus,
)
from holdfast.views.moments import rfc3339
from holdfast.views.stops import stop_out
from holdfast.views.timeline import title
from holdfast.views.words import (
    beyond,
    by_policy,
    headline,
    injected,
    resumed,
    warned,
    went_back,
    workspace_lost,
    workspace_rebuilt,
)

SHOWN = 4096  # characters of an input or output that an item carries

CLOSED: dict[e.Closing, ToolStatus] = {
    e.Closing.UNKNOWN: "unknown",
    e.Closing.CANCELLED: "cancelled",
    e.Closing.NOT_STARTED: "cancelled",
    e.Closing.PROBED_DONE: "finished",
    e.Closing.DENIED: "denied",
}


class Fields(TypedDict):
    """What all items have."""

    id: str
    seq: int
    place: int
    at: str


class Planned(msgspec.Struct):
    items: tuple[PlanLine, ...]


def plan(call: Call) -> Planned | None:
    """None: it cannot be read as one."""
    try:
        return msgspec.json.decode(call.arguments, type=Planned)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return None


def divider(event: e.RunStarted, fields: Fields) -> DividerItem:
    chosen = event.plan
    return DividerItem(
        text=resumed(chosen.drift) if chosen else "Resumed",
        briefing=event.briefing or "",
        run=event.run,
        strategy=chosen.strategy if chosen else None,
        drift=chosen.drift if chosen else None,
        **fields,
    )


def stop(event: e.RunStopped, fields: Fields) -> StopItem:
    found = stop_out(event.stop)
    assert found is not None
    return StopItem(
        reason=event.stop.reason,
        error=found.error,
        title=headline(found),
        text=beyond(found),
        phase=event.stop.phase,
        round=found.round,
        resumes_at=found.resumes_at,
        percent=found.percent,
        dismissed=False,
        **fields,
    )


def tool(call: Call, status: ToolStatus, fields: Fields) -> ToolItem:
    return ToolItem(
        call=call.id,
        name=call.name,
        summary=title(call),
        input=call.arguments[:SHOWN],
        input_size=len(call.arguments),
        output="",
        output_size=0,
        status=status,
        failed=False,
        effect=call.effect,
        millis=0,
        files=call.files,
        blob=None,
        **fields,
    )


def question(asked: Decision, about: Item | None, fields: Fields) -> QuestionItem:
    call = about if isinstance(about, ToolItem) and asking.names(asked, about.name) else None
    return QuestionItem(
        decision=asked.id,
        question_kind=asked.kind,
        title=asking.may_it(call.name) if call else "",
        text=asked.text,
        note=asking.besides(asked) if call else "",
        tool=call.name if call else "",
        input=call.input if call else "",
        options=asked.options,
        call=asked.call,
        answer=None,
        withdrawn=None,
        **fields,
    )


def rewound(event: e.Rewound, places: int, fields: Fields) -> RewoundItem:
    said = event.since * places if event.conversation and event.since else None
    return RewoundItem(text=went_back(event), round=event.round, since=said, **fields)


def coder(event: e.DelegationStarted, fields: Fields) -> CoderItem:
    return CoderItem(
        call=event.call,
        task=event.task,
        plan="",
        open_tasks=(),
        files_touched=(),
        assumptions=(),
        errors=(),
        finished=False,
        **fields,
    )


def ends(text: str) -> str:
    half = SHOWN // 2
    return text if len(text) <= SHOWN else f"{text[:half]}\n...\n{text[-half:]}"


# --- notices --------------------------------------------------------------------------------------

TROUBLE = frozenset({"start_failed", "not_continued", "snapshot", "token_refused"})


NOTICES: dict[type, Callable[[Any], tuple[Level, str]]] = {
    e.Notice: lambda ev: ("warning" if ev.kind in TROUBLE else "info", ev.text),
    e.BudgetWarned: lambda ev: ("warning", warned(ev)),
    e.ContextLost: lambda ev: ("warning", f"The agent lost its context: {ev.why}"),
    e.ContextInjected: lambda ev: ("info", injected(ev)),
    e.ConversationRepaired: lambda ev: (
        "info",
        f"The conversation was put in order for the model: {'; '.join(ev.repairs)}",
    ),
    e.PolicyFired: lambda ev: ("info", by_policy(ev)),
    e.SessionFailed: lambda ev: ("error", ev.message),
    e.WorkspaceLost: lambda ev: ("warning", workspace_lost(ev)),
    e.WorkspaceRebuilt: lambda ev: ("info", workspace_rebuilt(ev)),
}


def notice(event: e.Event, fields: Fields) -> NoticeItem:
    level, text = NOTICES[type(event)](event)
    until = event.until if isinstance(event, e.Notice) else None
    when = rfc3339(until) if until is not None else None
    return NoticeItem(level=level, text=text, until=when, **fields)
