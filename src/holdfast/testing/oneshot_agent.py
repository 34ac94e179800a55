"""A fake: a one-shot agent that speaks Claude's stream-json, and misbehaves as real ones do.

    python -m holdfast.testing.oneshot_agent -p (--session-id ID | --resume ID) < prompt
    ... -p --resume ID [--resume-session-at UUID] --fork-session --session-id OTHER

It keeps its conversations in $ONESHOT_HOME/projects/fake/ID.jsonl, one line for each prompt and
answer, and takes what it does from $ONESHOT_SCRIPT, one JSON object for each turn, in order.
"""

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any

Turn = dict[str, Any]


class Agent:
    def __init__(self, home: Path, turn: Turn, id: str) -> None:
        self.turn, self.id = turn, id
        self.transcript = home / "projects" / "fake" / f"{id}.jsonl"
        self.lines = 0

    def say(self, **line: Any) -> None:
        """At line `crash_at` it is gone, as after kill -9."""
        if self.turn.get("crash_at") == self.lines:
            os.kill(os.getpid(), signal.SIGKILL)
        self.lines += 1
        print(json.dumps({"session_id": self.id, **line}), flush=True)  # noqa: T201

    def stream(self, **event: Any) -> None:
        self.say(type="stream_event", event=event)

    def remember(self, role: str, text: str) -> None:
        self.transcript.parent.mkdir(parents=True, exist_ok=True)
        with self.transcript.open("a") as file:
            line = {"role": role, "text": text, "argv": sys.argv[1:], "uuid": self.turn.get("uuid")}
            file.write(json.dumps(line) + "\n")

    def up_to(self, uuid: str) -> str | None:
        lines = self.transcript.read_text().splitlines(keepends=True)
        ends = [n for n, line in enumerate(lines, 1) if json.loads(line).get("uuid") == uuid]
        return "".join(lines[: ends[-1]]) if ends else None

    def play(self, prompt: str) -> int:
        turn = self.turn
        self.remember("user", prompt)
        if turn.get("junk"):
            sys.stdout.write("Warning: \x00 half a line {\n[1, 2]\n" + "[" * 5000 + "\nnull\n")
        if size := turn.get("big"):
            print(json.dumps({"x": "y" * size}))  # noqa: T201
        sys.stderr.write("x" * int(turn.get("flood", 0)))
        sys.stderr.flush()
        if turn.get("orphan"):
            orphan(turn["orphan"])
        self.say(type="system", subtype="init")
        if turn.get("fail"):
            return self.fail(**turn["fail"])
        self.respond(0, turn)
        self.say(type="result", subtype="success", is_error=False, total_cost_usd=0.25)
        return int(turn.get("exit", 0))

    def respond(self, n: int, turn: Turn) -> None:
        message = f"msg_{self.id}_{len(self.transcript.read_text().splitlines())}_{n}"
        head = {"id": message, "model": "fake", "usage": {"input_tokens": 10}}
        self.stream(type="message_start", message=head)
        for word in turn.get("text", "done").split(" "):
            self.stream(
                type="content_block_delta",
                index=0,
                delta={"type": "text_delta", "text": word + " "},
            )
            time.sleep(turn.get("chunk_ms", 0) / 1000)
        if turn.get("pause"):
            time.sleep(600)
        command = turn.get("command")
        if "uuid" in turn:
            spoken = {"type": "text", "text": turn.get("text", "done")}
            self.say(type="assistant", uuid=turn["uuid"], message={**head, "content": [spoken]})
        if command:
            use = {"type": "tool_use", "id": f"toolu_{message}", "name": "Bash", "input": {}}
            use["input"] = {"command": command}
            self.say(type="assistant", message={**head, "content": [use]})
        self.stream(type="message_delta", usage={"output_tokens": 5})
        self.stream(type="message_stop")
        self.remember("assistant", turn.get("text", "done"))
        if command:
            shell = ["/bin/sh", "-c", command]  # the script is the test's own
            done = subprocess.run(shell, capture_output=True, text=True, check=False)  # noqa: S603
            block = {
                "type": "tool_result",
                "tool_use_id": f"toolu_{message}",
                "content": done.stdout,
                "is_error": done.returncode != 0,
            }
            self.say(type="user", message={"content": [block]})
            left = turn.get("calls", 1) - 1
            then = {"text": turn.get("then", "finished"), "chunk_ms": turn.get("chunk_ms", 0)}
            self.respond(n + 1, {**turn, "calls": left} if left else then)

    def fail(self, status: int, message: str) -> int:
        self.say(
            type="result", subtype="success", is_error=True, api_error_status=status, result=message
        )
        return 1


def orphan(seconds: int) -> None:
    """A process in a session of its own, as agents leave them."""
    subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", f"import time; time.sleep({seconds})"],
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )


def next_turn(home: Path) -> Turn:
    """Each start of the program is one turn, also one that is killed."""
    script = [json.loads(n) for n in Path(os.environ["ONESHOT_SCRIPT"]).read_text().splitlines()]
    home.mkdir(parents=True, exist_ok=True)
    with (home / "turns").open("a+") as file:
        file.write("x\n")
        file.flush()
        file.seek(0)
        n = len(file.readlines()) - 1
    return script[n] if n < len(script) else {}


def main() -> int:
    arguments = sys.argv[1:]
    home = Path(os.environ["ONESHOT_HOME"])
    resumed = "--resume" in arguments
    id = arguments[arguments.index("--resume" if resumed else "--session-id") + 1]
    prompt = sys.stdin.read()
    turn = next_turn(home)
    if turn.get("stubborn"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    known = Agent(home, turn, id).transcript.exists()
    if resumed and (not known or turn.get("forgets")):
        print(f"No conversation found with session ID: {id}", file=sys.stderr)  # noqa: T201
        return 1
    if "--fork-session" in arguments and not turn.get("same_id"):
        other = arguments[arguments.index("--session-id") + 1]
        before = Agent(home, turn, id)
        kept: str | None = before.transcript.read_text()
        if "--resume-session-at" in arguments:
            at = arguments[arguments.index("--resume-session-at") + 1]
            kept = before.up_to(at)
            if kept is None:
                print(f"No message found with message.uuid of: {at}", file=sys.stderr)  # noqa: T201
                return 1
        before.transcript.with_stem(other).write_text(kept or "")
        id = other
    return Agent(home, turn, str(uuid.uuid4()) if turn.get("other_id") else id).play(prompt)


if __name__ == "__main__":
    sys.exit(main())
