"""`hold demo`: an agent is killed in the middle of an edit before your eyes, and carries on.

No key and no agent is needed. Everything happens in a throw-away home with a daemon of its own: yours
is never touched, and nothing is left behind.
"""

import json
import os
import shutil
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import click

from holdfast.cli.output import json_option, paint, say_json
from holdfast.client import Client
from holdfast.daemon import start_detached
from holdfast.views.document import SessionOut
from holdfast.wire import Created, EventOut, EventsOut, NewSession, RunOut

PATIENCE = 30.0  # seconds: a demo that takes longer has failed
FILES = ("alpha.py", "beta.py", "gamma.py", "delta.py", "omega.py")
SLOW = "delta.py"  # the edit before this one is where the daemon dies


def _edit(name: str) -> dict[str, object]:
    content = f'"""{name}, written by the demo."""\n\nNAME = "{name}"\n'
    return {"name": "write", "input": {"path": name, "content": content}}


def _note(name: str, seconds: float) -> dict[str, object]:
    return {"name": "shell", "input": {"command": f"echo {name} >> ledger.txt; sleep {seconds}"}}


def script() -> list[dict[str, object]]:
    """Five files, each followed by a command that leaves a line in a ledger."""
    first: list[dict[str, object]] = []
    for name in FILES:
        first += [_edit(name), _note(name, 3 if name == "gamma.py" else 0)]
    rest = [call for name in FILES[3:] for call in (_edit(name), _note(name, 0))]
    return [
        {"text": "I will write five files, one after another.", "tool_calls": first},
        {
            "text": "Three files are there; the command after the third is unknown, its line is in "
            "the ledger. I go on with the two that are missing.",
            "tool_calls": rest,
        },
        {"text": "All five files are written."},
    ]


class Seen(NamedTuple):
    """What a client was told before the daemon died."""

    events: tuple[EventOut, ...]
    tree: Path


@click.command()
@json_option
def demo(*, as_json: bool) -> int:
    """Kill a scripted agent in the middle of an edit and see it carry on."""
    folder = Path(tempfile.mkdtemp(prefix="holdfast-demo-"))
    mine = {name: os.environ.get(name) for name in ("HOLDFAST_HOME", "TMPDIR")}
    os.environ |= {"HOLDFAST_HOME": str(folder / "home"), "TMPDIR": str(folder)}
    say = _silent if as_json else _say
    begun = time.monotonic()
    try:
        proof = _play(folder, say)
    finally:
        _clean_up(folder)
        for name, value in mine.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value
    proof["seconds"] = round(time.monotonic() - begun, 1)
    if as_json:
        say_json(proof)
    else:
        _table(proof)
    return 0 if proof["holds"] else 1


def _play(folder: Path, say: Callable[..., None]) -> dict[str, object]:
    home = folder / "home"
    _prepare(folder)
    start_detached(home, ("--port", "0"))
    client = Client(home)
    say("1", f"A repository, a daemon (pid {_pid(home)}) and a scripted agent.")
    wanted = NewSession(
        folder=str(folder / "repo"),
        prompt="Write five files.",
        model=f"scripted:{folder / 'script.jsonl'}",
        mode="full",
    )
    session = client.post("/api/sessions", wanted, Created).session
    tree = Path(session.workspace.path)
    _until(lambda: "gamma.py" in _ledger(tree))
    seen = Seen(_events(client, session.id), tree)
    pid = _pid(home)
    os.kill(pid, signal.SIGKILL)
    say(
        "2",
        f"It wrote {len(_written(tree))} of {len(FILES)} files. kill -9 {pid}: it is dead.",
        "red",
    )
    _until(lambda: not Path(f"/proc/{pid}").exists() or not client.answers())
    start_detached(home, ("--port", "0"))
    stopped = client.get(f"/api/sessions/{session.id}", SessionOut)
    why = stopped.stop.reason if stopped.stop else "nothing"
    say("3", f"A new daemon (pid {_pid(home)}) found the session and says: {why}.", "yellow")
    client.post(f"/api/sessions/{session.id}/resume", {}, RunOut)
    say("4", "hold resume: the agent is told what is done, what is unknown, what never began.")
    _until(lambda: _over(client, session.id))
    say("5", "It carried on and finished.", "green")
    return _prove(seen, _events(client, session.id))


def _prove(seen: Seen, after: tuple[EventOut, ...]) -> dict[str, object]:
    lost = [e.seq for e in seen.events if e not in after]
    begun = Counter((e.data["call"], e.data.get("attempt", 1)) for e in after if _is(e, "intended"))
    ended = {(e.data["call"], e.data.get("attempt", 1)) for e in after if _is(e, "finished")}
    ledger = Counter(_ledger(seen.tree))
    doubled = [call for call, n in begun.items() if n > 1] + [n for n, k in ledger.items() if k > 1]
    places = [e.seq for e in after]
    files = sorted(_written(seen.tree))
    holds = (
        not lost
        and not doubled
        and places == list(range(1, len(after) + 1))
        and files == sorted(FILES)
        and set(ledger) == set(FILES)
    )
    return {
        "events_acknowledged": len(seen.events),
        "events_lost": len(lost),
        "events_after": len(after),
        "doubled": len(doubled),
        "calls_begun": sum(begun.values()),
        "calls_finished": len(ended),
        "calls_unknown": sum(_is(e, "closed") and e.data["how"] == "unknown" for e in after),
        "files": files,
        "ledger": dict(ledger),
        "holds": holds,
    }


def _is(event: EventOut, how: str) -> bool:
    return event.type == f"call_{how}"


# --- the stage ------------------------------------------------------------------------------------


def _prepare(folder: Path) -> None:
    import asyncio

    from holdfast.assembly import make_repository

    (folder / "home").mkdir(mode=0o700)
    asyncio.run(make_repository(folder / "repo", {"README.md": "# A small project\n"}))
    rows = "".join(f"{json.dumps(row)}\n" for row in script())
    (folder / "script.jsonl").write_text(rows)


def _clean_up(folder: Path) -> None:
    try:
        os.kill(_pid(folder / "home"), signal.SIGTERM)
        _until(lambda: not (folder / "home" / "daemon.json").exists())
    except (OSError, TimeoutError, ValueError):
        pass  # it is gone already
    shutil.rmtree(folder, ignore_errors=True)


def _pid(home: Path) -> int:
    return int(json.loads((home / "daemon.json").read_text())["pid"])


def _events(client: Client, id: str) -> tuple[EventOut, ...]:
    found: list[EventOut] = []
    while True:
        after = found[-1].seq if found else 0
        page = client.get(f"/api/sessions/{id}/events?after={after}", EventsOut)
        if not page.events:
            return tuple(found)
        found += page.events


def _over(client: Client, id: str) -> bool:
    session = client.get(f"/api/sessions/{id}", SessionOut)
    return session.run is None and session.last_stop is not None and session.stop is None


def _ledger(tree: Path) -> list[str]:
    path = tree / "ledger.txt"
    return path.read_text().split() if path.exists() else []


def _written(tree: Path) -> list[str]:
    return [name for name in FILES if (tree / name).exists()]


def _until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not true():
        if time.monotonic() > deadline:
            raise TimeoutError("The demo got stuck: please report it.")
        time.sleep(0.02)


# --- what is seen -----------------------------------------------------------------------------------


def _say(number: str, text: str, colour: str = "bold") -> None:
    click.echo(f"  {paint(number, 'grey')}  {paint(text, colour)}")


def _silent(_number: str, _text: str, _colour: str = "") -> None:
    return


def _table(proof: dict[str, object]) -> None:
    rows = (
        ("events acknowledged before the kill", proof["events_acknowledged"]),
        ("of these lost", proof["events_lost"]),
        ("recorded or done twice", proof["doubled"]),
        ("tool calls begun", proof["calls_begun"]),
        ("  with a result", proof["calls_finished"]),
        ("  unknown, and said so to the model", proof["calls_unknown"]),
        (
            "files as expected",
            f"{len(FILES)} of {len(FILES)}" if proof["holds"] else proof["files"],
        ),
    )
    click.echo()
    for name, value in rows:
        click.echo(f"  {name:<40} {value}")
    verdict = "Nothing was lost, nothing was done twice." if proof["holds"] else "It does not hold."
    click.echo(f"\n  {paint(verdict, 'green' if proof['holds'] else 'red')} ({proof['seconds']} s)")
