"""Events to items: the laws of the fold, over journals that the core itself wrote."""

import itertools

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.errors import Refused
from holdfast.core.ids import CallId, DecisionId, InputId, LaunchNumber, Millis, RoundNumber
from holdfast.core.session import Call, CoderState, Decision, StopReason
from holdfast.views.chat import PLACES, Chat, begins
from holdfast.views.items import Item, PlanItem
from tests.core.stories import BUILTIN, FOREIGN, opened

AT = 1_800_000_000_000


def fold(events, start=0, run=0):
    chat = Chat(start=start, run=run)
    for seq, event in enumerate(events, start + 1):
        chat.add(seq, AT + seq, event)
    return chat


def items(*events):
    return fold(events).ordered()


# --- journals ---------------------------------------------------------------------------------------

CALLS = ("shell", "read", "update_plan", "delegate")
PLAN = '{"items": [{"text": "look", "state": "done"}, {"text": "fix 🐚", "state": "pending"}]}'


class Teller:
    """Makes up what could come in next, from what the session is at."""

    def __init__(self, draw, abilities):
        self.draw, self.story, self.names = draw, opened(abilities), itertools.count()

    def step(self):
        s = self.story.session
        inputs = [
            i.SendPrompt(input=InputId(f"i{next(self.names)}"), text="do 🐚 it"),
            i.ContinueRun(),
            i.CancelRun(),
            i.DismissStop(),
            i.OwnerLost(),
            i.AgentStarted(launch=LaunchNumber(s.launches)),
            i.AgentReady(launch=LaunchNumber(s.launches)),
        ]
        inputs += [i.EditInput(input=q.id, text="else") for q in s.queue[:1]]
        inputs += [i.WithdrawInput(input=q.id) for q in s.queue[1:2]]
        inputs += [i.AnswerDecision(decision=d.id, answer="yes") for d in s.decisions[:1]]
        if s.run is not None:
            over = {"launch": LaunchNumber(s.launches), "run": s.run.number}
            inputs += [i.RunFinished(reason=reason, **over) for reason in StopReason]
            inputs += self.heard(s) * 3
        try:
            self.story.then(self.draw(st.sampled_from(inputs)))
        except Refused:
            return

    def heard(self, s):
        call = Call(id=CallId(f"c{next(self.names)}"), name=self.draw(st.sampled_from(CALLS)))
        if call.name == "update_plan":
            call = msgspec.structs.replace(call, arguments=PLAN)
        known = s.calls[-1].call.id if s.calls else call.id
        saved = s.response.saved
        asked = Decision(id=DecisionId(f"d{next(self.names)}"), kind="question", text="?")
        told = [
            e.RoundStarted(round=RoundNumber(s.round + 1)),
            e.RoundStarted(round=s.round, attempt=2),
            e.TextSaved(round=s.round, text="héllo 🐚 ", offset=saved[0] if saved else 0),
            e.ThinkingSaved(round=s.round, text="hm ", offset=0, part=1),
            e.ResponseFinished(round=s.round, calls=(call,), model="m"),
            e.ResponseFinished(round=s.round),
            e.ResponseDropped(round=s.round),
            e.CallObserved(round=s.round, call=call),
            e.CallIntended(call=known, attempt=1),
            e.CallFinished(call=known, output="x" * 9000, files=("a",)),
            e.CallFinished(call=CallId("never asked for")),
            e.DelegationStarted(call=known, task="t"),
            e.CoderNoted(call=known, state=CoderState(plan="p")),
            e.DelegationFinished(call=known),
            e.DecisionAsked(decision=asked),
            e.Notice(kind="retry", text="again", until=Millis(AT)),
            e.ConversationCompacted(summary="so far", kept_from=0),
        ]
        return [i.Heard(launch=LaunchNumber(s.launches), events=(event,)) for event in told]


@st.composite
def journals(draw):
    teller = Teller(draw, draw(st.sampled_from([BUILTIN, FOREIGN])))
    for _ in range(draw(st.integers(1, 60))):
        teller.step()
    return teller.story.past


LAW = settings(max_examples=150, deadline=None)


@LAW
@given(journals())
def test_an_event_changes_the_items_it_stamps_and_no_others(past):
    chat, seen = Chat(), {}
    for seq, event in enumerate(past, 1):
        chat.changed = set()
        chat.add(seq, AT + seq, event)
        changed = {id for id, item in chat.items.items() if seen.get(id) != item}
        assert changed <= {id for id, item in chat.items.items() if item.seq == seq}
        assert changed <= chat.changed
        assert set(seen) <= set(chat.items)
        seen = dict(chat.items)
    assert seen == fold(past).items


@LAW
@given(journals())
def test_a_fold_from_the_middle_is_the_end_of_the_whole_or_says_that_it_is_not(past):
    whole, runs = fold(past), 0
    for before, event in enumerate(past):
        if begins(event):
            part = fold(past[before:], start=before, run=runs)
            first = (before + 1) * PLACES
            expected = {id: item for id, item in whole.items.items() if item.place >= first}
            if not part.incomplete:
                assert part.items == expected
                older = [item for item in whole.items.values() if item.place < first]
                assert [item for item in older if item.seq > before] == []
        runs += isinstance(event, e.RunStarted)


@LAW
@given(journals())
def test_what_is_settled_does_not_change_any_more(past):
    chat, settled = Chat(), {}
    for seq, event in enumerate(past, 1):
        chat.add(seq, AT + seq, event)
        for item in chat.ordered():
            if not chat.settled(item.place + 1):
                break
            settled.setdefault(item.id, item)
    assert settled == {id: item for id, item in chat.items.items() if id in settled}


@LAW
@given(journals())
def test_items_cross_the_wire_as_they_are(past):
    found = fold(past).ordered()
    assert msgspec.json.decode(msgspec.json.encode(found), type=list[Item]) == found
    assert [(item.place, item.id) for item in found] == sorted((x.place, x.id) for x in found)


# --- stories ----------------------------------------------------------------------------------------

R1 = RoundNumber(1)
SHELL = Call(id=CallId("c1"), name="shell", arguments='{"command": "make test"}')


def test_a_call_goes_from_asked_to_done():  # spec: K6
    events = [e.RoundStarted(round=R1), e.ResponseFinished(round=R1, calls=(SHELL,), model="m")]
    seen = [items(*events)[-1]]
    for more in (
        e.CallIntended(call=SHELL.id),
        e.CallFinished(call=SHELL.id, output="o" * 9000, millis=7, files=("a.py",)),
    ):
        events.append(more)
        seen.append(items(*events)[-1])
    assert [item.status for item in seen] == ["pending", "running", "finished"]
    assert len({(item.id, item.place, item.at) for item in seen}) == 1
    done = seen[-1]
    assert (done.summary, done.output_size, done.millis) == ("shell make test", 9000, 7)
    assert len(done.output) < 4200 and done.files == ("a.py",)


@pytest.mark.parametrize(
    ("how", "status"),
    [
        (e.Closing.UNKNOWN, "unknown"),
        (e.Closing.CANCELLED, "cancelled"),
        (e.Closing.NOT_STARTED, "cancelled"),
        (e.Closing.PROBED_DONE, "finished"),
        (e.Closing.DENIED, "denied"),
    ],
)
def test_a_call_that_has_no_result_says_what_became_of_it(how, status):  # spec: D7
    found = items(
        e.RoundStarted(round=R1),
        e.ResponseFinished(round=R1, calls=(SHELL,)),
        e.CallIntended(call=SHELL.id),
        e.CallClosed(call=SHELL.id, how=how, output="told"),
    )
    assert (found[-1].status, found[-1].output) == (status, "told")


def test_text_after_a_foreign_call_is_an_item_of_its_own():  # spec: E11
    found = items(
        e.RoundStarted(round=R1),
        e.TextSaved(round=R1, text="I will "),
        e.TextSaved(round=R1, text="look.", offset=7),
        e.CallObserved(round=R1, call=SHELL),
        e.TextSaved(round=R1, text="Found it.", part=1),
        e.ResponseFinished(round=R1, model="m"),
    )
    assert [item.__struct_config__.tag for item in found] == ["assistant", "tool", "assistant"]
    assert [found[0].text, found[2].text] == ["I will look.", "Found it."]
    assert not found[0].streaming and not found[2].streaming


def test_the_plan_is_one_item_that_is_replaced():  # spec: K6 B3
    plans = [
        Call(id=CallId(f"p{n}"), name="update_plan", arguments=PLAN.replace("look", f"look {n}"))
        for n in range(3)
    ]
    events = [e.RunStarted(run=1, cause="prompt", limits=opened().session.limits)]
    for n, call in enumerate(plans):
        events += [e.RoundStarted(round=n + 1), e.ResponseFinished(round=n + 1, calls=(call,))]
        events += [e.CallIntended(call=call.id), e.CallFinished(call=call.id, output="noted")]
    found = [item for item in items(*events) if isinstance(item, PlanItem)]
    assert [(item.id, item.items[0].text) for item in found] == [("plan-1", "look 2")]


def test_a_plan_that_cannot_be_read_is_shown_as_the_call_it_was():  # spec: M1
    call = Call(id=CallId("p"), name="update_plan", arguments="{")
    found = items(e.RoundStarted(round=R1), e.ResponseFinished(round=R1, calls=(call,)))
    assert found[-1].name == "update_plan"


def test_a_queued_prompt_is_an_item_once_it_is_delivered():  # spec: A9
    queued = e.InputAccepted(input=InputId("q"), text="then this", queued=True)
    edited = e.InputEdited(input=InputId("q"), text="then that")
    assert items(queued, edited) == []
    limits = opened().session.limits
    started = e.RunStarted(run=2, cause="queue", limits=limits, input=InputId("q"))
    assert [item.text for item in items(queued, edited, started)] == ["then that"]
