"""Limits end an agent's turn; what its program says between the model's words is told apart."""

# spec: B4 B5 E17 B7

from holdfast.core import events as e
from holdfast.core import halt
from holdfast.core import inputs as i
from holdfast.core.budget import Limits
from holdfast.core.quirks import BARE_CALLS, SAME_MINUTE_LOAD, load_not_before
from holdfast.core.session import ErrorClass, StopReason
from tests.agents.acp.rig import YES_NO, rig, text

CALLS = [{"tool": {"id": f"c{n}", "title": "Step"}} for n in range(1, 6)]
HANGS = {"hang": 1}


async def test_too_many_calls_end_the_turn_and_a_continue_has_a_window_of_its_own(tmp_path):
    async with rig(tmp_path, turns=[[*CALLS[:2], HANGS, *CALLS[2:]], text("done")]) as r:
        await r.send(limits=Limits(tool_calls=2))
        stop = (await r.stopped()).last_stop
        assert (StopReason.TOOL_LIMIT, 100) == (stop.reason, stop.percent)
        assert ["c1", "c2"] == [f.call for f in await r.events(e.CallFinished)]
        assert [] == await r.events(e.BudgetWarned)  # one that is used up stops the run at once
        await r.do(i.ContinueRun())
        session = await r.stopped()
        assert StopReason.COMPLETED is session.last_stop.reason
        assert "2 of 2 tool calls" in r.prompts()[-1]


async def test_rounds_are_counted(tmp_path):
    turn = [*text("one"), CALLS[0], *text("two"), CALLS[1], HANGS]
    async with rig(tmp_path, turns=[turn]) as r:
        await r.send(limits=Limits(rounds=2))
        assert StopReason.ROUND_LIMIT is (await r.stopped()).last_stop.reason


async def test_time_is_up_though_it_does_not_listen(tmp_path):
    async with rig(tmp_path, turns=[[*text("so "), {"sleep": 60}]]) as r:
        await r.send(limits=Limits(wall_ms=1500))
        session = await r.stopped()
        assert StopReason.TIME_LIMIT is session.last_stop.reason
        await r.until(lambda s: not s.agent_alive)
        assert ["so "] == await r.said()


async def test_waiting_for_a_person_is_not_the_agents_time(tmp_path):
    ask = {"tool": {"id": "c1", "title": "Push", "ask": YES_NO}}
    async with rig(tmp_path, turns=[[ask, *text("fine")]]) as r:
        await r.send(limits=Limits(wall_ms=800))
        (asked,) = (await r.until(lambda s: s.decisions)).decisions
        later = r.agents._clock.now() + 1500
        await r.until(lambda _: r.agents._clock.now() > later)
        await r.do(i.AnswerDecision(decision=asked.id, answer="yes"))
        assert StopReason.COMPLETED is (await r.stopped()).last_stop.reason


async def test_money_is_counted_while_the_turn_goes_on(tmp_path):
    paid = {"sessionUpdate": "usage_update", "cost": {"amount": 0.3, "currency": "USD"}}
    turn = [*text("a"), {"update": paid}, CALLS[0], HANGS]
    async with rig(tmp_path, turns=[turn]) as r:
        await r.send(limits=Limits(cost_micros=200_000))
        session = await r.stopped()
        assert StopReason.BUDGET_EXCEEDED is session.last_stop.reason
        assert 300_000 == session.totals.cost_micros


async def test_a_turn_that_failed_and_says_that_all_is_well(tmp_path):
    turn = text("Info: Retrying...", "Half.", "Error: 429 Too Many Requests")
    async with rig(tmp_path, turns=[turn]) as r:
        r.habits = {"note": "^Info: ", "failed": "^Error: "}
        stop = (await r.run()).last_stop
        assert (StopReason.RATE_LIMITED, ErrorClass.RATE_LIMITED) == (stop.reason, stop.error)
        assert ["Half."] == await r.said()
        assert ["Info: Retrying..."] == await r.notices()


async def test_an_error_that_it_got_over_is_none(tmp_path):
    turn = [*text("Error: connection lost"), CALLS[0], *text("There.")]
    async with rig(tmp_path, turns=[turn]) as r:
        r.habits = {"failed": "^Error: "}
        assert StopReason.COMPLETED is (await r.run()).last_stop.reason


def test_a_conversation_is_loaded_in_another_minute_than_it_began():
    assert 61_000 == load_not_before({SAME_MINUTE_LOAD}, 59_999)
    assert 121_000 == load_not_before({SAME_MINUTE_LOAD}, 60_000)
    assert 0 == load_not_before({"launcher"}, 59_999)


def retry(message):
    error = {"message": message, "additionalDetails": "connection failed", "willRetry": True}
    return {
        "update": {"sessionUpdate": "session_info_update", "_meta": {"codex": {"error": error}}}
    }


async def test_an_agent_that_tries_again_for_ever_is_not_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr(halt, "RETRYING_MOST", 300)
    turn = [retry("1/5"), retry("1/5"), {"sleep": 0.4}, retry("2/5"), HANGS]
    async with rig(tmp_path, turns=[turn]) as r:
        stop = (await r.run()).last_stop
        assert (StopReason.ERROR, ErrorClass.NETWORK) == (stop.reason, stop.error)
        assert ["1/5 connection failed", "2/5 connection failed"] == await r.notices()


async def test_a_call_that_is_named_before_its_arguments_is_told_when_it_begins(tmp_path):
    named = {"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "bash", "status": "pending"}
    begun = {**named, "sessionUpdate": "tool_call_update", "status": "in_progress"}
    turn = [
        {"update": {**named, "rawInput": {"cwd": "/"}}},
        {"sleep": 0.6},
        {"update": {**begun, "rawInput": {"command": "make", "cwd": "/"}}},
    ]
    async with rig(tmp_path, turns=[turn]) as r:
        r.habits = {"quirks": frozenset({BARE_CALLS})}
        await r.run()
        (observed,) = await r.events(e.CallObserved)
        assert '"make"' in observed.call.arguments


async def test_tokens_are_counted_while_the_turn_goes_on_where_an_agent_says_them(tmp_path):
    used = {"usage": {"inputTokens": 90, "outputTokens": 20}}
    blank = {"type": "text", "text": ""}
    said = {"sessionUpdate": "agent_message_chunk", "content": blank, "_meta": used}
    async with rig(tmp_path, turns=[[*text("a"), {"update": said}, CALLS[0], HANGS]]) as r:
        await r.send(limits=Limits(tokens=100))
        session = await r.stopped()
        assert (StopReason.BUDGET_EXCEEDED, 110) == (
            session.last_stop.reason,
            session.totals.tokens,
        )
