"""Events to items, once, for everybody who draws a conversation.

Rule 1: an event changes the items it stamps with its seq, and no others.
Rule 2: a fold may begin at any `begins`: what it makes of the rest is what a fold of everything makes
        of it. Where an event speaks of something from before the beginning, the fold is `incomplete`,
        and whoever reads goes back further. So the end of a long history costs what the end is long.
Rule 3: text is joined by its offset: a piece that comes twice is there once.
"""

from collections.abc import Callable
from typing import Any

from holdfast.core import events as e
from holdfast.core.session import Call
from holdfast.core.value import replace
from holdfast.views import drawn
from holdfast.views.items import (
    AssistantItem,
    CoderItem,
    CompactedItem,
    Item,
    PlanItem,
    QuestionItem,
    StopItem,
    ToolItem,
    ToolStatus,
    UserItem,
)
from holdfast.views.moments import rfc3339

PLACES = 1000  # items that one event can make, in their order
BETWEEN = "\n\n"  # two parts of one response
PLAN = "update_plan"


def begins(event: e.Event) -> bool:
    """Nothing that comes later adds to what is half said here."""
    match event:
        case e.RoundStarted(attempt=attempt):
            return attempt == 1
        case e.InputAccepted(queued=queued):
            return not queued
        case _:
            return isinstance(event, e.SessionOpened)


class Chat:
    """`start`: the seq before the first event that will be added; `run`: the run that is active or
    was last then, None if nobody knows."""

    def __init__(self, *, start: int = 0, run: int | None = 0) -> None:
        self.start, self.seq = start, start
        self.items: dict[str, Item] = {}
        self.changed: set[str] = set()  # by the events since somebody cleared it
        self._lost = False
        self._at, self._made = "", 0  # of the event in hand: when, and items it made
        self._run, self._run_at = run, start  # its number, and where it began
        self._stop: str | None = None  # the item of the last stop
        self._queued: dict[str, str] = {}
        self._calls: dict[str, str] = {}  # the item of a call
        self._early: dict[str, e.CallFinished] = {}  # results that overtook their calls
        self._round: dict[str, None] = {}  # items of the current round
        self._speaking: str | None = None  # the assistant's item that the next part belongs to
        self._homes: dict[tuple[str, int], str] = {}  # the item of a (field, part)
        self._said: dict[tuple[str, str], dict[int, str]] = {}  # parts of an (item, field)

    @property
    def incomplete(self) -> bool:
        """Something from before the beginning was spoken of."""
        return self.start > 0 and (self._lost or bool(self._early))

    def add(self, seq: int, at: int, event: e.Event) -> None:
        self.seq, self._at, self._made = seq, "", 0
        change = CHANGES.get(type(event))
        if change is not None:
            self._at = rfc3339(at)
            change(self, event)

    def ordered(self) -> list[Item]:
        return sorted(self.items.values(), key=lambda item: (item.place, item.id))

    def settled(self, before: int) -> bool:
        """Nothing that can still come changes an item with a place before that one."""
        return all(i.place >= before or self._is_settled(i) for i in self.items.values())

    def forget(self, keep: int) -> None:
        """Lets go of what is long settled; what is left can go on."""
        if len(self.items) <= 2 * keep:
            return
        oldest = self.ordered()[:-keep]
        gone = {i.id for i in oldest if self._is_settled(i) and i.id not in self._round}
        self.items = {id: i for id, i in self.items.items() if id not in gone}
        self._calls = {call: id for call, id in self._calls.items() if id not in gone}
        self.start = max(self.start, 1)

    def _is_settled(self, item: Item) -> bool:
        past = item.seq < self._run_at
        match item:
            case ToolItem(status=status):
                return status not in ("pending", "running", "unknown") or past
            case AssistantItem(streaming=streaming):
                return not streaming
            case QuestionItem(answer=answer, withdrawn=withdrawn):
                return answer is not None or withdrawn is not None
            case StopItem(dismissed=dismissed):
                return dismissed or past
            case CoderItem(finished=finished):
                return finished or past
            case PlanItem(run=run):
                return run != self._run
            case _:
                return True

    # --- what every change uses -------------------------------------------------------------------

    def place(self) -> drawn.Fields:
        """For an item that this event makes."""
        place = self.seq * PLACES + min(self._made, PLACES - 1)
        self._made += 1
        return {"id": str(place), "seq": self.seq, "place": place, "at": self._at}

    def put(self, item: Item) -> str:
        self.items[item.id] = item
        self.changed.add(item.id)
        return item.id

    def change(self, id: str | None, **fields: object) -> None:
        item = self.items.get(id) if id is not None else None
        if item is None:
            self._lost = True
            return
        self.put(replace(item, seq=self.seq, **fields))

    def notice(self, event: e.Event) -> None:
        self.put(drawn.notice(event, self.place()))

    # --- inputs and runs --------------------------------------------------------------------------

    def accepted(self, event: e.InputAccepted) -> None:
        if event.queued:
            self._queued[event.input] = event.text
        else:
            self.put(UserItem(text=event.text, input=event.input, **self.place()))

    def edited(self, event: e.InputEdited) -> None:
        self._queued[event.input] = event.text

    def withdrawn(self, event: e.InputWithdrawn) -> None:
        self._queued.pop(event.input, None)

    def run_started(self, event: e.RunStarted) -> None:
        self._run, self._run_at, self._stop = event.run, self.seq, None
        self._round, self._speaking = {}, None
        text = self._queued.pop(event.input, None) if event.input is not None else event.text
        if event.input is not None and text is None and event.text is None:
            self._lost = True  # it was queued before the beginning
        if text is not None:
            self.put(UserItem(text=text, input=event.input, **self.place()))
        if event.briefing is not None:
            self.put(drawn.divider(event, self.place()))

    def run_stopped(self, event: e.RunStopped) -> None:
        for id in self._round:
            match self.items[id]:
                case AssistantItem(streaming=True):
                    self.change(id, streaming=False)
                case ToolItem(status="running"):
                    self.change(id, status="unknown")
                case _:
                    pass
        self._run = event.run
        self._stop = self.put(drawn.stop(event, self.place()))

    def dismissed(self, _event: e.StopDismissed) -> None:
        self.change(self._stop, dismissed=True)

    # --- rounds -----------------------------------------------------------------------------------

    def round_started(self, event: e.RoundStarted) -> None:
        if event.attempt > 1 and self._round:
            return  # the same round, asked for again
        self._round, self._homes, self._said = {}, {}, {}
        self._speak(event.round)

    def _speak(self, round: int) -> str:
        fields = self.place()
        self._speaking = self.put(
            AssistantItem(round=round, text="", thinking="", streaming=True, model="", **fields)
        )
        self._round[self._speaking] = None
        return self._speaking

    def text(self, event: e.TextSaved | e.ThinkingSaved) -> None:
        """A part goes where its first piece went. After a call the assistant speaks anew."""
        field = "text" if isinstance(event, e.TextSaved) else "thinking"
        id = self._homes.get((field, event.part)) or self._speaking or self._speak(event.round)
        self._homes[field, event.part] = id
        said = self._said.setdefault((id, field), {})
        said[event.part] = said.get(event.part, "")[: event.offset] + event.text
        self.change(id, **{field: BETWEEN.join(said.values())})

    def response_finished(self, event: e.ResponseFinished) -> None:
        for id in list(self._round):
            if isinstance(self.items[id], AssistantItem):
                self.change(id, streaming=False, model=event.model)
        for call in event.calls:
            self.call(call, "pending")

    def response_dropped(self, _event: e.ResponseDropped) -> None:
        self._homes, self._said = {}, {}
        for id in self._round:
            if isinstance(self.items[id], AssistantItem):
                self.change(id, text="", thinking="")

    # --- calls ------------------------------------------------------------------------------------

    def call(self, call: Call, status: ToolStatus) -> None:
        if call.name == PLAN and self._planned(call):
            return
        self._speaking = None
        self._calls[call.id] = self.put(drawn.tool(call, status, self.place()))
        self._round[self._calls[call.id]] = None

    def _planned(self, call: Call) -> bool:
        plan = drawn.plan(call)
        if plan is None:
            return False
        if self._run is None:
            self._lost = True
        fields = self.place()
        fields["id"] = f"plan-{self._run}"
        self._calls[call.id] = self.put(PlanItem(run=self._run or 0, items=plan.items, **fields))
        return True

    def observed(self, event: e.CallObserved) -> None:
        self.call(event.call, "running")
        early = self._early.pop(event.call.id, None)
        if early is not None:
            self.finished(early)

    def _of_call(self, call: str, **fields: object) -> None:
        id = self._calls.get(call)
        if id is None or not isinstance(self.items.get(id), PlanItem):
            self.change(id, **fields)

    def intended(self, event: e.CallIntended) -> None:
        self._of_call(event.call, status="running")

    def finished(self, event: e.CallFinished) -> None:
        if event.call not in self._calls:
            self._early[event.call] = event
            return
        self._of_call(
            event.call,
            status="finished",
            failed=event.failed,
            output=drawn.ends(event.output),
            output_size=event.size or len(event.output),
            millis=event.millis,
            blob=event.blob,
            **({"files": event.files} if event.files else {}),
        )

    def closed(self, event: e.CallClosed) -> None:
        output, size = drawn.ends(event.output), len(event.output)
        self._of_call(event.call, status=drawn.CLOSED[event.how], output=output, output_size=size)

    def rerun(self, event: e.RerunDecided) -> None:
        self._of_call(event.call, status="pending")

    # --- the coder, questions ---------------------------------------------------------------------

    def delegated(self, event: e.DelegationStarted) -> None:
        self._calls[f"coder {event.call}"] = self.put(drawn.coder(event, self.place()))

    def coder(self, event: e.CoderNoted) -> None:
        state = {name: getattr(event.state, name) for name in event.state.__struct_fields__}
        self._of_coder(event.call, **state)

    def returned(self, event: e.DelegationFinished) -> None:
        self._of_coder(event.call, finished=True)

    def _of_coder(self, call: str, **fields: object) -> None:
        """One that has come back, or whose run is over, has nothing more to say."""
        id = self._calls.get(f"coder {call}")
        item = self.items.get(id) if id is not None else None
        if item is None or not self._is_settled(item):
            self.change(id, **fields)

    def rewound(self, event: e.Rewound) -> None:
        self.put(drawn.rewound(event, PLACES, self.place()))

    def asked(self, event: e.DecisionAsked) -> None:
        asked = event.decision
        about = self.items.get(self._calls.get(asked.call or "", ""))
        self._calls[f"question {asked.id}"] = self.put(drawn.question(asked, about, self.place()))

    def answered(self, event: e.DecisionAnswered) -> None:
        self.change(self._calls.get(f"question {event.decision}"), answer=event.answer)

    def taken_back(self, event: e.DecisionDismissed) -> None:
        self.change(self._calls.get(f"question {event.decision}"), withdrawn=event.why)

    def compacted(self, event: e.ConversationCompacted) -> None:
        self.put(CompactedItem(summary=event.summary, **self.place()))


CHANGES: dict[type, Callable[[Chat, Any], None]] = {
    e.InputAccepted: Chat.accepted,
    e.InputEdited: Chat.edited,
    e.InputWithdrawn: Chat.withdrawn,
    e.RunStarted: Chat.run_started,
    e.RunStopped: Chat.run_stopped,
    e.StopDismissed: Chat.dismissed,
    e.RoundStarted: Chat.round_started,
    e.TextSaved: Chat.text,
    e.ThinkingSaved: Chat.text,
    e.ResponseFinished: Chat.response_finished,
    e.ResponseDropped: Chat.response_dropped,
    e.CallObserved: Chat.observed,
    e.CallIntended: Chat.intended,
    e.CallFinished: Chat.finished,
    e.CallClosed: Chat.closed,
    e.RerunDecided: Chat.rerun,
    e.DelegationStarted: Chat.delegated,
    e.CoderNoted: Chat.coder,
    e.DelegationFinished: Chat.returned,
    e.Rewound: Chat.rewound,
    e.DecisionAsked: Chat.asked,
    e.DecisionAnswered: Chat.answered,
    e.DecisionDismissed: Chat.taken_back,
    e.ConversationCompacted: Chat.compacted,
    **dict.fromkeys(drawn.NOTICES, Chat.notice),
}
