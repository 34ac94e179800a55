"""Waiting, warning, giving up: the loop under fake time."""

# spec: B3, B4, B7, B11

import time

import pytest

from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.budget import Limits
from holdfast.core.resume import may_continue_by_itself
from holdfast.core.session import ErrorClass, StopReason
from holdfast.testing.clock import FakeClock
from tests.agents.builtin.house import call, house


async def waiting(h, id):
    """The notice of a retry that is being waited for."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found = [x for x in await h.events(id, e.Notice) if x.kind == "retry"]
        if found:
            return found[-1]
        await h.until(id, lambda s: s.run is not None)
    raise AssertionError("nobody waits")


@pytest.mark.parametrize(
    ("fail", "least"),
    [
        ({"status": 429, "retry_after": 30}, 30_000),
        ({"status": 429, "retry_after": 1}, 5_000),
        ({"status": 529}, 5_000),
        ({"status": 408}, 5_000),
    ],
    ids=["rate limit", "short rate limit", "overloaded", "network"],
)
async def test_a_short_trouble_is_waited_for_with_a_countdown_and_tried_again(folder, fail, least):
    clock = FakeClock()
    async with house(folder, {"fail": fail, "text": "There."}, clock=clock) as h:
        id = await h.open()
        await h.send(id)
        notice = await waiting(h, id)
        wait = notice.until - clock.now()
        assert least <= wait <= least * 1.2
        assert "Trying again in" in notice.text
        assert 0 == (await h.engine.session(id)).responses

        await clock.advance(wait)
        session = await h.stopped(id)
        assert (StopReason.COMPLETED, 1) == (session.last_stop.reason, session.responses)


async def test_the_wait_can_be_cancelled(folder):
    async with house(folder, {"fail": {"status": 529}}, clock=FakeClock()) as h:
        id = await h.open()
        await h.send(id)
        await waiting(h, id)
        await h.engine.submit(id, i.CancelRun())
        session = await h.stopped(id)

        assert StopReason.CANCELLED is session.last_stop.reason


async def test_after_five_tries_it_is_given_up(folder):
    clock = FakeClock()
    async with house(folder, {"fail": {"status": 529, "times": 99}}, clock=clock) as h:
        id = await h.open()
        await h.send(id)
        deadline = time.monotonic() + 60
        while (await h.engine.session(id)).last_stop is None and time.monotonic() < deadline:
            await clock.advance(1_000)
        session = await h.stopped(id)

        assert (StopReason.ERROR, ErrorClass.OVERLOADED) == (
            session.last_stop.reason,
            session.last_stop.error,
        )
        assert 5 == sum(x.kind == "retry" for x in await h.events(id, e.Notice))


async def test_the_wall_clock_stands_still_while_a_question_is_open(folder):
    clock = FakeClock()
    rows = [{"tool_calls": [call("ask_user", question="Well?")]}, {"text": "Done."}]
    async with house(folder, *rows, clock=clock) as h:
        id = await h.open()
        await h.send(id, limits=Limits(wall_ms=60_000))
        session = await h.until(id, lambda s: bool(s.decisions))
        await clock.advance(10 * 60_000)
        answer = i.AnswerDecision(decision=session.decisions[0].id, answer="Yes.")
        await h.engine.submit(id, answer)
        session = await h.stopped(id)

        assert StopReason.COMPLETED is session.last_stop.reason


async def test_it_runs_on_while_a_provider_is_waited_for(folder):
    clock = FakeClock()
    row = {"fail": {"status": 529}, "tool_calls": [call("list")]}
    async with house(folder, row, {"text": "x"}, clock=clock) as h:
        id = await h.open()
        await h.send(id, limits=Limits(wall_ms=3_000))
        notice = await waiting(h, id)
        await clock.advance(notice.until - clock.now())
        session = await h.stopped(id)

        assert StopReason.TIME_LIMIT is session.last_stop.reason


async def test_it_warns_once_at_eighty_percent(folder):
    rows = [{"tool_calls": [call("list")]} for _ in range(5)]
    async with house(folder, *rows) as h:
        id = await h.open()
        await h.send(id, limits=Limits(tool_calls=5))
        await h.stopped(id)
        [warned] = await h.events(id, e.BudgetWarned)

        assert ("tool_calls", 80) == (warned.limit, warned.percent)


async def test_the_same_error_three_runs_in_a_row_is_not_continued_by_itself(folder):
    async with house(folder, {"fail": {"status": 401, "times": 99}}) as h:
        session = await h.run()
        assert may_continue_by_itself(session) is None
        for number in (2, 3):
            await h.engine.submit(session.id, i.ContinueRun())
            session = await h.until(session.id, lambda s, n=number: s.run is None and s.runs == n)

        assert "the same error three times" in may_continue_by_itself(session)


async def test_ten_megabytes_and_bytes_that_are_no_text_are_results_like_others(folder):
    rows = [
        {"tool_calls": [call("shell", command="head -c 10000000 /dev/zero | tr '\\0' x")]},
        {"tool_calls": [call("shell", command="printf '\\377\\376\\000\\001bin'")]},
        {"text": "Done."},
    ]
    async with house(folder, *rows) as h:
        session = await h.run()
        large, binary = await h.events(session.id, e.CallFinished)

        assert StopReason.COMPLETED is session.last_stop.reason
        assert not large.failed and 1000 < len(large.output) < 100_000
        assert not binary.failed and "bin" in binary.output
        binary.output.encode()  # no half of a letter is left in it
