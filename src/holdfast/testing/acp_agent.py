"""A scripted ACP agent, a program: `python -m holdfast.testing.acp_agent SCRIPT`. A fake, and a nasty one.

SCRIPT is a JSON file; beside it, in SCRIPT.store, the agent keeps its conversations, one file each, so
that a later process can load or resume them. Turn n of a conversation plays row n of `turns`; past the end it
says "done". The script says what the agent can do (`can`: load, resume, list, fork), how it comes up, and how it
misbehaves; a row is a list of steps (see `STEPS`). With `crash_at: k` it dies at the k-th line it would say, once.
"""

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Json = dict[str, Any]
CANCELLED = "cancelled"


class TurnOver(Exception):
    """With the stop reason."""


class Refused(Exception):
    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Agent:
    def __init__(self, script: Path) -> None:
        self.script: Json = json.loads(script.read_text())
        self.store = script.with_suffix(script.suffix + ".store")
        self.store.mkdir(exist_ok=True)
        self.inbox: queue.Queue[Json | None] = queue.Queue()
        self.said = self.asked = 0
        self.mode = self.script.get("modes", [""])[0]
        self.session = ""

    # --- lines ----------------------------------------------------------------------------------

    def say(self, message: Json) -> None:
        self.said += 1
        crash, mark = self.script.get("crash_at"), self.store / "crashed"
        if crash == self.said and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        line = json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
        self.raw(line)

    def raw(self, line: bytes) -> None:
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()

    def listen(self) -> None:
        for line in sys.stdin.buffer:
            self.inbox.put(json.loads(line))
        self.inbox.put(None)

    def hear(self, seconds: float | None = None) -> Json | None:
        """Within a turn: answers come back, a cancel ends it."""
        with contextlib.suppress(queue.Empty):
            message = self.inbox.get(timeout=seconds)
            if message is None:
                self.leave()
            elif message.get("method") == "session/cancel":
                if not self.script.get("ignores_cancel"):
                    raise TurnOver(self.script.get("says_when_cancelled", CANCELLED))
            else:
                return message
        return None

    def leave(self) -> None:
        if self.script.get("stays"):  # as some do when nobody talks to them any more
            threading.Event().wait()
        os._exit(0)

    # --- conversations --------------------------------------------------------------------------

    def file(self, id: str) -> Path:
        return self.store / f"{id}.jsonl"

    def lines(self, id: str) -> list[Json]:
        text = self.file(id).read_text() if self.file(id).exists() else ""
        return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]

    def keep(self, update: Json) -> None:
        with self.file(self.session).open("a") as file:
            file.write(json.dumps(update) + "\n")

    def update(self, update: Json, *, keep: bool = True) -> None:
        if keep:
            self.keep(update)
        self.say({"method": "session/update", "params": _params(self.session, update)})

    # --- methods --------------------------------------------------------------------------------

    def serve(self) -> None:
        if self.script.get("ignores_term"):
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        threading.Thread(target=self.listen, daemon=True).start()
        while (message := self.inbox.get()) is not None:
            self.one(message)
        self.leave()

    def one(self, message: Json) -> None:
        method, id = message.get("method", ""), message.get("id")
        handler = METHODS.get(method)
        if id is None:
            return
        self.note(method, message.get("params", {}))
        try:
            if handler is None:
                raise Refused(-32601, f"Method not found: {method}")
            result = handler(self, message.get("params", {}))
        except Refused as refused:
            self.say({"id": id, "error": {"code": refused.code, "message": str(refused)}})
        else:
            self.say({"id": id, "result": result})
            if method == "session/load" and self.script.get("replays") == "late":
                self.replay()
            if method == "session/prompt" and "afterwards" in self.script:
                self.say(self.script["afterwards"])

    def note(self, method: str, params: Json) -> None:
        """What it was asked, for tests to look at."""
        with (self.store / "asked").open("a") as file:
            file.write(json.dumps({"method": method, "params": params, "pid": os.getpid()}) + "\n")

    def initialize(self, _params: Json) -> Json:
        how = self.script.get("init", "ok")
        if how == "never":
            threading.Event().wait()
        if how == "exit":
            sys.stderr.write(self.script.get("last_words", "cannot start\n"))
            sys.stderr.flush()
            os._exit(3)
        can = self.script.get("can", ["load", "resume"])
        sessions: Json = {name: {} for name in ("resume", "list", "fork") if name in can}
        abilities = {"loadSession": "load" in can, "sessionCapabilities": sessions}
        version = how if isinstance(how, int) else 1
        info = {"name": "scripted", "version": "1"}
        return {"protocolVersion": version, "agentCapabilities": abilities, "agentInfo": info}

    def new(self, params: Json) -> Json:
        if self.script.get("auth"):
            raise Refused(-32000, "Authentication required")
        number = len(list(self.store.glob("s*.jsonl"))) + 1
        self.session = f"s{number}"
        self.file(self.session).touch()
        return {"sessionId": self.session, **self.options()}

    def load(self, params: Json) -> Json | None:
        self.come_back(params, "load")
        if self.script.get("replays", "before") == "before":
            self.replay()
        return self.options() or None

    def resume(self, params: Json) -> Json:
        self.come_back(params, "resume")
        return self.options()

    def fork(self, params: Json) -> Json:
        self.come_back(params, "fork")
        known = self.file(self.session).read_bytes()
        self.session = f"s{len(list(self.store.glob('s*.jsonl'))) + 1}"
        self.file(self.session).write_bytes(known)
        return {"sessionId": self.session, **self.options()}

    def come_back(self, params: Json, how: str) -> None:
        refuses = self.script.get("refuses", {}).get(how)
        if refuses:
            raise Refused(*refuses)
        if how not in self.script.get("can", ["load", "resume"]):
            raise Refused(-32601, "Method not found")
        if not self.file(params["sessionId"]).exists():
            raise Refused(-32002, "Resource not found")
        self.session = params["sessionId"]

    def replay(self) -> None:
        for update in self.lines(self.session):
            self.update(update, keep=False)

    def options(self) -> Json:
        found: Json = {}
        if "another_id" in self.script:
            found["sessionId"] = self.script["another_id"]
        if modes := self.script.get("modes"):
            self.mode = modes[0]  # it always comes back in its default
            offered = [{"id": mode, "name": mode} for mode in modes]
            found["modes"] = {"currentModeId": self.mode, "availableModes": offered}
        if models := self.script.get("models"):
            offered = [{"modelId": model, "name": model} for model in models]
            found["models"] = {"currentModelId": models[0], "availableModels": offered}
        return found

    def set_mode(self, params: Json) -> Json:
        if self.script.get("keeps_mode"):
            raise Refused(-32603, "the mode cannot be changed")
        self.mode = params["modeId"]
        return {}

    def set_model(self, _params: Json) -> Json:
        return {}

    def prompt(self, params: Json) -> Json:
        text = "".join(block.get("text", "") for block in params["prompt"])
        turns = self.script.get("turns", [])
        n = sum(u["sessionUpdate"] == "user_message_chunk" for u in self.lines(self.session))
        n = self.script.get("from_turn", 0) + n
        if not self.script.get("forgets_prompt"):
            self.keep(_chunk("user_message_chunk", text))
        stop = "end_turn"
        try:
            for step in turns[n] if n < len(turns) else [{"text": "done"}]:
                for name, value in step.items():
                    STEPS[name](self, value)
                self.hear(0)
        except TurnOver as over:
            stop = str(over)
        return {"stopReason": stop, "usage": {"inputTokens": 10, "outputTokens": 5}}

    # --- steps ----------------------------------------------------------------------------------

    def tool(self, given: Json) -> None:
        self.asked += 1
        id = given.get("id", f"{self.session}-{os.getpid()}-{self.asked}")
        kind, title = given.get("kind", "execute"), given.get("title", "Run it")
        call = {"toolCallId": id, "title": title, "kind": kind, "rawInput": given.get("input", {})}
        self.update({"sessionUpdate": "tool_call", "status": "pending", **call})
        status = "failed" if given.get("failed") else "completed"
        if "ask" in given and self.ask(id, given["ask"]) != "yes":
            status, given = "failed", {**given, "output": "not allowed", "write": None}
        if write := given.get("write"):
            Path(write["path"]).write_text(write["text"])
        if given.get("dies"):
            os.kill(os.getpid(), signal.SIGKILL)
        content = [{"type": "content", "content": _text(given.get("output", "ok"))}]
        ended = {"toolCallId": id, "status": status, "content": content}
        self.update({"sessionUpdate": "tool_call_update", **ended})

    def ask(self, call: str, options: list[list[str]]) -> str:
        self.asked += 1
        id = 1000 + self.asked
        offered = [{"optionId": o, "name": o, "kind": kind} for o, kind in options]
        asked = {"sessionId": self.session, "toolCall": {"toolCallId": call}, "options": offered}
        self.say({"id": id, "method": "session/request_permission", "params": asked})
        while True:
            message = self.hear()
            if message and message.get("id") == id:
                self.note("answered", message.get("result", {}))
                return str(message["result"]["outcome"].get("optionId", CANCELLED))

    def flood(self, count: int) -> None:
        for _ in range(count):
            self.update(_chunk("agent_message_chunk", "x" * 50))

    def hang(self, _value: object) -> None:
        while True:
            self.hear(0.05)

    def orphan(self, _value: object) -> None:
        """Left behind in a session of its own, ignoring the polite word, holding our output."""
        stubborn = "import signal,time\nsignal.signal(15,signal.SIG_IGN)\ntime.sleep(600)"
        subprocess.Popen([sys.executable, "-c", stubborn], start_new_session=True)  # noqa: S603


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _chunk(kind: str, text: str) -> Json:
    return {"sessionUpdate": kind, "content": _text(text)}


def _params(session: str, update: Json) -> Json:
    return {"sessionId": session, "update": update}


def _fail(value: list[Any]) -> None:
    raise Refused(*value)


def _stop(value: str) -> None:
    raise TurnOver(value)


def _stderr(size: int) -> None:
    for _ in range(size // 1024):
        os.write(2, b"e" * 1023 + b"\n")


METHODS: dict[str, Callable[[Agent, Json], Json | None]] = {
    "initialize": Agent.initialize,
    "session/new": Agent.new,
    "session/load": Agent.load,
    "session/resume": Agent.resume,
    "session/fork": Agent.fork,
    "session/set_mode": Agent.set_mode,
    "session/set_model": Agent.set_model,
    "session/prompt": Agent.prompt,
}
STEPS: dict[str, Callable[[Agent, Any], None]] = {
    "text": lambda a, v: a.update(_chunk("agent_message_chunk", v)),
    "think": lambda a, v: a.update(_chunk("agent_thought_chunk", v)),
    "tool": Agent.tool,
    "update": lambda a, v: a.update(v),  # any other, as it is
    "sleep": lambda _a, v: time.sleep(v),
    "hang": Agent.hang,
    "die": lambda _a, _v: os.kill(os.getpid(), signal.SIGKILL),
    "exit": lambda _a, v: os._exit(v),
    "orphan": Agent.orphan,
    "junk": lambda a, v: a.raw(v.encode() + b"\n"),
    "big": lambda a, v: a.raw(b'{"x":"' + b"y" * v + b'"}\n'),
    "flood": Agent.flood,
    "stderr": lambda _a, v: _stderr(v),
    "fail": lambda _a, v: _fail(v),
    "stop": lambda _a, v: _stop(v),
}


if __name__ == "__main__":
    Agent(Path(sys.argv[1])).serve()
