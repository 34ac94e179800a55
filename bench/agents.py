"""What Holdfast adds in front of a real agent: from the command to the first request that its model gets.

python -m bench.agents: `hold run --agent claude`, one-shot and over ACP, beside the bare program with the same
words in the same folder; in turns, in one run, against a scripted model. Needs the programs of `make agents`
on the PATH. The least of several is compared: on a busy machine it is the honest number.
"""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from holdfast.testing.model_server import ModelServer

TARGET = 150  # ms
ROUNDS = 6
ONESHOT = ["claude", "-p", "--output-format", "stream-json", "--verbose"]
HOLD = [sys.executable, "-m", "holdfast"]


class Place:
    """A folder, a daemon that is up, and a model that says one word."""

    def __init__(self, folder, model):
        self.folder, self.model = folder, model
        self.work = folder  # of one run: a session keeps its folder as long as its agent lives
        self.runs = 0
        self.environ = {
            **os.environ,
            "HOME": str(folder),
            "HOLDFAST_HOME": str(folder / "hold"),
            "ANTHROPIC_BASE_URL": model.url,
            "ANTHROPIC_API_KEY": "none",
            "CLAUDE_CONFIG_DIR": str(folder / "claude"),
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "IS_SANDBOX": "1",
        }

    def start(self, *command, **how):
        return subprocess.Popen(
            command, cwd=self.work, env=self.environ, stderr=subprocess.DEVNULL, **how
        )

    async def first_request(self, begin):
        """Milliseconds until the model is asked."""
        self.runs += 1
        self.work = self.folder / f"work-{self.runs}"
        self.work.mkdir()
        count, begun = len(self.model.asked), time.time()
        process = begin()
        try:
            return ((await self.model.wait_for(count + 1, within=120)).at - begun) * 1000
        finally:
            await asyncio.to_thread(_ended, process)

    def held(self, via):
        command = ["run", "--agent", "claude", "--via", via, "--mode", "full", "--here", "--no-git"]
        return self.start(*HOLD, *command, "Say hello.", stdout=subprocess.DEVNULL)

    def bare_oneshot(self):
        flags = ["--dangerously-skip-permissions", "Say hello."]
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
        return self.start(*ONESHOT, *flags, **quiet)

    def bare_acp(self):
        return self.start(sys.executable, "-c", CLIENT, str(self.work))


# The least that a client has to do: what an editor would.
CLIENT = """
import json, subprocess, sys
agent = subprocess.Popen(["claude-agent-acp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
def ask(n, method, params):
    agent.stdin.write(json.dumps({"jsonrpc": "2.0", "id": n, "method": method, "params": params}) + "\\n")
    agent.stdin.flush()
    for line in agent.stdout:
        found = json.loads(line)
        if found.get("id") == n and "method" not in found:
            return found.get("result")
ask(1, "initialize", {"protocolVersion": 1, "clientCapabilities": {}})
id = ask(2, "session/new", {"cwd": sys.argv[1], "mcpServers": []})["sessionId"]
ask(3, "session/set_mode", {"sessionId": id, "modeId": "bypassPermissions"})
ask(4, "session/prompt", {"sessionId": id, "prompt": [{"type": "text", "text": "Say hello."}]})
agent.kill()
"""


def _ended(process):
    try:
        process.wait(60)
    except subprocess.TimeoutExpired:
        process.kill()


async def measure(place):
    ways = {
        "oneshot": (place.bare_oneshot, lambda: place.held("oneshot")),
        "acp": (place.bare_acp, lambda: place.held("acp")),
    }
    found = {(way, who): [] for way in ways for who in ("bare", "held")}
    for _ in range(ROUNDS):
        for way, (bare, held) in ways.items():
            found[way, "bare"].append(await place.first_request(bare))
            found[way, "held"].append(await place.first_request(held))
    return found


def table(found):
    print("| way | bare ms | hold run ms | added ms | medians | target |")
    print("|---|---|---|---|---|---|")
    for way in ("oneshot", "acp"):
        bare, held = found[way, "bare"], found[way, "held"]
        added = min(held) - min(bare)
        medians = f"{statistics.median(bare):.0f}, {statistics.median(held):.0f}"
        met = "met" if added <= TARGET else "missed"
        row = f"{min(bare):.0f} | {min(held):.0f} | {added:.0f} | {medians} | {TARGET}: {met}"
        print(f"| {way} | {row} |")
    load = os.getloadavg()[0]
    print(json.dumps({"rounds": ROUNDS, "load": round(load, 1), "cores": os.cpu_count()}))


async def main():
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o700)
        async with ModelServer([], only_with_tools=True) as model:
            place = Place(Path(folder), model)
            await asyncio.to_thread(place.start(*HOLD, "up", "--no-open", "--port", "0").wait, 30)
            try:
                table(await measure(place))
            finally:
                place.start(*HOLD, "down").wait(30)


if __name__ == "__main__":
    asyncio.run(main())
