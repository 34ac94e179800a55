"""What we add between a provider and whoever watches: 20 sessions, 200 words a second each.

python bench/stream.py [chat|anthropic] [seconds]: a provider, a daemon and watchers, each a process. A word
goes through the provider's own library, the engine, the journal and a WebSocket; its delay is its age when
a watcher sees it. The provider and the watchers share the machine with the daemon, which is not free.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from websockets.asyncio.client import connect

from holdfast.client import Client

HERE = Path(__file__).parent
SESSIONS, RATE, WORST = 20, 200, 250  # ms at the 99th percentile
MODELS = {"chat": "openai-chat:gpt-5", "anthropic": "anthropic:claude-sonnet-5-5"}
PATIENCE = 60.0
WARM = 2.0  # seconds at the beginning that do not count


def quantile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def cpu_of(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def daemon(home, port):
    url = f"http://127.0.0.1:{port}"
    environ = {**os.environ, "HOLDFAST_HOME": str(home), "OPENAI_API_KEY": "sk-of-the-benchmark"}
    environ |= {"ANTHROPIC_API_KEY": "sk-of-the-benchmark", "ANTHROPIC_BASE_URL": url}
    environ |= {"OPENAI_BASE_URL": f"{url}/v1"}
    command = [Path(sys.executable).parent / "hold", "up", "--foreground", "--port", "0"]
    process = subprocess.Popen(command, env=environ, stderr=subprocess.DEVNULL)
    deadline, client = time.monotonic() + PATIENCE, Client(home)
    while not client.answers():
        if process.poll() is not None or time.monotonic() > deadline:
            raise SystemExit("the daemon did not start")
        time.sleep(0.02)
    return process, client


class Watcher:
    """Sees each word once, whether it comes as a piece or as an event, and notes how old it is."""

    def __init__(self):
        self.delays, self.said, self.done = [], "", False

    def hear(self, frame):
        for event in frame.get("events", ()):
            if event["type"] == "text_saved":
                self._text(event["data"].get("offset", 0), event["data"]["text"])
            self.done = self.done or event["type"] == "run_stopped"
        if frame["type"] == "delta" and frame["field"] == "text":
            self._text(frame["offset"], frame["text"])

    def _text(self, offset, text):
        if offset > len(self.said):
            return  # a piece is missing: the event brings it
        fresh = text[len(self.said) - offset :]
        now = time.monotonic_ns() // 1000
        cut = (self.said + fresh).rfind(" ") + 1
        start = self.said.rfind(" ") + 1
        words = (self.said + fresh)[start:cut].split()
        self.said += fresh
        self.delays += [(int(word), now - int(word)) for word in words]


async def watch(address, token, ids, watchers, pid):
    """Until all are done. Gives the daemon's CPU and the time since all had begun to speak."""
    headers, spoke = {"Authorization": f"Bearer {token}"}, None
    async with connect(address, additional_headers=headers, max_size=None) as socket:
        for n, id in enumerate(ids):
            frame = {"type": "subscribe", "id": f"s{n}", "session": id}
            await socket.send(json.dumps(frame))
        async with asyncio.timeout(PATIENCE):
            while not all(watcher.done for watcher in watchers.values()):
                frame = json.loads(await socket.recv())
                if frame["type"] in ("events", "delta"):
                    watchers[frame["session"]].hear(frame)
                if spoke is None and all(watcher.delays for watcher in watchers.values()):
                    spoke = cpu_of(pid), time.monotonic()
    return cpu_of(pid) - spoke[0], time.monotonic() - spoke[1]


def sessions(client, home, model):
    made = []
    for _ in range(SESSIONS):
        folder = {"folder": str(home), "here": True, "git": False}
        body = {**folder, "model": model, "mode": "read-only"}
        made.append(json.loads(client.call("POST", "/api/sessions", body))["id"])
        home = home.parent / f"place{len(made)}"
        home.mkdir()
    return made


async def measure(home, client, process, model):
    place = home.parent / "place"
    place.mkdir()
    ids = sessions(client, place, model)
    told = json.loads((home / "daemon.json").read_text())
    address = f"ws://{told['address'].rpartition('/')[2]}/api/ws"
    watchers = {id: Watcher() for id in ids}
    token = (home / "token").read_text().strip()
    watching = asyncio.create_task(watch(address, token, ids, watchers, process.pid))
    for n, id in enumerate(ids):
        speaker = Client(home)
        await asyncio.to_thread(
            speaker.call, "POST", f"/api/sessions/{id}/prompt", {"text": "go", "input": f"i{n}"}
        )
    return watchers, *await watching


def report(watchers, spent, wall, words):
    seen = sum(len(watcher.delays) for watcher in watchers.values())
    first = min(sent for watcher in watchers.values() for sent, _ in watcher.delays)
    late = [
        delay / 1000
        for watcher in watchers.values()
        for sent, delay in watcher.delays
        if sent - first > WARM * 1e6
    ]
    p50, p99 = quantile(late, 0.5), quantile(late, 0.99)
    verdict = "ok" if p99 <= WORST else "NO"
    print(f"{SESSIONS} sessions, {RATE} words a second each: {seen} of {SESSIONS * words} seen")
    print(f"delay p50 {p50:.0f} ms, p99 {p99:.0f} ms, worst {max(late):.0f} ms")
    print(f"at most {WORST} ms at p99: {verdict}")
    print(f"the daemon used {100 * spent / wall:.0f} % of a core")


def main(dialect="chat", seconds="8"):
    words = int(RATE * float(seconds))
    command = [sys.executable, HERE / "provider.py", dialect, str(RATE), str(words)]
    provider = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    process = None
    try:
        port = int(provider.stdout.readline())
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
            home = Path(name) / "home"
            home.mkdir(mode=0o700)
            process, client = daemon(home, port)
            found = asyncio.run(measure(home, client, process, MODELS[dialect]))
            report(*found, words)
            process.terminate()
            process.wait(PATIENCE)
    finally:
        for child in (provider, process):
            if child is not None and child.poll() is None:
                child.kill()
                child.wait()
        provider.stdout.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
