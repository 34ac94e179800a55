"""delegate: a coder with a loop, a memory and a script of its own."""

# spec: B8, B1, B4, B6, B10, C1

from pathlib import Path

from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.budget import Limits
from holdfast.core.compaction import OPENING
from holdfast.core.session import CallStatus, CoderState, Phase, StopReason
from tests.agents.builtin.house import House, call, house

TASK = call("delegate", task="Make a.txt.", context="It holds an A.")
NOTE = call("note", plan="write it", open_tasks=["a.txt"], assumptions=["A is upper case"])
PARENT = [{"text": "Over to you.", "tool_calls": [TASK]}, {"text": "Done."}]
CODER = [
    {"coder": True, "text": "First a plan.", "tool_calls": [NOTE, call("read", path="none")]},
    {
        "coder": True,
        "tool_calls": [call("write", path="a.txt", content="A\n"), call("note", open_tasks=[])],
        "usage": {"input": 30, "output": 10},
    },
    {"coder": True, "text": "a.txt holds an A.", "usage": {"input": 30, "output": 10}},
]


async def test_the_coders_last_words_are_the_calls_result(folder, requests):
    async with house(folder, *PARENT, *CODER) as h:
        session = await h.run()
        [finished] = await h.events(session.id, e.CallFinished)
        notes = await h.events(session.id, e.CoderNoted)

        assert (StopReason.COMPLETED, 2) == (session.last_stop.reason, session.responses)
        assert ("a.txt holds an A.", ("a.txt",)) == (finished.output, finished.files)
        assert "A\n" == (Path(session.workspace.path) / "a.txt").read_text()
        [error] = notes[-1].state.errors
        assert error.startswith("read: ")
        assert (
            CoderState(
                plan="write it",
                files_touched=("a.txt",),
                assumptions=("A is upper case",),
                errors=(error,),
            )
            == notes[-1].state
        )
        assert any("First a plan." in x.text for x in await h.events(session.id, e.Notice))

    coders = [r for r in requests if r.coder]
    assert [0, 1, 2] == [r.finished for r in coders]
    assert "Make a.txt.\n\nIt holds an A." == coders[0].messages[0].text
    offered = {schema.name for schema in coders[0].tools}
    assert {"note", "write", "shell"} <= offered
    assert not offered & {"delegate", "ask_user"}
    parents = [r for r in requests if not r.coder]
    assert [0, 1] == [r.finished for r in parents]
    assert "First a plan." not in str(parents[-1].messages)


async def test_a_long_delegation_is_summarised_and_goes_on(folder, requests):  # spec: B9
    def step(n):
        usage = {"input": 890 if n == 5 else 90, "output": 10}
        calls = [call("read", path="hello.txt")]
        return {"coder": True, "text": f"Step {n}.", "tool_calls": calls, "usage": usage}

    steps = [step(n) for n in range(8)]
    async with house(
        folder, *PARENT, *steps, {"coder": True, "text": "Made."}, context_window=1000
    ) as h:
        session = await h.run()
        [finished] = await h.events(session.id, e.CallFinished)
        assert ("Made.", False) == (finished.output, finished.failed)
        told = [x.text for x in await h.events(session.id, e.Notice)]
        assert 1 == sum("is being summarised" in text for text in told)
        assert [] == await h.events(session.id, e.ConversationCompacted)  # it is the coder's own

    asked = [r for r in requests if r.coder and not r.summary]
    assert list(range(9)) == [r.finished for r in asked]
    assert len(asked[6].messages) < len(asked[5].messages)
    assert asked[6].messages[0].briefing.startswith(OPENING)
    assert "Make a.txt." in asked[6].messages[0].briefing


async def test_each_delegation_begins_its_script_anew(folder):
    rows = [
        {"tool_calls": [TASK]},
        {"tool_calls": [call("delegate", task="Again.")]},
        {"text": "x"},
    ]
    async with house(folder, *rows, {"coder": True, "text": "Mine."}) as h:
        session = await h.run()
        outputs = [x.output for x in await h.events(session.id, e.CallFinished)]

        assert ["Mine.", "Mine."] == outputs


async def test_what_it_spends_is_its_parents(folder):
    async with house(folder, *PARENT, *CODER) as h:
        id = await h.open()
        await h.send(id, limits=Limits(tokens=50))
        session = await h.stopped(id)
        [finished] = await h.events(id, e.CallFinished)

        assert StopReason.BUDGET_EXCEEDED is session.last_stop.reason
        assert 80 == session.totals.tokens  # 50 and what began below it
        assert 1 == len(await h.events(id, e.BudgetWarned))
        assert not finished.failed


async def test_its_calls_count_and_it_stops_at_its_parents_limit(folder):
    async with house(folder, *PARENT, *CODER) as h:
        id = await h.open()
        await h.send(id, limits=Limits(tool_calls=2))
        session = await h.stopped(id)
        [finished] = await h.events(id, e.CallFinished)

        assert StopReason.TOOL_LIMIT is session.last_stop.reason
        assert finished.failed and "The coder stopped: Tool call limit" in finished.output
        assert not (Path(session.workspace.path) / "a.txt").exists()


async def test_a_provider_that_refuses_the_coder_is_told_to_its_parent(folder):
    rows = [*PARENT, {"coder": True, "fail": {"status": 401, "message": "No key."}}]
    async with house(folder, *rows) as h:
        session = await h.run()
        [finished] = await h.events(session.id, e.CallFinished)

        assert StopReason.COMPLETED is session.last_stop.reason
        assert finished.failed and "No key." in finished.output


async def test_a_cancel_ends_the_coder_and_its_processes(folder):
    nap = call("shell", command="echo $$ > .pid; mv .pid pid; sleep 300")
    async with house(folder, *PARENT, {"coder": True, "tool_calls": [nap]}) as h:
        id = await h.open()
        await h.send(id)
        session = await h.until(id, lambda s: (Path(s.workspace.path) / "pid").exists())
        pid = (Path(session.workspace.path) / "pid").read_text().strip()
        assert Phase.DELEGATING_CODER is session.phase
        await h.engine.submit(id, i.CancelRun())
        session = await h.stopped(id)

        assert (StopReason.CANCELLED, Phase.DELEGATING_CODER) == (
            session.last_stop.reason,
            session.last_stop.phase,
        )
        assert [CallStatus.CLOSED] == [c.status for c in session.calls]
        assert not Path(f"/proc/{pid}").exists()


async def test_its_calls_are_asked_about_like_its_parents(folder):
    rows = [*PARENT, {"coder": True, "tool_calls": [call("write", path="b", content="")]}]
    async with house(folder, *rows) as h:
        id = await h.open(mode="ask")
        await h.send(id)
        session = await h.until(id, lambda s: bool(s.decisions))
        assert "Use delegate" in session.decisions[0].text
        await h.engine.submit(id, i.AnswerDecision(decision=session.decisions[0].id, answer="yes"))
        session = await h.until(id, lambda s: any("Use write" in d.text for d in s.decisions))
        await h.engine.submit(id, i.AnswerDecision(decision=session.decisions[0].id, answer="no"))
        session = await h.stopped(id)

        assert not (Path(session.workspace.path) / "b").exists()
        [error] = session.coder.errors
        assert "The user said no" in error


async def test_cut_off_its_call_is_unknown_and_its_notes_are_told(folder):
    nap = {"coder": True, "tool_calls": [NOTE, call("shell", command="touch here; sleep 300")]}
    async with house(folder, *PARENT, nap) as h:
        id = await h.open()
        await h.send(id)
        await h.until(id, lambda s: (Path(s.workspace.path) / "here").exists())
    async with House(folder) as h:
        await h.engine.submit(id, i.ContinueRun())
        session = await h.until(id, lambda s: s.run is None and s.runs == 2)
        briefing = (await h.events(id, e.RunStarted))[-1].briefing
        [closed] = await h.events(id, e.CallClosed)

        assert "cut off during Coder delegation (round 1)" in briefing
        assert "| write it" in briefing and "- a.txt" in briefing
        assert e.Closing.UNKNOWN is closed.how
        assert StopReason.COMPLETED is session.last_stop.reason
