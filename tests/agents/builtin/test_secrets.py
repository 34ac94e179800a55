"""A whole run in which a secret comes up everywhere: it is on no disk afterwards."""

# spec: C6, B1, D7

import json
import logging

from holdfast import Agent, tool
from holdfast.agents.builtin.model import TextPiece
from holdfast.agents.builtin.round import Saver
from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.redact import REDACTED
from holdfast.engine.secrets import DiscreetFormatter, secrets_in
from tests.agents.builtin.house import House, call, house, repository

LENT, OWN = "sk-lent-0123456789abcdef", "sk-own-9876543210fedcba"
NAMED = "hunter2-under-a-name"


def on_disk(home, secret):
    return [f for f in home.rglob("*") if f.is_file() and secret.encode() in f.read_bytes()]


async def test_no_secret_is_in_the_store_and_the_calls_ran_with_the_real_one(folder, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", OWN)
    rows = [
        {"text": f"I will use {LENT} and {OWN}. " * 200, "thinking": LENT, "chunk_ms": 0},
        {
            "text": "Now.",
            "tool_calls": [
                call("write", path="key.txt", content=LENT),
                call(
                    "shell", command=f'cat key.txt; echo {OWN}; echo \'{{"password": "{NAMED}"}}\''
                ),
                call("shell", command="cat key.txt; for n in $(seq 40); do cat key.txt; done"),
                call("shell", command=f'echo \'{{"api_key": "{NAMED}"}}\''),
                call("ask_user", question=f"Is it {LENT}?"),
            ],
        },
        {"fail": {"status": 401, "message": f"Bad key {LENT}"}},
    ]
    rows[0]["tool_calls"] = [call("list")]
    async with house(folder, *rows) as h:
        id = await h.open(environ={"OPENAI_API_KEY": LENT}, title=f"use {LENT}")
        await h.send(id, f"My key is {LENT}")
        session = await h.until(id, lambda s: bool(s.decisions))
        tree = folder.joinpath(session.workspace.path)
        assert LENT == (tree / "key.txt").read_text()
        answer = i.AnswerDecision(decision=session.decisions[0].id, answer=f"Yes, {LENT}")
        await h.engine.submit(id, answer)
        session = await h.stopped(id)

        assert f"Bad key {REDACTED}" == session.last_stop.message
        assert 0 == session.last_stop.fingerprint.count("sk-lent")
        outputs = "".join(x.output for x in await h.events(id, e.CallFinished))
        assert 3 < outputs.count(REDACTED)
        (tree / "key.txt").unlink()
    for secret in (LENT, OWN):
        assert [] == [f for f in on_disk(h.home, secret) if "worktrees" not in str(f)]
    kept = [f for f in on_disk(h.home, NAMED) if f.name.startswith("journal")]
    assert [] != kept  # in a command's text nobody can tell; under its name it is gone:
    assert not any(f'"api_key": "{NAMED}"' in x.output for x in await _finished(folder, id))


async def _finished(folder, id):
    async with House(folder) as h:
        return await h.events(id, e.CallFinished)


async def test_a_call_runs_with_the_secret_that_the_journal_does_not_have(folder):
    got = []

    @tool("unsafe")
    def login(password: str) -> str:
        """Logs in."""
        got.append(password)
        return "in"

    repository(folder / "repo")
    script = folder / "script.jsonl"
    rows = [{"tool_calls": [call("login", password=NAMED)]}, {"text": "ok"}]
    script.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    mine = Agent(
        model=f"scripted:{script}",
        workspace=folder / "repo",
        home=folder / "home",
        mode="full",
        tools=(login,),
    )

    await mine.run("go")

    assert [NAMED] == got
    assert [] == on_disk(folder / "home", NAMED)


async def test_a_secret_that_comes_in_two_pieces_is_saved_as_one():
    said = []

    async def say(*events):
        said.extend(events)
        return True

    clock = iter(range(0, 100_000, 300))  # each piece is late: each would be saved by itself
    saver = Saver(1, say, lambda: next(clock), frozenset({LENT}))
    for piece in ("key: ", LENT[:7], LENT[7:12], LENT[12:], " and on"):
        await saver.add(TextPiece(text=piece))
    said += saver.rest()

    assert f"key: {LENT} and on" == "".join(x.text for x in said)
    assert any(LENT in x.text for x in said)
    assert [sum(len(y.text) for y in said[:n]) for n in range(len(said))] == [
        x.offset for x in said
    ]


def test_the_log_has_no_secret_either():
    record = logging.LogRecord("x", logging.INFO, "", 0, "key %s", (LENT,), None)

    written = DiscreetFormatter(logging.Formatter(), lambda: frozenset({LENT})).format(record)

    assert f"key {REDACTED}" == written


def test_the_folder_one_stands_in_is_no_secret():
    """A daemon that was started in a repository would leave its path out of everything."""
    environ = {"PWD": "/home/me/project", "OLDPWD": "/home/me/other", "DB_PWD": "hunter2hunter2"}
    assert {"hunter2hunter2"} == secrets_in(environ)
