"""The daemon is killed in each phase; resumed, the session carries on and repeats nothing."""

# spec: B8, B9, B11, C1, D1, D6, D7, A4, A7, G2, I2, P1, P4, P9

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from holdfast.client import Client
from holdfast.views.document import SessionOut
from holdfast.wire import Created, EventsOut, NewSession, RunOut
from tests.agents.builtin.house import call, repository

UNTIL_LET_GO = {"pauses": [{"after": 2, "until": "GO"}]}
SLOWLY = {"text": "one two three four five", **UNTIL_LET_GO}
WRITE = call("write", path="a.txt", content="A\n")
NAP = call("shell", command="echo ran >> ledger; sleep 60")
AFTER = {"text": "On with it.", "tool_calls": [call("write", path="b.txt", content="B\n")]}
END = {"text": "Done."}


class Machine:
    """A state folder and whatever daemon it has."""

    def __init__(self, folder: Path) -> None:
        folder.chmod(0o700)
        self.folder, self.home = folder, folder / "home"
        self.client = Client(self.home)
        repository(folder / "repo")

    def hold(self, *args: str, ok: bool = True) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "HOLDFAST_HOME": str(self.home)}
        command = [sys.executable, "-m", "holdfast", *args]
        done = subprocess.run(
            command,
            env=env,
            cwd=self.folder / "repo",
            capture_output=True,
            text=True,
            timeout=90,
            check=False,
        )
        assert not ok or done.returncode == 0, (args, done.stdout, done.stderr)
        return done

    def begin(self, *rows: dict, mode: str = "full") -> str:
        script = self.folder / "script.jsonl"
        text = "".join(f"{json.dumps(row)}\n" for row in rows)
        script.write_text(text.replace('"GO"', json.dumps(str(self.folder / "go"))))
        self.hold("up", "--no-open", "--port", "0")
        wanted = NewSession(
            folder=str(self.folder / "repo"), prompt="go", model=f"scripted:{script}", mode=mode
        )
        return self.client.post("/api/sessions", wanted, Created).id

    def let_go(self) -> None:
        (self.folder / "go").touch()

    def kill(self) -> None:
        pid = json.loads((self.home / "daemon.json").read_text())["pid"]
        os.kill(pid, signal.SIGKILL)
        self.until(lambda: not self.client.answers())

    def session(self, id: str) -> SessionOut:
        return self.client.get(f"/api/sessions/{id}", SessionOut)

    def events(self, id: str):
        return self.client.get(f"/api/sessions/{id}/events?after=0", EventsOut).events

    def until(self, true, seconds: float = 60):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            found = true()
            if found:
                return found
            time.sleep(0.01)
        raise AssertionError("it never came to that")


@pytest.fixture
def machine(tmp_path):
    made = Machine(tmp_path)
    yield made
    made.hold("down", ok=False)


def streaming(machine: Machine, id: str) -> bool:
    """Text that is being streamed has no place in history yet; the checkpoint has it."""
    where = machine.client.get(f"/api/sessions/{id}/checkpoint", dict)
    return bool((where.get("checkpoint") or where).get("accumulated"))


def napping(machine: Machine, id: str) -> bool:
    return (Path(machine.session(id).workspace.path) / "ledger").exists()


def asked(machine: Machine, id: str) -> bool:
    return bool(machine.session(id).pending)


ASK = call("ask_user", question="Which colour?", options=["red", "green"])
DELEGATE = call("delegate", task="Have a nap.")
NOTE = call("note", plan="sleep on it", open_tasks=["wake up"])
PHASES = {
    "streaming_llm": (
        ({**SLOWLY, "tool_calls": AFTER["tool_calls"]}, END),  # asked for again: it never ended
        "full",
        streaming,
        "cut off while you were generating a response",
    ),
    "executing_tools": (
        ({"text": "Two things.", "tool_calls": [WRITE, NAP]}, AFTER, END),
        "full",
        napping,
        "cut off while executing tool calls",
    ),
    "delegating_coder": (
        (
            {"text": "You do it.", "tool_calls": [DELEGATE]},
            AFTER,
            END,
            {"coder": True, "tool_calls": [NOTE, NAP]},
        ),
        "full",
        napping,
        "cut off during Coder delegation (round 1).\nLast known Coder state:\n- plan:\n  | sleep on it",
    ),
    "asking": (
        ({"text": "May I?", "tool_calls": [WRITE]}, AFTER, END),
        "ask",
        asked,
        "cut off while executing tool calls",
    ),
    "question": (
        ({"text": "One thing.", "tool_calls": [ASK]}, AFTER, END),
        "full",
        asked,
        "Waiting for the user's answer:\n- ask_user",
    ),
}


@pytest.mark.parametrize("phase", PHASES)
def test_killed_in_each_phase_it_carries_on_and_repeats_nothing(machine, phase):
    script, mode, reached, words = PHASES[phase]
    id = machine.begin(*script, mode=mode)
    machine.until(lambda: reached(machine, id))
    before = machine.events(id)

    machine.kill()
    machine.let_go()
    machine.hold("up", "--no-open", "--port", "0")
    stopped = machine.session(id)

    assert "interrupted" == stopped.stop.reason
    assert list(before) == list(machine.events(id))[: len(before)]
    assert len(machine.session(id).pending) == (1 if phase in ("asking", "question") else 0)

    told = machine.hold("resume", id, "--plan").stdout
    assert words in told
    if phase == "asking":
        machine.hold("decide", id, "yes")
    machine.client.post(f"/api/sessions/{id}/resume", {}, RunOut)
    if mode == "ask":
        machine.until(lambda: asked(machine, id))
        machine.hold("decide", id, "yes")
    if phase == "question":  # it is still the same one, and is not asked again
        assert stopped.pending == machine.session(id).pending
        machine.hold("decide", id, "2")
    over = machine.until(lambda: (s := machine.session(id)).run is None and s)

    assert "completed" == over.last_stop.reason
    after = machine.events(id)
    begun = Counter(
        (e.data["call"], e.data.get("attempt", 1)) for e in after if e.type == "call_intended"
    )
    assert set() == {key for key, times in begun.items() if times > 1}
    assert [e.seq for e in after] == list(range(1, len(after) + 1))
    assert "B\n" == (Path(over.workspace.path) / "b.txt").read_text()
    if phase == "question":
        assert ["green"] == [x.data["answer"] for x in after if x.type == "decision_answered"]
    if phase in ("executing_tools", "delegating_coder"):
        assert "ran\n" == (Path(over.workspace.path) / "ledger").read_text()


def test_two_resumes_at_once_start_one_run(machine):
    id = machine.begin(SLOWLY, SLOWLY, END)
    machine.until(lambda: streaming(machine, id))
    machine.kill()
    machine.hold("up", "--no-open", "--port", "0")

    with ThreadPoolExecutor(2) as pool:
        resume = lambda _: machine.client.post(f"/api/sessions/{id}/resume", {}, RunOut)  # noqa: E731
        answers = list(pool.map(resume, range(2)))

    assert 1 == len({a.run for a in answers})
    assert 1 == sum(a.already_running for a in answers)
    assert 2 == machine.session(id).run


def test_killed_while_the_past_is_summarised_it_is_done_again_and_nothing_is_lost(
    machine, monkeypatch
):
    monkeypatch.setenv("HOLDFAST_CONTEXT_WINDOW", "1000")
    step = {"text": "Step.", "tool_calls": [WRITE], "usage": {"input": 100}}
    full = {**step, "usage": {"input": 900}}
    id = machine.begin(
        step, step, step, full, {"tool_calls": AFTER["tool_calls"], **UNTIL_LET_GO}, END
    )
    notices = lambda: [x for x in machine.events(id) if x.data.get("kind") == "compacting"]  # noqa: E731
    machine.until(notices)
    machine.kill()
    machine.let_go()
    machine.hold("up", "--no-open", "--port", "0")

    kinds = [x.type for x in machine.events(id)]
    assert "interrupted" == machine.session(id).stop.reason
    assert "conversation_compacted" not in kinds
    assert 4 == kinds.count("call_finished")

    machine.client.post(f"/api/sessions/{id}/resume", {}, RunOut)
    over = machine.until(lambda: (s := machine.session(id)).run is None and s)
    kinds = [x.type for x in machine.events(id)]
    assert "completed" == over.last_stop.reason
    assert (1, 6, 5) == tuple(
        map(kinds.count, ("conversation_compacted", "response_finished", "call_intended"))
    )
    assert "B\n" == (Path(over.workspace.path) / "b.txt").read_text()
