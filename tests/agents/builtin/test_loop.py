"""The built-in agent, whole: a scripted model, real tools, a real repository, a real journal."""

# spec: B1, B2, B4, B6, B7, B10, B11, A6, C3, D6, D7

from pathlib import Path

import pytest

from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.budget import Limits
from holdfast.core.session import ErrorClass, Phase, State, StopReason
from tests.agents.builtin.house import House, call, house


def tree(session) -> Path:
    return Path(session.workspace.path)


async def test_it_works_until_the_model_has_nothing_more_to_ask_for(folder):
    async with house(
        folder,
        {"text": "First.", "tool_calls": [call("write", path="a.txt", content="A\n")]},
        {"text": "Then.", "tool_calls": [call("shell", command="cat a.txt hello.txt > b.txt")]},
        {"text": "Done."},
    ) as h:
        session = await h.run()

        assert (StopReason.COMPLETED, 3) == (session.last_stop.reason, session.responses)
        assert "A\nhello\n" == (tree(session) / "b.txt").read_text()
        assert not (folder / "repo" / "a.txt").exists()


async def test_reads_and_writes_of_one_response_each_have_their_result(folder):
    calls = [
        call("read", path="hello.txt"),
        call("write", path="x", content="1"),
        call("read", path="nowhere.txt"),
        call("list"),
    ]
    async with house(folder, {"tool_calls": calls}, {"text": "ok"}) as h:
        session = await h.run()
        results = await h.events(session.id, e.CallFinished)

        assert 4 == len(results)
        assert 1 == sum(r.failed for r in results)


async def test_a_call_for_an_unknown_tool_or_with_bad_arguments_is_answered_not_fatal(folder):
    rows = [
        {"tool_calls": [call("fly", high=True)]},
        {"tool_calls": [call("write", pth="x")]},
        {"text": "I see."},
    ]
    async with house(folder, *rows) as h:
        session = await h.run()
        closed = await h.events(session.id, e.CallClosed)
        failed = [r for r in await h.events(session.id, e.CallFinished) if r.failed]

        assert StopReason.COMPLETED is session.last_stop.reason
        assert "There is no tool 'fly'" in (closed[0].output if closed else failed[0].output)
        assert any("pth" in r.output for r in failed)


async def test_a_tool_limit_stops_after_the_results_are_saved_and_a_continue_has_a_fresh_one(
    folder,
):
    rows = [{"tool_calls": [call("write", path=f"{n}", content="x")]} for n in range(4)]
    async with house(folder, *rows, {"text": "done"}) as h:
        id = await h.open()
        await h.send(id, limits=Limits(tool_calls=2))
        session = await h.stopped(id)
        assert StopReason.TOOL_LIMIT is session.last_stop.reason
        assert () == session.open_calls

        await h.engine.submit(id, i.ContinueRun(limits=Limits(tool_calls=10)))
        session = await h.until(id, lambda s: s.run is None and s.runs == 2)
        assert StopReason.COMPLETED is session.last_stop.reason
        assert {"0", "1", "2", "3"} <= {p.name for p in tree(session).iterdir()}


async def test_a_round_is_a_response_and_its_calls_whatever_their_limit_is(folder):  # spec: B4 B5
    rows = [{"tool_calls": [call("write", path=f"{n}", content="x")]} for n in range(2)]
    async with house(folder, *rows, {"text": "done"}) as h:
        id = await h.open()
        await h.send(id, limits=Limits(rounds=1))
        session = await h.stopped(id)
        assert StopReason.ROUND_LIMIT is session.last_stop.reason
        assert (tree(session) / "0").exists()

        for run in (2, 3):
            await h.engine.submit(id, i.ContinueRun(limits=Limits(rounds=1)))
            session = await h.until(id, lambda s, run=run: s.run is None and s.runs == run)
        assert StopReason.COMPLETED is session.last_stop.reason
        assert (tree(session) / "1").exists()


async def test_calls_that_a_budget_held_back_are_begun_by_a_continue(folder):  # spec: B5 D6
    asks = {
        "usage": {"input": 60, "output": 60},
        "tool_calls": [call("write", path="a", content="x")],
    }
    async with house(folder, asks, {"text": "done"}) as h:
        id = await h.open()
        await h.send(id, limits=Limits(tokens=100))
        session = await h.stopped(id)
        assert StopReason.BUDGET_EXCEEDED is session.last_stop.reason
        assert not (tree(session) / "a").exists()

        await h.engine.submit(id, i.ContinueRun())
        session = await h.until(id, lambda s: s.run is None and s.runs == 2)
        assert StopReason.COMPLETED is session.last_stop.reason
        assert (tree(session) / "a").exists()
        assert [] == await h.events(id, e.CallClosed)
        told = (await h.events(id, e.RunStarted))[-1].briefing
        assert told.startswith("[System: The user has requested you resume.")
        assert "- Used: $0.00, 120 of 100 tokens (120%), 0 of 50 tool calls (0%), 1 rounds" in told


async def test_a_prompt_after_a_limit_goes_before_the_calls_that_it_held_back(folder):  # spec: D11
    asks = {
        "usage": {"input": 60, "output": 60},
        "tool_calls": [call("write", path="a", content="x")],
    }
    async with house(folder, asks, {"text": "done"}) as h:
        id = await h.open()
        await h.send(id, limits=Limits(tokens=100))
        await h.stopped(id)
        await h.send(id, "something else", limits=Limits())
        session = await h.until(id, lambda s: s.run is None and s.runs == 2)

        assert not (tree(session) / "a").exists()
        assert [e.Closing.NOT_STARTED] == [c.how for c in await h.events(id, e.CallClosed)]
        assert None is (await h.events(id, e.RunStarted))[-1].briefing


async def test_a_token_budget_stops_the_run_with_its_percentage(folder):
    rows = [
        {"usage": {"input": 50, "output": 30}, "tool_calls": [call("list")]},
        {"usage": {"input": 15, "output": 5}, "tool_calls": [call("list")]},
        {"text": "never reached"},
    ]
    async with house(folder, *rows) as h:
        id = await h.open()
        await h.send(id, limits=Limits(tokens=100))
        session = await h.stopped(id)

        assert StopReason.BUDGET_EXCEEDED is session.last_stop.reason
        assert 100 == session.last_stop.percent
        assert 1 == len(await h.events(id, e.BudgetWarned))


async def test_a_cancel_in_mid_stream_keeps_what_was_said(folder):
    async with house(folder, {"text": "word " * 5_000, "chunk_ms": 20}) as h:
        id = await h.open()
        await h.send(id)
        await h.until(id, lambda s: "word" in s.response.text)
        await h.engine.submit(id, i.CancelRun())
        session = await h.stopped(id)

        assert StopReason.CANCELLED is session.last_stop.reason
        assert Phase.STREAMING_LLM is session.last_stop.phase
        assert session.response.text.startswith("word word")


async def test_a_cancel_in_mid_tool_ends_its_processes_and_closes_the_call(folder):
    command = "echo $$ > .pid; mv .pid pid; sleep 300 & sleep 300"
    async with house(folder, {"tool_calls": [call("shell", command=command)]}) as h:
        id = await h.open()
        await h.send(id)
        session = await h.until(id, lambda s: (tree(s) / "pid").exists())
        pid = (tree(session) / "pid").read_text().strip()
        await h.engine.submit(id, i.CancelRun())
        session = await h.stopped(id)
        [closed] = await h.events(id, e.CallClosed)

        assert StopReason.CANCELLED is session.last_stop.reason
        assert e.Closing.CANCELLED is closed.how
        assert not Path(f"/proc/{pid}").exists()


async def test_a_provider_that_refuses_stops_with_its_class(folder):
    async with house(folder, {"fail": {"status": 401}}) as h:
        session = await h.run()

        assert (StopReason.ERROR, ErrorClass.AUTH) == (
            session.last_stop.reason,
            session.last_stop.error,
        )
        assert 401 == session.last_stop.evidence.status


async def test_a_long_rate_limit_is_not_waited_for(folder):
    async with house(folder, {"fail": {"status": 429, "retry_after": 3600}}, {"text": "x"}) as h:
        session = await h.run()

        assert StopReason.RATE_LIMITED is session.last_stop.reason
        assert session.last_stop.resumes_at - session.last_stop.at > 3_500_000


async def test_a_script_that_is_no_good_says_where(folder):
    house_ = House(folder)
    house_.script.write_text('{"text": "a"}\n{"txt": 1}\n')
    async with house_ as h:
        session = await h.run()

        assert "line 2" in session.last_stop.message


async def test_in_mode_ask_a_question_waits_and_yes_lets_the_call_begin(folder):
    rows = [{"tool_calls": [call("write", path="a", content="x")]}, {"text": "done"}]
    async with house(folder, *rows) as h:
        id = await h.open(mode="ask")
        await h.send(id)
        session = await h.until(id, lambda s: bool(s.decisions))
        assert State.RUNNING is session.state
        assert not (tree(session) / "a").exists()

        answer = i.AnswerDecision(decision=session.decisions[0].id, answer="yes")
        await h.engine.submit(id, answer)
        session = await h.stopped(id)
        assert StopReason.COMPLETED is session.last_stop.reason
        assert (tree(session) / "a").exists()


async def test_a_no_is_told_to_the_model_and_nothing_is_done(folder):
    rows = [{"tool_calls": [call("write", path="a", content="x")]}, {"text": "all right"}]
    async with house(folder, *rows) as h:
        id = await h.open(mode="ask")
        await h.send(id)
        session = await h.until(id, lambda s: bool(s.decisions))
        await h.engine.submit(id, i.AnswerDecision(decision=session.decisions[0].id, answer="no"))
        session = await h.stopped(id)
        [closed] = await h.events(id, e.CallClosed)

        assert e.Closing.DENIED is closed.how
        assert not (tree(session) / "a").exists()


async def test_read_only_means_that(folder):
    rows = [{"tool_calls": [call("write", path="a", content="x"), call("list")]}, {"text": "ok"}]
    async with house(folder, *rows) as h:
        session = await h.run(mode="read-only")

        assert StopReason.COMPLETED is session.last_stop.reason
        assert not (tree(session) / "a").exists()


async def test_a_daemon_that_goes_down_in_order_writes_that_it_did(folder):
    rows = [{"text": "word " * 5_000, "chunk_ms": 20}, {"text": "again"}]
    async with house(folder, *rows) as h:
        id = await h.open()
        await h.send(id)
        await h.until(id, lambda s: "word" in s.response.text)
    async with House(folder) as h:
        session = await h.engine.session(id)
        assert StopReason.INTERRUPTED is session.last_stop.reason
        assert session.last_stop.evidence.daemon_stopping

        await h.engine.submit(id, i.ContinueRun())
        session = await h.until(id, lambda s: s.run is not None)
        assert session.run.briefing.startswith("[SESSION_RESUMED]")
        assert "Your partial response before the interruption" in session.run.briefing


async def test_a_lost_repository_is_said_and_nothing_is_continued(folder):
    async with house(folder, {"fail": {"status": 401}}, {"text": "x"}) as h:
        session = await h.run()
        (tree(session) / ".git").rename(folder / "elsewhere")

        with pytest.raises(Exception, match="Git could not say"):
            await h.engine.submit(session.id, i.ContinueRun())
