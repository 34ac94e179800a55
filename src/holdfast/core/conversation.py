"""Events to messages: what the journal says was said.

Rule 1: adding an event costs what is new. Nothing is copied per event; the messages of a response
        are made once, when they are asked for, and kept until something changes them.
Rule 2: words get in when their run starts, not when they are typed: what is queued is not said.
Rule 3: a result stands right after its call, whenever it came. One that overtook its call waits.
Rule 4: a response that was cut off stays for people to read. It is sent to a model as well, unless
        the next briefing quotes it: then the briefing is what the model gets (SPEC D6).
Rule 5: compaction and rewind cut between turns: never between a call and its result.
Rule 6: after a compaction the events of its tail are enough: what they stand behind is the summary.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar

from holdfast.core import events as e
from holdfast.core.ids import CallId, InputId, RoundNumber, RunNumber, Seq
from holdfast.core.messages import AssistantMessage, Message, TextPart, UserMessage
from holdfast.core.turn import TEXT, THINKING, Settled, Turn

START = Seq(0)


class Conversation:
    """Grows by `add`. Whoever wants a value takes `messages()`, which are values."""

    def __init__(self, after: Seq = START) -> None:
        """`after`: the events come from behind this place on, where a compaction's tail begins."""
        self._at = int(after)  # the last event
        self._tail = int(after) + 1 if after else 0  # while its summary has not come yet
        self._turns: list[Turn | UserMessage] = []
        self._begins: list[int] = []  # the event that each turn began with
        self._accepted: dict[InputId, int] = {}  # where
        self._told: set[InputId] = set()  # a run has begun with it
        self._rewound_at = 0
        self._inputs: dict[InputId, str] = {}
        self._runs: dict[RunNumber, e.RunStarted] = {}
        self._rounds: dict[RoundNumber, Turn] = {}
        self._begun_rounds: set[RoundNumber] = set()  # in the current run
        self._owners: dict[CallId, Turn] = {}
        self._early: dict[CallId, Settled] = {}
        self._begun: dict[CallId, int] = {}

    def add(self, event: e.Event) -> None:
        self.extend((event,))

    def extend(self, events: Iterable[e.Event]) -> None:
        handlers = self._handlers
        for event in events:
            self._at += 1
            handle = handlers.get(type(event))
            if handle is not None:  # most kinds of events are not said to anyone
                handle(self, event)

    def messages(self) -> list[Message]:
        """All of them, for people: `kept_from` and `message_count` are places in this list."""
        messages: list[Message] = []
        for turn in self._turns:
            if isinstance(turn, UserMessage):
                messages.append(turn)
            else:
                messages += turn.messages()
        return messages

    def to_send(self) -> list[Message]:
        """Those that a model gets (rule 4)."""
        messages = self.messages()
        if not any(isinstance(m, AssistantMessage) and m.partial for m in messages):
            return messages
        after = [*messages[1:], None]
        return [
            m for m, following in zip(messages, after, strict=False) if not _quoted(m, following)
        ]

    def end_of(self, round: RoundNumber) -> int | None:
        """How many messages there are up to the end of that round; None: it is not among them."""
        place = 0
        for turn in self._turns if round else ():
            place += _size(turn)
            if isinstance(turn, Turn) and turn.round == round:
                return place
        return None if round else 0

    def cut_at(self, index: int) -> int:
        """The last place, at or before `index`, at which the conversation may be cut."""
        return self._place(self._turns_before(index))

    def tail_of(self, index: int) -> Seq:
        """The first event that what is kept from message `index` on is made of; 0: it is made of
        more than its tail, since words wait from before it or it was rewound."""
        turn = self._turns_before(index)
        first = self._begins[turn] if turn < len(self._begins) else self._at + 1
        needed = [self._accepted[id] for id in self._words_by_name(turn) if id in self._accepted]
        return Seq(first) if self._rewound_at < first <= min([first, *needed]) else START

    def _words_by_name(self, turn: int) -> Iterator[InputId]:
        """Inputs whose words stand where they were accepted: those that wait, and those of kept runs
        that name no words of their own."""
        yield from self._inputs.keys() - self._told
        for kept in self._turns[turn:]:
            if isinstance(kept, UserMessage) and kept.input is not None and kept.run is not None:
                begun = self._runs.get(kept.run)
                if begun is not None and begun.text is None:
                    yield kept.input

    # --- the user's turns ---------------------------------------------------------------------

    def _accept(self, event: e.InputAccepted | e.InputEdited) -> None:
        self._inputs[event.input] = event.text
        self._accepted.setdefault(event.input, self._at)

    def _withdraw(self, event: e.InputWithdrawn) -> None:
        self._inputs.pop(event.input, None)

    def _start_run(self, event: e.RunStarted) -> None:
        if self._runs.get(event.run) == event:
            return
        self._runs[event.run] = event
        # A response that the last run left unfinished gets no more pieces, whatever comes.
        for number in self._begun_rounds:
            turn = self._rounds.get(number)
            if turn is not None and turn.finished is None:
                del self._rounds[number]
        self._begun_rounds.clear()
        if event.input is not None:
            self._told.add(event.input)
        text = event.text
        if text is None and event.input is not None:
            text = self._inputs.get(event.input)
        if text or event.briefing:
            self._begins.append(self._at)
            self._turns.append(
                UserMessage(
                    text=text or None,
                    briefing=event.briefing or None,
                    input=event.input,
                    run=event.run,
                )
            )

    # --- the model's turns --------------------------------------------------------------------

    def _turn(self, round: RoundNumber, attempt: int = 1) -> Turn:
        turn = self._rounds.get(round)
        if turn is None:
            turn = self._rounds[round] = Turn(round, attempt)
            self._begun_rounds.add(round)
            self._begins.append(self._at)
            self._turns.append(turn)
        return turn

    def _start_round(self, event: e.RoundStarted) -> None:
        known = self._rounds.get(event.round)
        if known is None:
            last = self._turns[-1] if self._turns else None
            if isinstance(last, Turn) and not last.finished and last.round in self._begun_rounds:
                last.end()
            self._turn(event.round, event.attempt)
        elif known.finished is None and event.attempt > known.attempt:
            known.clear(event.attempt)

    def _save_text(self, event: e.TextSaved) -> None:
        self._turn(event.round).add_piece(TEXT, event.part, event.offset, event.text)

    def _save_thinking(self, event: e.ThinkingSaved) -> None:
        self._turn(event.round).add_piece(THINKING, event.part, event.offset, event.text)

    def _finish(self, event: e.ResponseFinished) -> None:
        turn = self._turn(event.round)
        if turn.finished is None:
            turn.finish(event)
            for call in event.calls:
                self._own(call.id, turn)

    def _drop(self, event: e.ResponseDropped) -> None:
        turn = self._rounds.get(event.round)
        if turn is not None and turn.finished is None:
            turn.clear(turn.attempt)

    # --- calls --------------------------------------------------------------------------------

    def _observe(self, event: e.CallObserved) -> None:
        turn = self._turn(event.round)
        turn.add_call(event.call)
        self._own(event.call.id, turn)

    def _own(self, call: CallId, turn: Turn) -> None:
        self._owners[call] = turn
        if self._early:
            early = self._early.pop(call, None)
            if early is not None:
                turn.settle(call, early)

    def _begin(self, event: e.CallIntended) -> None:
        self._begun[event.call] = event.attempt

    def _finish_call(self, event: e.CallFinished) -> None:
        self._settle(event.call, (event.attempt, event))

    def _close_call(self, event: e.CallClosed) -> None:
        self._settle(event.call, (self._begun.get(event.call, 0), event))

    def _settle(self, call: CallId, settled: Settled) -> None:
        owner = self._owners.get(call)
        if owner is not None:
            owner.settle(call, settled)
        elif call not in self._early or self._early[call][0] < settled[0]:
            self._early[call] = settled

    # --- compaction and rewind ----------------------------------------------------------------

    def _compact(self, event: e.ConversationCompacted) -> None:
        if self._tail not in (0, event.tail):
            return  # an earlier one: what it stood for is in the summary that is still to come
        cut = 0 if self._tail else self._turns_before(event.kept_from)
        size = event.kept_from if self._tail else self._place(cut)
        self._tail = 0
        self._turns[:cut] = [UserMessage(briefing=event.summary, summarised=size)]
        self._begins[:cut] = [self._at]

    def _rewind(self, event: e.Rewound) -> None:
        self._rewound_at = self._at
        if event.conversation:
            cut = self._turns_before(event.message_count, whole=True)
            gone = {turn for turn in self._turns[cut:] if isinstance(turn, Turn)}
            self._turns[cut:] = []
            self._begins[cut:] = []
            self._rounds = {n: t for n, t in self._rounds.items() if t not in gone}

    def _turns_before(self, index: int, *, whole: bool = False) -> int:
        """How many turns lie before message `index`. A turn that it would cut in two, or that is
        not over yet, is not counted; `whole` counts it."""
        place = 0
        for number, turn in enumerate(self._turns):
            size = _size(turn)
            if place >= index and (size or whole):
                return number
            if not whole and (place + size > index or not self._may_go(number)):
                return number
            place += size
        return len(self._turns)

    def _may_go(self, number: int) -> bool:
        """A call without a result may yet get one, as long as nothing was said after it."""
        turn = self._turns[number]
        last = number == len(self._turns) - 1
        return not last or isinstance(turn, UserMessage) or turn.settled

    def _place(self, turns: int) -> int:
        return sum(map(_size, self._turns[:turns]))

    # By type, not by `match`: this is the hot path of every resume. Events that are not here are
    # no part of what was said.
    _handlers: ClassVar[dict[type, Callable[["Conversation", Any], None]]] = {
        e.TextSaved: _save_text,
        e.ThinkingSaved: _save_thinking,
        e.RoundStarted: _start_round,
        e.ResponseFinished: _finish,
        e.ResponseDropped: _drop,
        e.CallIntended: _begin,
        e.CallFinished: _finish_call,
        e.CallClosed: _close_call,
        e.CallObserved: _observe,
        e.InputAccepted: _accept,
        e.InputEdited: _accept,
        e.InputWithdrawn: _withdraw,
        e.RunStarted: _start_run,
        e.ConversationCompacted: _compact,
        e.Rewound: _rewind,
    }


def build(events: Iterable[e.Event]) -> Conversation:
    conversation = Conversation()
    conversation.extend(events)
    return conversation


def _size(turn: Turn | UserMessage) -> int:
    return 1 if isinstance(turn, UserMessage) else len(turn.messages())


def _quoted(message: Message, following: Message | None) -> bool:
    """Said again, word for word, by the briefing that follows."""
    if not (isinstance(message, AssistantMessage) and message.partial):
        return False
    if not isinstance(following, UserMessage) or following.briefing is None:
        return False
    briefing = following.briefing
    return all(isinstance(p, TextPart) and p.text.strip() in briefing for p in message.parts)
