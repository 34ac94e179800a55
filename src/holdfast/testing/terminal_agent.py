"""A fake: an agent with a screen of its own, which keeps a record as Claude Code does and misbehaves as real
ones do.

    python -m holdfast.testing.terminal_agent (--session-id ID | --resume ID) [--settings FILE] [PROMPT]

It keeps its conversations in $TERMINAL_HOME/projects/fake/ID.jsonl and takes what it does from
$TERMINAL_SCRIPT, one JSON object for each prompt, in order. What is pasted and sent with Enter is a prompt;
Escape stops it; /exit ends it.
"""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import tty
import uuid
from pathlib import Path
from typing import Any

from holdfast.testing.oneshot_agent import orphan

Turn = dict[str, Any]
PASTE, PASTED = b"\x1b[200~", b"\x1b[201~"


class Interrupted(Exception):
    pass


class Keyboard:
    """What comes from the terminal, read beside the work."""

    def __init__(self) -> None:
        self.prompts: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.answers: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self.asking, self.escape = threading.Event(), threading.Event()

    def start(self) -> None:
        tty.setraw(0)
        show("\x1b[?2004h> ")
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        typed, pasting = b"", False
        while data := os.read(0, 65536):
            if self.asking.is_set():
                self.answers.put(data)
                continue
            if data == b"\x1b":
                self.escape.set()
                continue
            typed += data
            if PASTE in typed:
                pasting = True
            if PASTED in typed:
                pasting, typed = False, typed.replace(PASTE, b"").replace(PASTED, b"")
            while not pasting and b"\r" in typed:
                line, _, typed = typed.rpartition(b"\r")
                self.prompts.put(line.decode("utf-8", "replace"))


def show(text: str) -> None:
    sys.stdout.write(text.replace("\n", "\r\n"))
    sys.stdout.flush()


class Agent:
    def __init__(self, home: Path, id: str, hooks: dict[str, str]) -> None:
        self.home, self.id, self.hooks = home, id, hooks
        self.record = home / "projects" / "fake" / f"{id}.jsonl"
        self.keyboard = Keyboard()
        self.turn: Turn = {}
        self.lines = 0

    def write(self, **line: Any) -> None:
        """At line `crash_at` of a turn it is gone, as after kill -9."""
        if self.turn.get("crash_at") == self.lines:
            os.kill(os.getpid(), signal.SIGKILL)
        self.lines += 1
        whole = {"uuid": str(uuid.uuid4()), "sessionId": self.id, "cwd": str(Path.cwd()), **line}
        text = json.dumps(whole) + "\n"
        self.record.parent.mkdir(parents=True, exist_ok=True)
        with self.record.open("a") as file:
            if self.turn.get("torn"):
                file.write('{"type":"assistant","mess\n')
            half = len(text) // 2  # in two writes: a follower may see the first alone
            file.write(text[:half])
            file.flush()
            file.write(text[half:])

    def moment(self, name: str, **more: Any) -> None:
        command = self.hooks.get(name)
        if command is not None:
            said = {"hook_event_name": name, "session_id": self.id, **more}
            shell = ["/bin/sh", "-c", command]
            subprocess.run(shell, input=json.dumps(said).encode(), check=True)  # noqa: S603

    def prompt(self, text: str) -> None:
        self.turn, self.lines = next_turn(self.home), 0
        self.keyboard.escape.clear()
        if self.turn.get("stubborn"):
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
        if self.turn.get("deaf"):
            time.sleep(600)
        self.write(type="user", message={"role": "user", "content": text})
        self.moment("UserPromptSubmit", prompt=text)
        if self.turn.get("orphan"):
            orphan(self.turn["orphan"])
        if self.turn.get("junk"):
            show("\x1b[2J\x1b[5;5H\x00\x07 junk \x1b]0;title\x07\n")
        try:
            self.answer()
        except Interrupted:
            content = "[Request interrupted by user]"
            self.write(type="user", message={"role": "user", "content": content})
        show("\n> ")

    def answer(self) -> None:
        turn = self.turn
        if turn.get("fail"):
            return self.fail(**turn["fail"])
        for _ in range(turn.get("stamps", 0)):  # each says when it was written
            self.say([{"type": "text", "text": str(time.time_ns())}], last=False)
            self.pause(turn.get("pace_ms", 0) / 1000)
        if turn.get("ask"):
            self.ask(turn["ask"])
        texts = turn.get("texts") or [turn.get("text", "done")]
        for n, text in enumerate(texts):
            last = n + 1 == len(texts) and not turn.get("command")
            self.say([{"type": "text", "text": text}], last=last)
            show(f"\n{text}")
            self.pause(turn.get("pace_ms", 0) / 1000)
        final = texts[-1]
        if turn.get("command"):
            self.run(turn["command"])
            final = turn.get("then", "finished")
            self.say([{"type": "text", "text": final}], last=True)
        self.moment("Stop", last_assistant_message=final)
        return None

    def ask(self, question: str) -> None:
        """Waits for a key. "1" is yes."""
        self.keyboard.asking.set()
        show(f"\nMay I? {question}\n1. Yes\n")
        self.moment("Notification", notification_type="permission_prompt", message=question)
        granted = self.keyboard.answers.get() == b"1"
        self.keyboard.asking.clear()
        show("\x1b[2J\x1b[H")
        self.say([{"type": "text", "text": "Granted." if granted else "Denied."}], last=False)

    def say(self, content: list[Any], *, last: bool) -> None:
        usage = {"input_tokens": 10, "output_tokens": 5}
        message = {"role": "assistant", "model": "fake", "content": content, "usage": usage}
        ending = "end_turn" if last and not self.hooks and not self.turn.get("mute") else None
        self.write(type="assistant", message={**message, "stop_reason": ending})

    def run(self, command: str) -> None:
        call = f"toolu_{uuid.uuid4().hex[:12]}"
        use = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command}}
        self.say([use], last=False)
        with subprocess.Popen(  # noqa: S603  the script is the test's own
            ["/bin/sh", "-c", command],
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        ) as running:
            while running.poll() is None:
                try:
                    self.pause(0.02)
                except Interrupted:
                    os.killpg(running.pid, signal.SIGKILL)
                    raise
            output = running.stdout.read() if running.stdout else ""
        result = {"type": "tool_result", "tool_use_id": call, "content": output}
        self.write(type="user", message={"role": "user", "content": [result]})

    def pause(self, seconds: float) -> None:
        if self.turn.get("stubborn"):
            time.sleep(seconds)
        elif self.keyboard.escape.wait(seconds):
            raise Interrupted

    def fail(self, status: int, message: str) -> None:
        content = [{"type": "text", "text": message}]
        said = {"role": "assistant", "model": "<synthetic>", "content": content}
        self.write(type="assistant", isApiErrorMessage=True, apiErrorStatus=status, message=said)
        self.moment("StopFailure", error="unknown", last_assistant_message=message)


def next_turn(home: Path) -> Turn:
    """Each prompt takes one, also one that ends in a crash."""
    rows = Path(os.environ["TERMINAL_SCRIPT"]).read_text().splitlines()
    script = [json.loads(row) for row in rows]
    with (home / "turns").open("a+") as file:
        file.write("x\n")
        file.flush()
        file.seek(0)
        n = len(file.readlines()) - 1
    return script[n] if n < len(script) else {}


def hooks_of(arguments: list[str]) -> dict[str, str]:
    if "--settings" not in arguments:
        return {}
    file = Path(arguments[arguments.index("--settings") + 1])
    found = json.loads(file.read_text())["hooks"]
    return {name: entries[0]["hooks"][0]["command"] for name, entries in found.items()}


def main() -> int:
    arguments = sys.argv[1:]
    home = Path(os.environ["TERMINAL_HOME"])
    home.mkdir(parents=True, exist_ok=True)
    with (home / "starts").open("a") as file:
        file.write(json.dumps(arguments) + "\n")
    resumed = "--resume" in arguments
    place = arguments.index("--resume" if resumed else "--session-id")
    id = arguments[place + 1]
    hooks = hooks_of(arguments)
    rest = [a for a in arguments[place + 2 :] if a != "--settings"][1 if hooks else 0 :]
    if resumed and (home / "forgets").exists():
        print(f"No conversation found with session ID: {id}")  # noqa: T201
        return 1
    if resumed and (home / "other_id").exists():
        id = str(uuid.uuid4())
    agent = Agent(home, id, hooks)
    agent.keyboard.start()
    agent.moment("SessionStart", source="resume" if resumed else "startup")
    if rest:
        agent.prompt(rest[0])
    while (text := agent.keyboard.prompts.get()) != "/exit":
        agent.prompt(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
