"""From a line of a one-shot agent to the journal: a call's result carries the moment at which the call ended.

python -m bench.lines: the scripted agent makes calls, one after another, behind a real daemon. What is measured is
all of it: the agent's own line, our reading, the decision, the transaction.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from holdfast.client import Client
from holdfast.views.moments import from_rfc3339
from holdfast.wire import EventsOut, SessionsOut

TARGET = 50  # ms
CALLS = 30
PACED = "sleep 0.4; date +%s%N"  # no agent is faster than its model
AGENT = [sys.executable, "-m", "holdfast.testing.oneshot_agent", "-p"]
HOLD = [sys.executable, "-m", "holdfast"]
RUN = ["run", "--agent", "fake", "--mode", "full", "--here", "--no-git", "go"]


def config() -> str:
    start, resume = (
        json.dumps([*AGENT, "--session-id", "{id}"]),
        json.dumps([*AGENT, "--resume", "{id}"]),
    )
    return (
        f'[agents.fake]\nprogram = "{sys.executable}"\nenviron = ["ONESHOT_*"]\n'
        f'[agents.fake.oneshot]\nformat = "claude"\nprompt = "stdin"\nstart = {start}\n'
        f"resume = {resume}\nmodes = {{ full = [] }}\n"
    )


def measure(folder: Path) -> list[float]:
    home, work, script = folder / "hold", folder / "work", folder / "turns.jsonl"
    home.mkdir(mode=0o700)
    work.mkdir()
    (home / "config.toml").write_text(config())
    script.write_text(json.dumps({"command": PACED, "calls": CALLS}) + "\n")
    environ = {**os.environ, "HOLDFAST_HOME": str(home)}
    environ |= {"ONESHOT_HOME": str(folder / "memory"), "ONESHOT_SCRIPT": str(script)}
    subprocess.run([*HOLD, "up", "--no-open", "--port", "0"], env=environ, check=True)
    try:
        subprocess.run([*HOLD, *RUN], cwd=work, env=environ, check=True, stdout=subprocess.DEVNULL)
        client = Client(home)
        (session,) = client.get("/api/sessions", SessionsOut).sessions
        events = client.get(f"/api/sessions/{session.id}/events?after=0", EventsOut).events
    finally:
        subprocess.run([*HOLD, "down"], env=environ, check=False, stdout=subprocess.DEVNULL)
    done = [event for event in events if event.type == "call_finished"]
    return [from_rfc3339(event.at) - int(event.data["output"]) / 1e6 for event in done]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        found = sorted(measure(Path(folder)))
    median, worst = statistics.median(found), found[int(len(found) * 0.95)]
    verdict = "met" if median <= TARGET else "missed"
    print(f"line to journal, {len(found)} lines: median {median:.0f} ms, 95th {worst:.0f} ms")
    print(f"target {TARGET} ms: {verdict}")


if __name__ == "__main__":
    main()
