"""After a compaction the events of its tail make the same conversation as all of them."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.core import events as e
from holdfast.core.budget import Limits
from holdfast.core.conversation import Conversation, build
from holdfast.core.evolve import rebuild
from holdfast.core.messages import UserMessage
from holdfast.core.session import Call, Cause, Stop, StopReason

STEPS = st.lists(
    st.sampled_from(
        ["round", "round", "call", "unanswered", "stop", "typed", "compact", "rewind", "notice"]
    ),
    max_size=40,
)


class Past:
    """A journal as the loop and its user write one."""

    def __init__(self):
        self.events, self.run, self.round, self.typed = [], 0, 0, []
        self.add(e.SessionOpened(agent="builtin"))
        self.begin()

    def add(self, *events):
        self.events += events

    def begin(self):
        self.run += 1
        given = self.typed.pop(0) if self.typed else None
        text = None if given else f"prompt {self.run}"
        self.add(
            e.RunStarted(run=self.run, cause=Cause.PROMPT, limits=Limits(), input=given, text=text)
        )

    def take(self, step):
        match step:
            case "round" | "call" | "unanswered":
                self.respond(step)
            case "stop":
                self.add(e.RunStopped(run=self.run, stop=Stop(reason=StopReason.COMPLETED)))
                self.begin()
            case "typed":
                self.typed.append(f"i{len(self.events)}")
                self.add(e.InputAccepted(input=self.typed[-1], text="words", queued=True))
            case "compact":
                self.compact()
            case "rewind":
                count = max(len(build(self.events).messages()) - 2, 0)
                self.add(
                    e.Rewound(round=self.round, code=False, conversation=True, message_count=count)
                )
            case "notice":
                self.add(e.Notice(kind="n", text="n"))

    def respond(self, step):
        self.round += 1
        call = Call(id=f"c{self.round}", name="read")
        calls = () if step == "round" else (call,)
        self.add(
            e.RoundStarted(round=self.round),
            e.TextSaved(round=self.round, text=f"answer {self.round}"),
            e.ResponseFinished(round=self.round, calls=calls),
        )
        if step == "call":
            self.add(e.CallIntended(call=call.id), e.CallFinished(call=call.id, output="seen"))

    def compact(self):
        conversation = build(self.events)
        cut = conversation.cut_at(max(0, len(conversation.messages()) - 3))
        if cut >= 2:
            tail = conversation.tail_of(cut)
            self.add(e.ConversationCompacted(summary=f"s{self.round}", kept_from=cut, tail=tail))


@given(STEPS)
def test_the_tail_makes_the_same_conversation_as_the_whole(steps):  # spec: B9 C4
    past = Past()
    for step in steps:
        past.take(step)
    session = rebuild("s", past.events)
    after = max(session.tail - 1, 0)
    tail = Conversation(after)
    tail.extend(past.events[after:])
    assert build(past.events).messages() == tail.messages()


def test_a_long_past_is_not_read_again():  # spec: B9 C4
    past = Past()
    for _ in range(50):
        past.take("call")
    past.take("compact")
    past.take("round")
    session = rebuild("s", past.events)
    tail = Conversation(session.tail - 1)
    tail.extend(past.events[session.tail - 1 :])
    assert len(past.events) - session.tail < 20
    assert isinstance(tail.messages()[0], UserMessage)
    assert tail.messages()[0].briefing == "s50"
