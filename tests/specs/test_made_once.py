"""A session whose maker's answer was lost is made once, and its prompt is sent once."""

# spec: A9, P2, P8, J1

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

from holdfast.client import ApiError
from holdfast.wire import (
    Created,
    NewSession,
    PromptIn,
    PromptOut,
    ResumeIn,
    RunOut,
    SessionsOut,
)
from tests.specs.test_killed import END, Machine

ID = "0123456789ab"


@pytest.fixture
def machine(tmp_path):
    made = Machine(tmp_path)
    (tmp_path / "script.jsonl").write_text(json.dumps(END) + "\n")
    for n in range(300):  # so that there is something to be in the middle of
        (tmp_path / "repo" / f"file-{n}").write_text("x\n" * n)
    for command in (["add", "."], ["commit", "-q", "-m", "many"]):
        subprocess.run(["git", *command], cwd=tmp_path / "repo", check=True)
    made.hold("up", "--no-open", "--port", "0")
    yield made
    made.hold("down", ok=False)


def wanted(machine, **more):
    model = f"scripted:{machine.folder / 'script.jsonl'}"
    folder = str(machine.folder / "repo")
    return NewSession(folder=folder, prompt="go", input="minted", model=model, **more)


def only(machine):
    """The one session that there is, its run over, in the one tree on the one branch."""
    (session,) = machine.client.get("/api/sessions", SessionsOut).sessions
    over = machine.until(lambda: (s := machine.session(session.id)).last_stop and s)
    assert over.last_stop.reason == "completed"
    assert [path.name for path in (machine.home / "worktrees").iterdir() if path.is_dir()] == [
        session.id
    ]
    branches = ["git", "branch", "--list", "hold/*"]
    found = subprocess.check_output(branches, cwd=machine.folder / "repo", text=True)
    assert len(found.splitlines()) == 1
    accepted = [e for e in machine.events(session.id) if e.type == "input_accepted"]
    assert len(accepted) == 1
    return session.id


def test_said_twice_it_is_one_session(machine):
    def make(_):
        return machine.client.post("/api/sessions", wanted(machine, id=ID), Created)

    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(make, range(4)))
    assert {(found.id, found.run) for found in made} == {(ID, 1)}
    assert only(machine) == ID
    machine.kill()
    machine.hold("up", "--no-open", "--port", "0")
    again = make(0)
    assert (again.id, only(machine)) == (ID, ID)


def test_the_daemon_is_killed_while_it_is_made(machine):
    """The command line says it again; what was half made is finished."""
    trees = machine.home / "worktrees"
    with ThreadPoolExecutor(1) as pool:
        model = f"scripted:{machine.folder / 'script.jsonl'}"
        running = pool.submit(machine.hold, "run", "--detach", "--json", "--model", model, "go")
        machine.until(lambda: trees.exists() and any(trees.iterdir()))
        machine.kill()
        made = json.loads(running.result().stdout)
    assert only(machine) == made["id"]


def test_a_command_that_is_said_again_is_answered_with_its_own_run(machine):
    """Also when that is over: whoever asks can follow it from its beginning."""
    id = machine.client.post("/api/sessions", wanted(machine, id=ID), Created).id
    machine.until(lambda: machine.session(id).last_stop)
    sent = PromptIn(text="more", input="a prompt")
    first = machine.client.post(f"/api/sessions/{id}/prompt", sent, PromptOut)
    machine.until(lambda: machine.session(id).run is None)
    machine.kill()
    machine.hold("up", "--no-open", "--port", "0")
    again = machine.client.post(f"/api/sessions/{id}/prompt", sent, PromptOut)
    assert (first.run, again.run, again.queued) == (2, 2, False)
    assert machine.events(id)[again.head].type == "run_started"
    said = ResumeIn(command="a command")
    begun = machine.client.post(f"/api/sessions/{id}/resume", said, RunOut)
    machine.until(lambda: machine.session(id).run is None)
    repeated = machine.client.post(f"/api/sessions/{id}/resume", said, RunOut)
    assert (begun.run, repeated.run, repeated.already_running) == (3, 3, False)
    assert machine.events(id)[repeated.head].type == "run_started"
    assert machine.events(id)[repeated.head].data["run"] == 3


def test_an_id_is_twelve_digits_or_none(machine):  # spec: M1
    for bad in ("", "../../etc", "0123456789AB", ID + "c"):
        with pytest.raises(ApiError) as refused:
            machine.client.post("/api/sessions", wanted(machine, id=bad), Created)
        assert refused.value.code == "invalid" and "12 hex digits" in refused.value.message
    assert machine.client.get("/api/sessions", SessionsOut).sessions == ()
