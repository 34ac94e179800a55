"""A whole turn with a real process: what it says, what it asks, how it is stopped."""

# spec: E11, C3, B6, B11, E17, D8

import pytest

from holdfast.agents.acp.profile import Waits
from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.conversation import build
from holdfast.core.errors import Refused
from holdfast.core.session import ErrorClass, LaunchStatus, Phase, State, StopReason
from tests.agents.acp.rig import ID, WAITS, YES_NO, rig, text

WORK = [
    {"think": "Hm."},
    *text("I ", "look."),
    {"tool": {"id": "c1", "title": "Read a.py", "kind": "read", "input": {"path": "a.py"}}},
    {"tool": {"id": "c2", "title": "Run tests", "output": "1 failed", "failed": True}},
    {"update": {"sessionUpdate": "plan", "entries": [{"content": "fix", "status": "completed"}]}},
    *text("Done."),
]


async def test_a_turn_is_written_down_in_the_journals_own_words(tmp_path):
    async with rig(tmp_path, turns=[WORK]) as r:
        session = await r.run("make it green")
        assert (StopReason.COMPLETED, State.WAITING_FOR_INPUT) == (
            session.last_stop.reason,
            session.state,
        )
        kept = await r.events(e.RoundEvent)
        assert [
            e.RoundStarted(round=1),
            e.ThinkingSaved(round=1, text="Hm."),
            e.TextSaved(round=1, text="I look.", part=1),
            e.ResponseFinished(round=1),
        ] == kept[:4]
        calls = {c.call.id: c.call for c in kept if isinstance(c, e.CallObserved)}
        assert ("Read a.py", '{"path": "a.py"}') == (calls["c1"].name, calls["c1"].arguments)
        assert [("c1", False), ("c2", True)] == [
            (f.call, f.failed)
            for f in kept
            if isinstance(f, e.CallFinished) and not f.call.startswith("plan")
        ]
        assert ["I look.", "Done."] == await r.said()
        assert ["make it green"] == r.prompts()
        plan = next(c for id, c in calls.items() if id.startswith("plan"))
        assert '{"items":[{"text":"fix","state":"done"}]}' == plan.arguments


async def test_what_the_list_counts_is_what_was_said(tmp_path):
    async with rig(tmp_path, turns=[WORK, text("More.")]) as r:
        await r.run()
        session = await r.run()
        assert len(build(await r.events()).messages()) == session.messages
        assert (20, 10) == (session.totals.input_tokens, session.totals.output_tokens)


async def test_it_stays_up_and_the_next_prompt_goes_to_the_same_process(tmp_path):
    async with rig(tmp_path, turns=[text("one"), text("two")]) as r:
        first = await r.run()
        assert LaunchStatus.READY is first.launch.status
        session = await r.run()
        assert (1, 1) == (session.launches, len(r.pids()))
        assert ["one", "two"] == await r.said()


@pytest.mark.parametrize("says", ["cancelled", "end_turn"])  # OpenCode: whether or not
async def test_words_are_saved_while_they_come(tmp_path, says):
    turns = [[*text("half a "), {"hang": 1}]]
    async with rig(tmp_path, turns=turns, says_when_cancelled=says) as r:
        await r.send()
        saved = await r.until_event(e.TextSaved)
        assert "half a " == saved[0].text
        assert Phase.STREAMING_LLM is (await r.engine.session(ID)).phase
        await r.do(i.CancelRun())
        session = await r.stopped()
        assert StopReason.CANCELLED is session.last_stop.reason
        assert ["half a "] == await r.said()  # kept, though it was cut off
        assert session.agent_alive and 1 == session.launches


async def test_one_that_does_not_end_its_turn_is_ended(tmp_path):
    async with rig(tmp_path, turns=[[{"hang": 1}]], ignores_cancel=True, ignores_term=True) as r:
        await r.send()
        await r.until(lambda s: s.run and s.run.delivered)
        await r.do(i.CancelRun())
        session = await r.stopped()
        assert StopReason.CANCELLED is session.last_stop.reason
        assert not session.agent_alive


async def test_a_question_waits_for_its_answer(tmp_path):
    ask = {"tool": {"id": "c1", "title": "Push", "ask": YES_NO, "output": "pushed"}}
    async with rig(tmp_path, turns=[[ask], [ask]]) as r:
        await r.send()
        session = await r.until(lambda s: s.decisions)
        (question,) = session.decisions
        assert ("Push", ("yes", "no"), "c1", 1) == (
            question.text,
            question.options,
            question.call,
            question.launch,
        )
        await r.do(i.AnswerDecision(decision=question.id, answer="yes"))
        await r.stopped()
        await r.send()
        again = (await r.until(lambda s: s.decisions)).decisions[0]
        await r.do(i.AnswerDecision(decision=again.id, answer="no"))
        await r.stopped()
        results = [f.output for f in await r.events(e.CallFinished)]
        assert ["pushed", "not allowed"] == results


async def test_nobody_is_asked_where_the_mode_has_the_answer(tmp_path):
    ask = {"tool": {"id": "c1", "title": "Push", "ask": YES_NO, "output": "pushed"}}
    async with rig(tmp_path, mode="full", turns=[[ask]]) as r:
        await r.run()
        assert ["pushed"] == [f.output for f in await r.events(e.CallFinished)]
        assert [] == await r.events(e.DecisionAsked)


async def test_read_only_denies_what_is_asked(tmp_path):
    ask = {"tool": {"id": "c1", "title": "Push", "ask": YES_NO, "output": "pushed"}}
    async with rig(tmp_path, mode="read-only", modes=["plan"], turns=[[ask]]) as r:
        await r.run()
        assert ["not allowed"] == [f.output for f in await r.events(e.CallFinished)]
        assert ["Denied by mode 'read-only': Push"] == await r.notices()


async def test_a_cancelled_turn_takes_its_question_back(tmp_path):
    ask = {"tool": {"id": "c1", "title": "Push", "ask": YES_NO}}
    async with rig(tmp_path, turns=[[ask]]) as r:
        await r.send()
        await r.until(lambda s: s.decisions)
        await r.do(i.CancelRun())
        session = await r.stopped()
        assert () == session.decisions and StopReason.CANCELLED is session.last_stop.reason


async def test_a_question_of_a_dead_process_cannot_be_answered(tmp_path):
    die = {"tool": {"id": "c1", "title": "Push", "ask": YES_NO}}
    async with rig(tmp_path, turns=[[die]]) as r:
        await r.send()
        question = (await r.until(lambda s: s.decisions)).decisions[0]
        for process in list(r.agents._peers.values()):
            process._process._process.kill()
        session = await r.stopped()
        assert () == session.decisions
        with pytest.raises(Refused, match="answered or withdrawn"):
            await r.do(i.AnswerDecision(decision=question.id, answer="yes"))


@pytest.mark.parametrize(
    ("stop", "reason", "error"),
    [
        ("end_turn", StopReason.COMPLETED, None),
        ("max_tokens", StopReason.ERROR, ErrorClass.CONTEXT_OVERFLOW),
        ("max_turn_requests", StopReason.ROUND_LIMIT, None),
        ("refusal", StopReason.ERROR, ErrorClass.REFUSAL),
        ("cancelled", StopReason.INTERRUPTED, None),  # nobody had asked for it
        ("a_word_of_the_future", StopReason.COMPLETED, None),
    ],
)
async def test_how_a_turn_ends(tmp_path, stop, reason, error):
    async with rig(tmp_path, turns=[[*text("x"), {"stop": stop}]]) as r:
        session = await r.run()
        assert (reason, error) == (session.last_stop.reason, session.last_stop.error)


async def test_an_error_of_a_turn_has_a_class_and_a_time(tmp_path):
    fail = [-32603, "Internal error: usage limit reached, try again in 30 minutes"]
    async with rig(tmp_path, turns=[[*text("x"), {"fail": fail}]]) as r:
        session = await r.run()
        stop = session.last_stop
        assert (StopReason.RATE_LIMITED, ErrorClass.RATE_LIMITED) == (stop.reason, stop.error)
        assert 29 * 60_000 < stop.resumes_at - stop.at <= 30 * 60_000
        assert session.agent_alive


async def test_silence_is_told_once_and_kills_nobody(tmp_path):
    waits = Waits(ready=60, cancel=1, quiet=0.3, replay=0.1)
    async with rig(tmp_path, waits=waits, turns=[[*text("x"), {"hang": 1}]]) as r:
        await r.send()
        (notice,) = await r.until_event(e.Notice)
        assert "quiet" == notice.kind and "You can cancel it" in notice.text
        assert (await r.until(lambda s: s.run)).agent_alive


async def test_what_is_said_after_the_turn_is_not_lost(tmp_path):
    late = {"method": "session/update", "params": {"sessionId": "s1", "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "PS"}}}}  # fmt: skip
    async with rig(tmp_path, turns=[text("x")], afterwards=late) as r:
        await r.run()
        (notice,) = await r.until_event(e.Notice)
        assert ("late_words", "PS") == (notice.kind, notice.text)


async def test_ten_thousand_updates_become_few_events(tmp_path):
    async with rig(tmp_path, waits=WAITS, turns=[[{"flood": 10_000}]]) as r:
        await r.run()
        assert ["x" * 500_000] == await r.said()
        assert len(await r.events(e.TextSaved)) <= 260
