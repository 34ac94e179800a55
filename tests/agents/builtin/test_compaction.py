"""A long conversation is summarised, visibly, and a resume sends the short form."""

# spec: B9, B10, B1, B4, P6

import asyncio

import pytest

from holdfast.agents.builtin.scripted import ScriptedModel
from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.budget import Limits, Usage
from holdfast.core.compaction import OPENING
from holdfast.core.conversation import build
from holdfast.core.messages import AssistantMessage, ResultsMessage
from holdfast.core.session import ErrorClass, StopReason
from holdfast.core.validate import Rules, validate
from tests.agents.builtin.house import House, call, house

WINDOW = 1000


def row(n, context=100, **more):
    calls = [call("write", path=f"{n}.txt", content=str(n)), call("read", path="hello.txt")]
    usage = {"input": context - 10, "output": 10}
    return {"text": f"Step {n}.", "tool_calls": calls, "usage": usage, **more}


def long(*near, last=12):
    """A session whose context is nearly full after these responses."""
    return [row(n, 900 if n in near else 100) for n in range(last)] + [{"text": "Done."}]


async def test_near_the_window_the_past_becomes_a_summary(folder, requests):
    async with house(folder, *long(5, 9), context_window=WINDOW) as h:
        session = await h.run()
        compactions = await h.events(session.id, e.ConversationCompacted)

        assert (StopReason.COMPLETED, 13) == (session.last_stop.reason, session.responses)
        assert 2 == len(compactions)
        assert compactions[0].summary.startswith(OPENING)
        assert compactions[1].summary.endswith("The user's last words before this point:\ngo")
        past = build(await h.engine.journal.events(session.id)).messages()
        assert [] == validate([*past[:-1]], rules=Rules())
        assert {f"{n}.txt" for n in range(12)} <= {
            f for x in await h.events(session.id, e.CallFinished) for f in x.files
        }

    asked = [r for r in requests if not r.summary]
    assert list(range(13)) == [r.finished for r in asked]  # a summary is no reply of the script
    assert [6, 10] == [r.finished for r in requests if r.summary]
    assert len(asked[6].messages) < len(asked[5].messages)
    assert asked[6].messages[0].briefing == compactions[0].summary
    for request in asked:
        for before, after in zip(request.messages, request.messages[1:], strict=False):
            if isinstance(before, AssistantMessage) and before.calls:
                assert isinstance(after, ResultsMessage)
                assert [c.id for c in before.calls] == [r.call for r in after.results]


async def test_a_resume_after_it_sends_the_short_form(folder, requests):
    slow = {"text": "word " * 4_000, "chunk_ms": 20}
    async with house(
        folder, *long(5, last=6)[:-1], slow, {"text": "x"}, context_window=WINDOW
    ) as h:
        id = await h.open()
        await h.send(id)
        await h.until(id, lambda s: "word" in s.response.text)
    async with House(folder, context_window=WINDOW) as h:
        await h.engine.submit(id, i.ContinueRun())
        await h.until(id, lambda s: s.run is not None and s.responses == 6)
        await h.until(id, lambda s: "word" in s.response.text)

        assert requests[-1].messages[0].briefing.startswith(OPENING)
        assert "[SESSION_RESUMED]" in requests[-1].messages[-1].briefing
        assert 1 == len(await h.events(id, e.ConversationCompacted))


async def test_cut_off_while_it_is_summarised_nothing_is_lost_and_it_is_done_again(
    folder, requests, monkeypatch
):
    stream, stuck = ScriptedModel.stream, asyncio.Event()

    async def sticking(self, request):
        if request.summary and not stuck.is_set():
            stuck.set()
            await asyncio.Event().wait()
        async for piece in stream(self, request):
            yield piece

    monkeypatch.setattr(ScriptedModel, "stream", sticking)
    async with house(folder, *long(5), context_window=WINDOW) as h:
        id = await h.open()
        await h.send(id)
        await asyncio.wait_for(stuck.wait(), 60)
        before = len(build(await h.engine.journal.events(id)).messages())
    async with House(folder, context_window=WINDOW) as h:
        assert [] == await h.events(id, e.ConversationCompacted)
        assert before == len(build(await h.engine.journal.events(id)).messages())
        await h.engine.submit(id, i.ContinueRun())
        session = await h.until(id, lambda s: s.run is None and s.runs == 2)

        assert StopReason.COMPLETED is session.last_stop.reason
        assert 1 == len(await h.events(id, e.ConversationCompacted))
        assert {1} == {x.attempt for x in await h.events(id, e.CallIntended)}


async def test_a_request_that_was_too_long_is_tried_once_more_when_the_past_is_shorter(
    folder, requests
):
    rows = [*long(last=3)[:-1], {"fail": {"status": 413}, "text": "It fits."}]
    async with house(folder, *rows) as h:
        session = await h.run()

        assert StopReason.COMPLETED is session.last_stop.reason
        assert 1 == len(await h.events(session.id, e.ConversationCompacted))
        assert len(requests[-1].messages) < len(requests[-3].messages)


@pytest.mark.parametrize("script", [[], long(last=3)[:-1]], ids=["nothing to cut", "not enough"])
async def test_what_does_not_fit_then_either_stops_with_its_class(folder, script):
    async with house(folder, *script, {"fail": {"status": 413, "times": 9}}) as h:
        session = await h.run()

        assert (StopReason.ERROR, ErrorClass.CONTEXT_OVERFLOW) == (
            session.last_stop.reason,
            session.last_stop.error,
        )


async def test_a_limit_is_looked_at_after_a_summary_too(folder, monkeypatch):
    stream = ScriptedModel.stream

    async def dear(self, request):
        async for piece in stream(self, request):
            spent = request.summary and hasattr(piece, "usage")
            yield type(piece)(usage=Usage(input_tokens=5000)) if spent else piece

    monkeypatch.setattr(ScriptedModel, "stream", dear)
    async with house(folder, *long(5), context_window=WINDOW) as h:
        id = await h.open()
        await h.send(id, limits=Limits(tokens=5000))
        session = await h.stopped(id)

        assert StopReason.BUDGET_EXCEEDED is session.last_stop.reason
        assert (6, 6400) == (session.responses, session.totals.tokens)


async def test_a_window_of_nothing_is_not_watched(folder):
    async with house(folder, *long(5), context_window=0) as h:
        session = await h.run()

        assert [] == await h.events(session.id, e.ConversationCompacted)
