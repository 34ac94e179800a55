"""What an agent says may come twice, late or in another order: it adds up to the same session.

The reports of a clean run are recorded, numbered as a launch numbers them, and told again with every
kind of trouble that a transport can make.
"""

# spec: P2, P4, P8, E10

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.conversation import build
from holdfast.core.ids import CallId, LaunchNumber, RunNumber, Seq
from holdfast.core.session import Call, EffectClass, Session, StopReason
from holdfast.core.value import replace
from holdfast.engine import inbox
from holdfast.testing.agent import ScriptedAgents
from holdfast.testing.script import Reply, ScriptedCall
from tests.engine.rig import OPEN, Rig, prompt, state_folder

SCRIPT = (
    Reply(
        text="I look around first.",
        pieces=3,
        calls=(ScriptedCall(effect=EffectClass.PURE), ScriptedCall(files=("a.py",))),
    ),
    Reply(text="One more.", calls=(ScriptedCall(output="two"),)),
    Reply(text="Done."),
)


class Mute(ScriptedAgents):
    """Does nothing by itself: the test says what it says."""

    async def start(self, errand, session):
        return

    async def deliver(self, errand, session):
        return

    async def interrupt(self, errand, session):
        return

    async def kill(self, errand, session):
        return


class Told:
    """What a journal holds in the end."""

    def __init__(self, events: list[e.Event], session: Session) -> None:
        self.events = events
        self.session = replace(session, seq=Seq(0))
        self.messages = build(events).messages()


def play(*chapters) -> Told:
    """Each chapter is a command, or reports that are on their way at the same time."""

    async def tell(folder) -> Told:
        async with Rig(folder, agents=Mute) as rig:
            await rig.submit(OPEN)
            for chapter in chapters:
                if isinstance(chapter, list):
                    await asyncio.gather(*(rig.submit(report) for report in chapter))
                else:
                    await rig.submit(chapter)
            return Told(await rig.events(), await rig.replay())

    with state_folder() as folder:
        return asyncio.run(asyncio.wait_for(tell(folder), 200))


def record() -> list[i.Heard]:
    """What a scripted agent says in a clean run, numbered from 1."""
    said: list[i.Heard] = []

    async def tell(folder) -> None:
        async with Rig(folder, script=SCRIPT) as rig:

            async def overhear(id, given):
                if isinstance(given, i.Heard):
                    said.append(replace(given, n=len(said) + 1))
                return await rig.engine.submit(id, given)

            rig.agents.submit = overhear
            await rig.submit(OPEN, prompt())
            await rig.quiet()

    with state_folder() as folder:
        asyncio.run(asyncio.wait_for(tell(folder), 200))
    return said


STREAM = record()
UP = [i.AgentStarted(launch=LaunchNumber(1)), i.AgentReady(launch=LaunchNumber(1))]
END = i.RunFinished(launch=LaunchNumber(1), run=RunNumber(1), reason=StopReason.COMPLETED)
CLEAN = play(prompt(), UP, STREAM, END)
RESULTS = [heard for heard in STREAM if isinstance(heard.events[0], e.CallFinished)]


def unnumbered(stream):
    return [replace(heard, n=0) for heard in stream]


def of_launch(stream, launch, first=1):
    return [
        replace(heard, launch=LaunchNumber(launch), n=n)
        for n, heard in enumerate(stream, start=first)
    ]


def test_the_recorded_stream_is_a_whole_run():
    kinds = [type(heard.events[0]) for heard in STREAM]

    assert kinds.count(e.CallIntended) == kinds.count(e.CallFinished) == 3
    assert kinds.count(e.ResponseFinished) == 3
    assert CLEAN.session.last_stop is not None
    assert CLEAN.session.last_stop.reason is StopReason.COMPLETED


def test_every_report_twice():
    told = play(prompt(), UP, [heard for heard in STREAM for _ in (1, 2)], END)

    assert CLEAN.events == told.events


@pytest.mark.parametrize("place", range(len(STREAM) - 1))
def test_two_neighbours_in_the_wrong_order(place):
    swapped = [*STREAM]
    swapped[place], swapped[place + 1] = swapped[place + 1], swapped[place]
    told = play(prompt(), UP, swapped, END)

    assert CLEAN.events == told.events


def test_the_whole_stream_backwards():
    told = play(prompt(), UP, STREAM[::-1], END)

    assert CLEAN.events == told.events


def test_the_whole_stream_again_before_and_after_the_end():
    told = play(prompt(), UP, STREAM, STREAM, END, STREAM, END, UP)

    assert CLEAN.events == told.events


def test_results_that_come_after_the_run_ended():
    told = play(prompt(), UP, STREAM, END, RESULTS, unnumbered(RESULTS))

    assert CLEAN.events == told.events


@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.data())
def test_any_order_and_any_number_of_copies(data):
    copies = data.draw(st.lists(st.sampled_from(STREAM), max_size=10))
    order = data.draw(st.permutations([*STREAM, *copies]))
    told = play(prompt(), UP, order, END)

    assert CLEAN.events == told.events


def test_unnumbered_reports_twice_each():
    twice = [heard for heard in unnumbered(STREAM) for _ in (1, 2)]
    told = play(prompt(), UP, *twice, END)

    assert CLEAN.events == told.events


def test_an_unnumbered_stream_that_starts_again_at_every_place():
    """A follower of a transcript begins once more at its top."""
    for place in range(1, len(STREAM) + 1):
        stream = unnumbered(STREAM)
        told = play(prompt(), UP, *stream[:place], *stream, END)

        assert CLEAN.session == told.session, place
        assert CLEAN.messages == told.messages, place


def test_a_result_of_a_call_that_nobody_knows():
    ghost = i.Heard(launch=LaunchNumber(1), events=(e.CallFinished(call=CallId("ghost")),))
    for place in range(len(STREAM)):
        told = play(prompt(), UP, *STREAM[:place], ghost, ghost, *STREAM[place:], END)

        assert CLEAN.messages == told.messages, place
        assert CLEAN.session == replace(told.session, early=()), place


def test_an_intent_under_a_wrong_number_is_not_taken():
    """An agent that has lost count must not begin a call: nobody decided that."""
    asked = next(k for k, h in enumerate(STREAM) if isinstance(h.events[0], e.CallIntended))
    wrong = [e.CallIntended(call=CallId("c0.0"), attempt=n) for n in (0, 2, 3)]
    counted = [i.Heard(launch=LaunchNumber(1), events=(event,)) for event in wrong]
    told = play(prompt(), UP, STREAM[:asked], *counted, STREAM[asked:], END)

    assert CLEAN.events == told.events


# --- a second launch ----------------------------------------------------------------------------------

AGAIN = prompt("p2", "and now?")
UP_AGAIN = [i.AgentStarted(launch=LaunchNumber(2)), i.AgentReady(launch=LaunchNumber(2))]
MORE = (e.RoundStarted(round=4), e.TextSaved(round=4, text="Now."), e.ResponseFinished(round=4))
NEXT = [i.Heard(launch=LaunchNumber(2), events=(event,)) for event in MORE]
END_AGAIN = i.RunFinished(launch=LaunchNumber(2), run=RunNumber(2), reason=StopReason.COMPLETED)


def test_the_whole_history_again_on_another_launch():
    """What an agent replays when it is loaded is evidence, not news."""
    first = (prompt(), UP, STREAM, END, AGAIN, UP_AGAIN)
    clean = play(*first, of_launch(NEXT, 2), END_AGAIN)
    loaded = of_launch([*STREAM, *NEXT], 2)
    told = play(*first, loaded, END_AGAIN)

    assert clean.messages == told.messages
    assert clean.session == told.session


def test_an_earlier_launch_that_goes_on_talking():
    first = (prompt(), UP, STREAM, END, AGAIN, UP_AGAIN)
    clean = play(*first, of_launch(NEXT, 2), END_AGAIN)
    late = of_launch(NEXT, 1, first=len(STREAM) + 1)
    told = play(*first, [*late, *of_launch(NEXT, 2), *STREAM], END, END_AGAIN)

    assert clean.events == told.events


# --- a cancel in the middle ---------------------------------------------------------------------------

CANCELLED = replace(END, reason=StopReason.CANCELLED)


@pytest.mark.parametrize("place", range(len(STREAM) + 1))
def test_a_cancel_at_every_place_of_a_troubled_stream(place):
    clean = play(prompt(), UP, STREAM[:place], i.CancelRun(), CANCELLED)
    twice = [heard for heard in STREAM[:place][::-1] for _ in (1, 2)]
    rest = [*STREAM[place:], *unnumbered(STREAM), *STREAM]
    told = play(prompt(), UP, twice, i.CancelRun(), i.CancelRun(), CANCELLED, *rest, END)

    assert clean.events == told.events
    assert told.session.last_stop is not None
    assert told.session.last_stop.reason is StopReason.CANCELLED


# --- what never comes -----------------------------------------------------------------------------------


def test_a_gap_holds_up_what_comes_after_it_only_for_a_while(monkeypatch):
    monkeypatch.setattr(inbox, "PATIENCE", 0.05)
    lost = next(k for k, heard in enumerate(STREAM) if isinstance(heard.events[0], e.TextSaved))
    told = play(prompt(), UP, [*STREAM[:lost], *STREAM[lost + 1 :]], END)

    assert len(CLEAN.events) - 1 == len(told.events)
    assert CLEAN.session.last_stop == told.session.last_stop


def test_what_did_come_is_not_lost_in_a_gap(monkeypatch):
    """Number 4 never comes; 7 was there before 5. Both are told, in order."""
    monkeypatch.setattr(inbox, "PATIENCE", 0.05)
    order = [1, 2, 3, 7, 6, 5, *range(8, len(STREAM) + 1)]
    told = play(prompt(), UP, [STREAM[n - 1] for n in order], END)
    missing = STREAM[3].events[0]

    assert [x for x in CLEAN.events if x != missing] == told.events


def test_what_comes_after_it_was_given_up_is_still_heard_once(monkeypatch):
    """The last result is so late that the run's next words were let through without it."""
    monkeypatch.setattr(inbox, "PATIENCE", 0.05)
    late = STREAM.index(RESULTS[-1])
    others = [*STREAM[:late], *STREAM[late + 1 : late + 2]]
    told = play(prompt(), UP, others, [STREAM[late]] * 2, STREAM[late + 2 :], END)

    assert sum(isinstance(x, e.CallFinished) for x in told.events) == 3


def test_an_earlier_launch_that_waits_for_a_gap_does_not_move_the_present_one(monkeypatch):
    """Its number, far ahead, must not make the present launch's first words look said before."""
    monkeypatch.setattr(inbox, "PATIENCE", 0.05)
    first = (prompt(), UP, STREAM, END, AGAIN, UP_AGAIN)
    clean = play(*first, of_launch(NEXT, 2), END_AGAIN)
    (ahead,) = of_launch(NEXT[:1], 1, first=len(STREAM) + 9)
    told = play(*first, [ahead, of_launch(NEXT, 2)[0]], of_launch(NEXT, 2)[1:], END_AGAIN)

    assert clean.events == told.events


# --- a foreign agent's stream -----------------------------------------------------------------------------


def foreign() -> list[i.Heard]:
    calls = [Call(id=CallId(c), name="edit", part=k) for k, c in enumerate("abc")]
    said: list[i.Reportable] = []
    for n, call in enumerate(calls, start=1):
        said += [
            e.RoundStarted(round=n),
            e.TextSaved(round=n, text=f"Round {n}."),
            e.ResponseFinished(round=n),
            e.CallObserved(round=n, call=call),
            e.CallFinished(call=call.id, output=f"did {call.id}"),
        ]
    return [
        i.Heard(launch=LaunchNumber(1), events=(event,), n=n)
        for n, event in enumerate(said, start=1)
    ]


FOREIGN = foreign()


def test_a_foreign_stream_twice_and_backwards():
    clean = play(prompt(), UP, FOREIGN, END)
    told = play(prompt(), UP, [*FOREIGN[::-1], *FOREIGN], END)

    assert clean.events == told.events


def test_a_foreign_stream_without_numbers_that_starts_again():
    clean = play(prompt(), UP, FOREIGN, END)
    for place in range(1, len(FOREIGN) + 1):
        stream = unnumbered(FOREIGN)
        told = play(prompt(), UP, *stream[:place], *stream, END)

        assert clean.messages == told.messages, place
        assert clean.session == told.session, place


def test_a_result_that_overtook_its_call():
    clean = play(prompt(), UP, FOREIGN, END)
    for place in (3, 8, 13):
        stream = unnumbered(FOREIGN)
        stream[place], stream[place + 1] = stream[place + 1], stream[place]
        told = play(prompt(), UP, *stream, END)

        assert clean.messages == told.messages, place
