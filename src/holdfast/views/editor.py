"""A session as an editor sees it that speaks ACP (SPEC E16): each event becomes `session/update`s.

Rule 1: text is merged by offset, so what went out as it was streamed does not go out again when the
journal has it; the same fold replays a whole history on load.
Rule 2: an editor is told what there is a word for. What was resumed, repaired or lost comes as text.
"""

import msgspec

from holdfast.core import events as e
from holdfast.core.session import Call, Closing, Stop, StopReason
from holdfast.core.value import Value
from holdfast.views.moments import clock
from holdfast.views.stops import stop_out
from holdfast.views.timeline import title
from holdfast.views.words import Clock, explained

Update = dict[str, object]

KINDS = {
    "read": "read",
    "list": "read",
    "git_status": "read",
    "git_diff": "read",
    "search": "search",
    "write": "edit",
    "edit": "edit",
    "apply_patchset": "edit",
    "shell": "execute",
    "git_commit": "execute",
}
# How a turn ends that ended without a failure; the others are errors, which an editor shows.
ENDS = {
    StopReason.COMPLETED: "end_turn",
    StopReason.CANCELLED: "cancelled",
    StopReason.TOOL_LIMIT: "max_turn_requests",
    StopReason.ROUND_LIMIT: "max_turn_requests",
    StopReason.TIME_LIMIT: "max_turn_requests",
    StopReason.BUDGET_EXCEEDED: "max_turn_requests",
}
STATES = {"done": "completed", "in_progress": "in_progress"}


class PlanItem(Value):
    text: str = ""
    state: str = ""


class PlanArguments(Value):
    items: tuple[PlanItem, ...] = ()


class Editor:
    """Grows by `add`. `prompts`: whether the user's own words are news to the editor."""

    def __init__(self, *, prompts: bool) -> None:
        self._prompts = prompts
        self._shown: dict[tuple[int, int, bool], int] = {}
        self._calls: dict[str, Call] = {}

    def add(self, event: e.Event) -> list[Update]:
        match event:
            case e.TextSaved(round=round, part=part, offset=offset, text=text):
                return self.text(round, part, offset, text, thinking=False)
            case e.ThinkingSaved(round=round, part=part, offset=offset, text=text):
                return self.text(round, part, offset, text, thinking=True)
            case e.RoundStarted(round=number):
                self._shown = {k: n for k, n in self._shown.items() if k[0] != number}
                return []
            case e.RunStarted(text=text, briefing=briefing):
                said = [_said("user", text)] if text and self._prompts else []
                return said if text or not briefing else [*said, _said("thought", "(resumed)")]
            case e.Notice(text=text) | e.ContextLost(why=text):
                return [_said("thought", f"({text})")]
            case e.RunStopped(stop=stop):
                return [] if stop.reason in ENDS else [_said("thought", f"({words(stop)})")]
            case _:
                return self._work(event)

    def text(
        self, round: int, part: int, offset: int, text: str, *, thinking: bool
    ) -> list[Update]:
        place = (round, part, thinking)
        known = self._shown.get(place, 0)
        fresh = text[max(known - offset, 0) :]
        self._shown[place] = max(known, offset + len(text))
        return [_said("thought" if thinking else "agent", fresh)] if fresh else []

    def _work(self, event: e.Event) -> list[Update]:
        match event:
            case e.ResponseFinished(calls=calls):
                return [self._called(call, "pending") for call in calls]
            case e.CallObserved(call=call):
                return [self._called(call, "in_progress")]
            case e.CallIntended(call=id):
                plan = _plan(self._calls.get(id))
                return [*([plan] if plan else []), _moved(id, "in_progress")]
            case e.CallFinished(call=id, output=output, failed=failed):
                return [_moved(id, "failed" if failed else "completed", output)]
            case e.CallClosed(call=id, how=how, output=output):
                done = how is Closing.PROBED_DONE
                return [_moved(id, "completed" if done else "failed", output)]
            case _:
                return []

    def _called(self, call: Call, status: str) -> Update:
        self._calls[call.id] = call
        return {
            "sessionUpdate": "tool_call",
            "toolCallId": call.id,
            "title": title(call),
            "kind": KINDS.get(call.name, "other"),
            "status": status,
            "rawInput": _decoded(call.arguments),
            "locations": [{"path": path} for path in call.files],
        }


def words(stop: Stop, clock: Clock = clock) -> str:
    out = stop_out(stop)
    return explained(out, clock) if out else stop.message


def _said(who: str, text: str | None) -> Update:
    kind = {"user": "user_message_chunk", "thought": "agent_thought_chunk"}
    return {
        "sessionUpdate": kind.get(who, "agent_message_chunk"),
        "content": {"type": "text", "text": text or ""},
    }


def _moved(id: str, status: str, output: str | None = None) -> Update:
    moved: Update = {"sessionUpdate": "tool_call_update", "toolCallId": id, "status": status}
    if output is not None:
        content = {"type": "text", "text": output}
        moved["content"] = [{"type": "content", "content": content}]
    return moved


def _plan(call: Call | None) -> Update | None:
    if call is None or call.name != "update_plan":
        return None
    try:
        given = msgspec.json.decode(call.arguments, type=PlanArguments)
    except msgspec.DecodeError:
        return None
    entries = [
        {"content": i.text, "priority": "medium", "status": STATES.get(i.state, "pending")}
        for i in given.items
    ]
    return {"sessionUpdate": "plan", "entries": entries}


def _decoded(arguments: str) -> object:
    try:
        found: object = msgspec.json.decode(arguments)
    except msgspec.DecodeError:
        return {"arguments": arguments}
    return found
