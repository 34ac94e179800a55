"""`hold agent resume`: dead agents come back, idle, by our id or by theirs; no run begins."""

# spec: I1, E4, E8, G5, G6, J1

import json
import sys
from itertools import pairwise

import pytest

from holdfast.client import ApiError
from holdfast.wire import BulkOut
from tests.agents.acp.rig import text
from tests.agents.machine import Machine
from tests.agents.oneshot.test_oneshot import CONFIG, LONG

RUNNING = "agent is running (use --kill)"
HANG = [*text("Half of "), {"hang": 1}]


class Both(Machine):
    """An agent that speaks ACP, and one with a process for each turn."""

    def __init__(self, folder, *turns, oneshot=()):
        self.script, self.memory = folder / "script.json", folder / "memory"
        self.write(turns=list(turns))
        lines = folder / "turns.jsonl"
        lines.write_text("".join(json.dumps(turn) + "\n" for turn in oneshot))
        command = [sys.executable, "-m", "holdfast.testing.acp_agent", str(self.script)]
        environ = {"ONESHOT_HOME": str(self.memory), "ONESHOT_SCRIPT": str(lines)}
        super().__init__(folder, environ, f"[agents.mine]\nacp = {json.dumps(command)}\n{CONFIG}")

    def write(self, **rows):
        self.script.write_text(json.dumps(rows))

    def acp(self, prompt="go"):
        return self.begin("mine", prompt, via="acp", mode="edits")

    def bring_back(self, *args, ok=True):
        done = self.hold("agent", "resume", *args, "--json", ok=ok)
        return json.loads(done.stdout)

    def asked(self, method):
        rows = (self.folder / "script.json.store" / "asked").read_text().splitlines()
        return [row for row in map(json.loads, rows) if row["method"] == method]

    def restart(self):
        self.kill()
        self.up()


def test_a_dead_agent_comes_back_idle_by_our_id_or_its_own(tmp_path):
    with Both(tmp_path, text("one"), text("two")) as machine:
        id = machine.acp()
        token = machine.stopped(id).agent_session_id
        for given in (id[:6], token):
            machine.restart()
            assert machine.bring_back(given) == {"resumed": [id], "skipped": []}
            assert machine.status(id)["reason"] == "running"
        assert len(machine.carriers(id)) == 1
        assert (machine.runs(id), machine.session(id).state) == (1, "WAITING_FOR_INPUT")
        assert [token] * 2 == [r["params"]["sessionId"] for r in machine.asked("session/resume")]
        assert machine.send(id, "more").last_stop.reason == "completed"
        assert machine.said(id) == "onetwo"


def test_a_living_one_is_left_alone_unless_it_is_to_be_killed(tmp_path):
    with Both(tmp_path, HANG, text("on")) as machine:
        id = machine.acp()
        machine.until(lambda: machine.saying(id))
        (before,) = {row["pid"] for row in machine.asked("initialize")}
        done = machine.hold("agent", "resume", id, ok=False)
        assert (done.returncode, done.stdout.splitlines()[0]) == (1, f"Skipped {id}: {RUNNING}")
        assert machine.bring_back(id, "--kill") == {"resumed": [id], "skipped": []}
        session = machine.session(id)
        assert (session.last_stop.reason, session.run) == ("cancelled", None)
        assert (machine.runs(id), len(machine.carriers(id))) == (1, 1)
        pids = [row["pid"] for row in machine.asked("initialize")]
        assert len(set(pids)) == 2 and pids[0] == before
        assert machine.resumed(id).last_stop.reason == "completed"


def test_a_one_shot_agent_is_looked_up_and_nothing_starts(tmp_path):
    slow = {"text": LONG, "chunk_ms": 50}
    with Both(tmp_path, oneshot=({"text": "a"}, {"text": "b"}, slow)) as machine:
        first, second = machine.run("fake", "go"), machine.run("fake", "go")
        transcripts = machine.memory / "projects" / "fake"
        (transcripts / f"{second.agent_session_id}.jsonl").unlink()
        assert machine.bring_back(first.agent_session_id[:8])["resumed"] == [first.id]
        gone = machine.bring_back(second.id, ok=False)
        assert "record of the conversation is gone" in gone["skipped"][0]["reason"]
        assert (machine.memory / "turns").read_text().count("x") == 2
        third = machine.begin("fake", "at length")
        machine.until(lambda: machine.saying(third))
        assert machine.bring_back("--all", "--kill")["resumed"] == [third, first.id]
        assert machine.session(third).last_stop.reason == "cancelled"
        assert machine.carriers(third) == []


def test_all_of_them_a_few_at_a_time_with_reasons_for_the_others(tmp_path):
    with Both(tmp_path, text("x"), text("y")) as machine:
        ids = [machine.acp() for _ in range(6)]
        for id in ids:
            machine.stopped(id)
        closed, archived, *rest = ids
        machine.client.post(f"/api/sessions/{closed}/close", {}, dict)
        machine.client.post(f"/api/sessions/{archived}/archive", {"archived": True}, dict)
        machine.restart()
        machine.send(rest[0], "more")
        found = machine.bring_back("--all")
        assert sorted(found["resumed"]) == sorted(rest[1:])
        reasons = {row["id"]: row["reason"] for row in found["skipped"]}
        assert reasons == {
            closed: "it is COMPLETED",
            archived: "it is archived",
            rest[0]: RUNNING,
        }
        assert all(machine.runs(id) == 1 for id in rest[1:])


def test_one_that_does_not_come_up_is_skipped_with_its_own_words(tmp_path):
    with Both(tmp_path, text("x")) as machine:
        id = machine.acp()
        machine.stopped(id)
        machine.kill()
        machine.script.write_text("{ not a script")  # it ends with a complaint
        machine.up()
        found = machine.bring_back(id, ok=False)
        assert found["resumed"] == [] and found["skipped"][0]["reason"]
        assert machine.session(id).state == "WAITING_FOR_INPUT"


def test_what_is_asked_for_wrongly_is_told_what_to_do(tmp_path):
    with Both(tmp_path) as machine:
        done = machine.hold("agent", "resume", ok=False)
        assert done.returncode == 2
        assert "Either provide an agent ID or use --all" in done.stderr
        assert machine.hold("agent", "resume", "x", "--all", ok=False).returncode == 2
        assert machine.hold("agent", "resume", "nobody", ok=False).returncode == 3
        with pytest.raises(ApiError, match="Either provide an agent ID or use --all"):
            machine.client.post("/api/agents/resume", {}, BulkOut)
        nothing = {"resumed": [], "skipped": []}
        assert machine.bring_back("--all") == nothing


def test_many_runs_are_continued_a_little_apart(tmp_path):
    crash = {"text": "x", "crash_at": 2}
    turns = [*[crash] * 8, *[{"text": "y"}] * 8]
    with Both(tmp_path, oneshot=turns) as machine:
        ids = [machine.run("fake", "go").id for _ in range(8)]
        done = json.loads(machine.hold("resume", "--all", "--json").stdout)
        assert sorted(done["resumed"]) == sorted(ids)
        stops = [machine.stopped(id, 2).last_stop.reason for id in ids]
        assert stops == ["completed"] * 8
        begun = sorted(machine.events(id, "run_started")[1].at for id in ids)
        assert any(a != b for a, b in pairwise(begun))
