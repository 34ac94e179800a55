"""Real agents, against a scripted model on loopback: what the model was told is read from its log."""

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.agents.machine import Machine

# spec: E2 E3 E4 E5 E6 E8 E11 E12 E17 D6 D7 A7

REAL = "HOLDFAST_REAL_AGENTS"  # set by `make agents`
LONG = "".join(f"word {n} " for n in range(200))  # not twice the same: Gemini would stop a loop
pytestmark = [pytest.mark.real, pytest.mark.timeout(240)]


def claude(url, folder):
    return {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "none",
        "CLAUDE_CONFIG_DIR": str(folder / "claude"),
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "IS_SANDBOX": "1",  # it refuses to work for root otherwise
        # Else the model is also asked what the user might say next.
        "CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION": "false",
    }


def gemini(url, folder):
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False, "sessionRetention": {"enabled": False}},
        "model": {"name": "gemini-2.5-pro"},  # else each turn begins with a question of its own
    }
    (folder / ".gemini").mkdir()
    (folder / ".gemini" / "settings.json").write_text(json.dumps(settings))
    return {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": url}


def copilot(url, folder):
    return {
        "COPILOT_OFFLINE": "true",
        "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
        "COPILOT_PROVIDER_TYPE": "openai",
        "COPILOT_PROVIDER_API_KEY": "none",
        "COPILOT_MODEL": "scripted",
    }


def codex(url, folder):
    (folder / "codex").mkdir()
    (folder / "codex" / "config.toml").write_text(
        'model_provider = "fake"\nmodel = "scripted"\ncheck_for_update_on_startup = false\n'
        f'[model_providers.fake]\nname = "fake"\nbase_url = "{url}/v1"\nwire_api = "responses"\n'
        "[analytics]\nenabled = false\n"
    )
    return {"CODEX_HOME": str(folder / "codex")}


def opencode(url, folder):
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "fake",
        "options": {"baseURL": f"{url}/v1", "apiKey": "none"},
        "models": {"scripted": {"name": "scripted"}},
    }
    config = {"model": "fake/scripted", "autoupdate": False, "share": "disabled"}
    place = folder / ".config" / "opencode"
    place.mkdir(parents=True)
    (place / "opencode.json").write_text(json.dumps({**config, "provider": {"fake": provider}}))
    return {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"}


def qwen(url, folder):
    (folder / ".qwen").mkdir()
    # Else the model is also asked what the user might say next, and what is worth remembering.
    aside = {"enableFollowupSuggestions": False, "enableManagedAutoMemory": False}
    settings = {"security": {"auth": {"selectedType": "openai"}}, "ui": aside, "memory": aside}
    (folder / ".qwen" / "settings.json").write_text(json.dumps(settings))
    return {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": f"{url}/v1", "OPENAI_MODEL": "scripted"}


AGENTS = {
    "claude": claude,
    "gemini": gemini,
    "copilot": copilot,
    "codex": codex,
    "opencode": opencode,
    "qwen": qwen,
}
SHELLS = {
    "claude": "Bash",
    "gemini": "run_shell_command",
    "copilot": "bash",
    "codex": "exec_command",
    "opencode": "bash",
    "qwen": "run_shell_command",
}


def shell(agent, command):
    key = "cmd" if agent == "codex" else "command"
    given = {key: command} if agent == "codex" else {key: command, "description": "a test"}
    return [{"name": SHELLS[agent], "input": given}]


# They say a text, or a call, only when it is whole.
LATE_TEXT, LATE_CALLS = {"codex", "opencode"}, {"opencode"}
# They try again by themselves, for minutes or for ever.
PATIENT_WHEN_LIMITED = {"gemini", "qwen"}
PATIENT_WHEN_DOWN = {"gemini", "codex", "opencode", "qwen"}


def forget(agent, folder, token):
    """The agent's own record of that conversation is gone."""
    if agent == "opencode":
        with contextlib.closing(
            sqlite3.connect(folder / ".local" / "share" / "opencode" / "opencode.db")
        ) as db:
            db.execute("DELETE FROM session WHERE id = ?", (token,))
            db.commit()
        return
    mark = token[:8] if agent == "gemini" else token
    for found in list(folder.rglob(f"*{mark}*")):
        if found.is_dir():
            shutil.rmtree(found)
        else:
            found.unlink(missing_ok=True)


def cancelled_in_its_patience(machine, id):
    """It goes on trying by itself: that can be seen, and ended, and then nothing is left."""
    machine.until(lambda: machine.events(id, "notice"), 120)
    assert machine.session(id).state == "RUNNING"
    machine.client.post(f"/api/sessions/{id}/cancel", {}, dict)
    assert machine.stopped(id).last_stop.reason == "cancelled"
    machine.hold("down")  # over ACP it is still there, for the next prompt
    machine.until(lambda: machine.carriers(id) == [])
    return "it tries again by itself for minutes; that is said, and a cancel ends it"


class Model:
    """The scripted model server, as a program of its own."""

    def __init__(self, folder, *replies):
        self.script, self.log = folder / "replies.jsonl", folder / "requests.jsonl"
        self.script.write_text("".join(json.dumps(reply) + "\n" for reply in replies))

    def __enter__(self):
        command = [sys.executable, "-m", "holdfast.testing.model_server", "--only-with-tools"]
        command += ["--script", str(self.script), "--log", str(self.log)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate()

    @property
    def asked(self):
        lines = self.log.read_text().splitlines(keepends=True) if self.log.exists() else []
        requests = [json.loads(line) for line in lines if line.endswith("\n")]  # whole ones
        return [r for r in requests if r.get("asked") and r["asked"].get("tools")]

    def told(self, n=-1):
        """Everything that the model was told in request n, as text."""
        body = self.asked[n]["body"]
        return json.dumps(body.get("messages") or body.get("input") or body.get("contents"))


@pytest.fixture
def place(agent, tmp_path, request):
    """Makes a machine with that agent, talking to that model."""
    if not os.environ.get(REAL):
        pytest.skip("run by make agents")
    program = shutil.which(agent)
    if program is None:
        pytest.skip(f"{agent} is not installed")
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    request.node.version = re.search(r"\d+\.\d+(\.\d+)?", said.stdout)[0]

    def make(url):
        return Machine(tmp_path, AGENTS[agent](url, tmp_path), "quiet_after = 15\n")

    return make


each_agent = pytest.mark.parametrize("agent", AGENTS)


@each_agent
def test_first_run_and_resume_with_history(agent, place, tmp_path):
    replies = ({"text": "The number is forty-two."}, {"text": "As I said."})
    with Model(tmp_path, *replies) as model, place(model.url) as machine:
        first = machine.run(agent, "Say the number ALPHA.")
        assert first.last_stop.reason == "completed", first.last_stop
        assert machine.said(first.id) == "The number is forty-two."
        second = machine.send(first.id, "Again, BETA.")
        assert second.last_stop.reason == "completed"
        assert second.agent_session_id == first.agent_session_id
        told = model.told()
        assert told.count("Say the number ALPHA.") == 1
        assert "forty-two" in told and "Again, BETA." in told
        assert machine.carriers(first.id) == []


@each_agent
def test_a_tool_runs_and_its_result_is_journaled(agent, place, tmp_path):
    replies = (
        {"text": "Running.", "tool_calls": shell(agent, "echo made > made.txt; echo seen")},
        {"text": "Ran."},
    )
    with Model(tmp_path, *replies) as model, place(model.url) as machine:
        done = machine.run(agent, "Run it.")
        assert done.last_stop.reason == "completed", done.last_stop
        (result,) = machine.events(done.id, "call_finished")
        assert "seen" in result.data["output"]
        assert done.tokens is not None
        assert "made.txt" in machine.hold("diff", done.id).stdout


@each_agent
def test_killed_in_mid_text_and_resumed_with_a_message(agent, place, tmp_path, request):
    replies = ({"text": LONG, "chunk_ms": 50}, {"text": "On."})
    with Model(tmp_path, *replies) as model, place(model.url) as machine:
        id = machine.begin(agent, "Write at length.")
        if agent in LATE_TEXT:
            machine.until(lambda: model.asked and machine.session(id).agent_session_id)
            request.node.verdict = "without its words: it says them only when they are whole"
        else:
            machine.until(lambda: machine.saying(id).count("word") > 20)
        machine.kill()
        machine.up()
        assert machine.carriers(id) == []
        assert machine.session(id).stop.reason == "interrupted"
        after = machine.resumed(id, message="Be brief, GAMMA.")
        assert after.last_stop.reason == "completed", after.last_stop
        told = model.told()
        assert told.count("Write at length.") == 1
        assert "[SESSION_RESUMED]" in told and "GAMMA" in told
        assert agent in LATE_TEXT or "word 7 word 8 word 9" in told


@each_agent
def test_killed_in_mid_tool_the_model_is_told_what_is_unknown(agent, place, tmp_path, request):
    nap = shell(agent, "echo begun >> begun.txt; sleep 120")
    replies = ({"text": "Napping.", "tool_calls": nap}, {"text": "I looked."})
    with Model(tmp_path, *replies) as model, place(model.url) as machine:
        id = machine.begin(agent, "Take a nap.")
        if agent in LATE_CALLS:
            request.node.verdict = "told by the agent itself: it says a call only when it is over"
        else:
            machine.until(lambda: machine.events(id, "call_observed"))
        begun = tmp_path / "home" / "worktrees" / id / "begun.txt"
        machine.until(begun.exists)
        machine.kill()
        machine.up()
        assert machine.carriers(id) == []
        after = machine.resumed(id)
        assert after.last_stop.reason == "completed", after.last_stop
        told = model.told()
        assert "[SESSION_RESUMED]" in told
        assert "sleep 120" in (told if agent in LATE_CALLS else told.partition("Unknown")[2])
        assert begun.read_text() == "begun\n"


@each_agent
def test_a_conversation_whose_record_is_gone_is_given_to_it_again(agent, place, tmp_path):
    replies = ({"text": "Ninety-nine."}, {"text": "Fresh."})
    with Model(tmp_path, *replies) as model, place(model.url) as machine:
        first = machine.run(agent, "Count, DELTA.")
        forget(agent, tmp_path, first.agent_session_id)
        after = machine.send(first.id, "Go on.")
        assert after.last_stop.reason == "completed", after.last_stop
        assert after.agent_session_id != first.agent_session_id
        assert "RESUME CONTEXT FOR CONTINUING TASK" in model.told()
        assert "DELTA" in model.told() and "Ninety-nine." in model.told()
        assert len(machine.events(first.id, "context_injected")) == 1


@each_agent
def test_a_rate_limit_is_told_apart(agent, place, tmp_path, request):
    limited = {"text": "x", "fail": {"status": 429, "retry_after": 1, "times": 50}}
    with Model(tmp_path, limited) as model, place(model.url) as machine:
        if agent in PATIENT_WHEN_LIMITED:
            id = machine.begin(agent, "Go.")
            machine.until(lambda: model.asked)
            request.node.verdict = cancelled_in_its_patience(machine, id)
            return
        stopped = machine.run(agent, "Go.")
        assert stopped.last_stop.reason == "rate_limited", stopped.last_stop
        assert stopped.last_stop.evidence["status"] == 429
        shown = stopped.last_stop.resumes_at is not None
        assert shown or agent != "opencode"
        request.node.verdict = "with its time" if shown else "it shows no time"


@each_agent
def test_a_server_that_is_down_does_not_hang_it(agent, place, tmp_path, request):
    with socket.socket() as taken:  # bound, not listening: refused, and nobody else's
        taken.bind(("127.0.0.1", 0))
        with place(f"http://127.0.0.1:{taken.getsockname()[1]}") as machine:
            if agent in PATIENT_WHEN_DOWN:
                id = machine.begin(agent, "Go.")
                request.node.verdict = cancelled_in_its_patience(machine, id)
                return
            stopped = machine.run(agent, "Go.")
            assert (stopped.last_stop.reason, stopped.last_stop.error) == ("error", "network")


@each_agent
def test_two_resumes_at_once_are_one(agent, place, tmp_path):
    slow = {"text": LONG, "chunk_ms": 10}
    with Model(tmp_path, {"text": "x"}, slow) as model, place(model.url) as m:
        id = m.run(agent, "Go.").id
        with ThreadPoolExecutor(2) as pool:
            runs = list(pool.map(lambda _: m.resume(id), range(2)))
        assert sorted(run.already_running for run in runs) == [False, True]
        m.stopped(id, 2)
        assert m.runs(id) == 2
        assert agent == "qwen" or len(model.asked) == 2  # Qwen also asks for itself after a turn


@each_agent
def test_a_cancel_leaves_nothing_running(agent, place, tmp_path):
    with Model(tmp_path, {"text": LONG, "chunk_ms": 50}) as model, place(model.url) as machine:
        id = machine.begin(agent, "Write at length.")
        machine.until(lambda: model.asked if agent in LATE_TEXT else machine.saying(id))
        machine.client.post(f"/api/sessions/{id}/cancel", {}, dict)
        assert machine.stopped(id).last_stop.reason == "cancelled"
        machine.until(lambda: machine.carriers(id) == [])
