"""ask_user: a question that outlives whoever asked it, and whose answer is the call's result."""

# spec: B3, B11, P9

from pathlib import Path

import pytest

from holdfast.agents.builtin import scripted
from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.conversation import build
from holdfast.core.ids import InputId
from holdfast.core.messages import ResultsMessage
from holdfast.core.session import StopReason
from tests.agents.builtin.house import House, call, house

ASK = call("ask_user", question="Which colour?", options=["red", "green"])
ROWS = [{"text": "One thing.", "tool_calls": [ASK]}, {"text": "Thank you."}]


async def asked(h, id):
    session = await h.until(id, lambda s: bool(s.decisions))
    return session.decisions[0]


async def results(h, id):
    messages = build(await h.engine.journal.events(id)).messages()
    return [r.output for m in messages if isinstance(m, ResultsMessage) for r in m.results]


async def test_the_answer_is_what_the_model_gets(folder):
    async with house(folder, *ROWS) as h:
        id = await h.open()
        await h.send(id)
        question = await asked(h, id)
        assert ("question", "Which colour?", ("red", "green")) == (
            question.kind,
            question.text,
            question.options,
        )

        await h.engine.submit(id, i.AnswerDecision(decision=question.id, answer="blue, please"))
        session = await h.stopped(id)

        assert (StopReason.COMPLETED, 2) == (session.last_stop.reason, session.responses)
        assert ["blue, please"] == await results(h, id)


@pytest.mark.parametrize("answered", ["while nobody runs", "after the resume"])
async def test_it_is_still_answerable_when_the_daemon_was_away(folder, answered):
    async with house(folder, *ROWS) as h:
        id = await h.open()
        await h.send(id)
        question = await asked(h, id)
    async with House(folder) as h:
        assert (question,) == (await h.engine.session(id)).decisions
        answer = i.AnswerDecision(decision=question.id, answer="green")
        if answered == "while nobody runs":
            await h.engine.submit(id, answer)
            await h.engine.submit(id, i.ContinueRun())
        else:
            await h.engine.submit(id, i.ContinueRun())
            await h.engine.submit(id, answer)  # at once: the loop may not be there yet
        session = await h.until(id, lambda s: s.run is None and s.runs == 2)

        assert StopReason.COMPLETED is session.last_stop.reason
        assert ["green"] == await results(h, id)
        assert 1 == len(await h.events(id, e.DecisionAsked))


async def test_a_provider_that_uses_an_id_again_hangs_nobody(folder, monkeypatch):
    """Twice in one response, and again in the next: each call is asked about and has its result."""
    monkeypatch.setattr(scripted, "_call_id", lambda *_: "same")
    writes = [call("write", path=f"{n}.txt", content=str(n)) for n in range(3)]
    rows = [{"tool_calls": writes[:2]}, {"tool_calls": writes[2:]}, {"text": "Done."}]
    async with house(folder, *rows) as h:
        id = await h.open(mode="ask")
        await h.send(id)
        for n in range(3):
            await h.until(id, lambda s, n=n: bool(s.decisions) and len(s.granted) <= n)
            question = await asked(h, id)
            await h.engine.submit(id, i.AnswerDecision(decision=question.id, answer="yes"))
        session = await h.stopped(id)
        place = Path(session.workspace.path)

        assert StopReason.COMPLETED is session.last_stop.reason
        assert ["0", "1", "2"] == [(place / f"{n}.txt").read_text() for n in range(3)]
        assert 3 == len({d.decision.id for d in await h.events(id, e.DecisionAsked)})
        assert 3 == len(await results(h, id))


async def test_who_writes_something_else_withdraws_the_question(folder):
    async with house(folder, *ROWS) as h:
        id = await h.open()
        await h.send(id)
        await asked(h, id)
    async with House(folder) as h:
        await h.engine.submit(id, i.SendPrompt(input=InputId("other"), text="Never mind."))
        session = await h.until(id, lambda s: s.run is None and s.runs == 2)

        assert ((), StopReason.COMPLETED) == (session.decisions, session.last_stop.reason)
        [output] = await results(h, id)
        assert output.startswith("Not started")


async def test_a_cancel_takes_the_question_back(folder):
    async with house(folder, *ROWS) as h:
        id = await h.open()
        await h.send(id)
        question = await asked(h, id)
        await h.engine.submit(id, i.CancelRun())
        session = await h.stopped(id)

        assert ((), StopReason.CANCELLED) == (session.decisions, session.last_stop.reason)
        with pytest.raises(Exception, match="is not open"):
            await h.engine.submit(id, i.AnswerDecision(decision=question.id, answer="green"))


async def test_a_question_without_words_is_a_failed_call(folder):
    rows = [{"tool_calls": [call("ask_user", question="")]}, {"text": "Sorry."}]
    async with house(folder, *rows) as h:
        session = await h.run()
        [finished] = await h.events(session.id, e.CallFinished)

        assert finished.failed and "question" in finished.output


async def test_always_is_remembered_for_that_program_and_session(folder):
    """The client need not say what for: the question knows."""
    rows = [
        {"tool_calls": [call("shell", command="echo one")]},
        {"tool_calls": [call("shell", command="echo two")]},
        {"tool_calls": [call("shell", command="ls")]},
        {"text": "done"},
    ]
    async with house(folder, *rows) as h:
        id = await h.open(mode="ask")
        await h.send(id)
        first = await asked(h, id)
        await h.engine.submit(id, i.AnswerDecision(decision=first.id, answer="always"))
        session = await h.until(id, lambda s: any(d.id != first.id for d in s.decisions))
        assert ("program:echo",) == session.always
        assert "Run: ls" in session.decisions[0].text  # echo two was not asked about

        await h.engine.submit(id, i.AnswerDecision(decision=session.decisions[0].id, answer="no"))
        await h.stopped(id)
        other = await h.open(mode="ask")
        await h.send(other)
        assert "Run: echo one" in (await asked(h, other)).text  # another session asks again
        await h.engine.submit(other, i.CancelRun())
        await h.stopped(other)
