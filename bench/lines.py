"""From a line of an agent's to the journal: what it says carries the moment at which it was said.

python -m bench.lines: a scripted agent behind a real daemon, once one-shot (the result of a call is the moment at
which the call ended) and once in a terminal (each line of its record is the moment at which it was written). What
is measured is all of it: the agent's own line, our hearing of it, the decision, the transaction.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.machine import load
from holdfast.client import Client
from holdfast.views.moments import from_rfc3339
from holdfast.wire import EventOut, EventsOut, SessionsOut

TARGET = 50  # ms
LINES = 30
TURNS = {  # paced: no agent is faster than its model
    "oneshot": {"command": "sleep 0.4; date +%s%N", "calls": LINES},
    "terminal": {"stamps": LINES, "pace_ms": 400},
}
HOLD = [sys.executable, "-m", "holdfast"]
RUN = ["run", "--agent", "fake", "--mode", "full", "--here", "--no-git", "go"]


def config() -> str:
    one, screen = (
        [sys.executable, "-m", f"holdfast.testing.{name}_agent"] for name in ("oneshot", "terminal")
    )
    return (
        f'[agents.fake]\nprogram = "{sys.executable}"\nenviron = ["ONESHOT_*", "TERMINAL_*"]\n'
        '[agents.fake.oneshot]\nformat = "claude"\nprompt = "stdin"\n'
        f"start = {json.dumps([*one, '-p', '--session-id', '{id}'])}\n"
        "modes = { full = [] }\n"
        '[agents.fake.terminal]\nformat = "claude"\nhooks = ["--settings", "{hooks}"]\n'
        f"start = {json.dumps([*screen, '--session-id', '{id}', '{hooks}', '{prompt}'])}\n"
        "modes = { full = [] }\n"
        '[agents.fake.transcript]\nroot = ["$TERMINAL_HOME"]\npattern = "projects/*/{id}.jsonl"\n'
    )


def measure(folder: Path, via: str) -> list[float]:
    home, work, script = folder / "hold", folder / "work", folder / "turns.jsonl"
    home.mkdir(mode=0o700)
    work.mkdir()
    (home / "config.toml").write_text(config())
    script.write_text(json.dumps(TURNS[via]) + "\n")
    environ = {**os.environ, "HOLDFAST_HOME": str(home)}
    for kind in ("ONESHOT", "TERMINAL"):
        environ |= {f"{kind}_HOME": str(folder / "memory"), f"{kind}_SCRIPT": str(script)}
    up = [*HOLD, "up", "--no-open", "--port", "0"]
    subprocess.run(up, env=environ, check=True, stdout=subprocess.DEVNULL)
    try:
        command = [*HOLD, *RUN, "--via", via]
        subprocess.run(command, cwd=work, env=environ, check=True, stdout=subprocess.DEVNULL)
        client = Client(home)
        (session,) = client.get("/api/sessions", SessionsOut).sessions
        events = client.get(f"/api/sessions/{session.id}/events?after=0", EventsOut).events
    finally:
        down = [*HOLD, "down", "--kill"]
        subprocess.run(down, env=environ, check=False, stdout=subprocess.DEVNULL)
    return [from_rfc3339(event.at) - said / 1e6 for event in events for said in moments(event)]


def moments(event: EventOut) -> list[int]:
    """Nanoseconds; a line that says none is not counted."""
    key = {"call_finished": "output", "text_saved": "text"}.get(event.type, "")
    said = str(event.data.get(key, "")).strip()
    return [int(said)] if said.isdigit() else []


def report(via: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        found = sorted(measure(Path(folder), via))
    median, worst = statistics.median(found), found[int(len(found) * 0.95)]
    verdict = "met" if median <= TARGET else "missed"
    print(
        f"{via}: line to journal, {len(found)} lines: median {median:.1f} ms, 95th {worst:.1f} ms; "
        f"target {TARGET} ms: {verdict}"
    )


def main() -> None:
    print(f"load {load()}")
    report("oneshot")
    if shutil.which("tmux"):
        report("terminal")
    else:
        print("terminal: not measured, tmux is not installed")


if __name__ == "__main__":
    main()
