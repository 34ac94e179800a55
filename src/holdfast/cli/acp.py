"""`acp`: Holdfast itself as an ACP agent on stdio (SPEC E16).

An editor gets durable, resumable sessions of any agent. It talks JSON-RPC here; the work is done by
the daemon and goes on when the editor goes away. Standard output carries the protocol alone.
"""

import os
import queue
import sys
import threading
from collections.abc import Callable
from typing import Any

import click
import msgspec

from holdfast.cli.acp_sessions import Sessions, Trouble
from holdfast.cli.output import connect, note
from holdfast.client import ApiError, DaemonDown, DaemonLost
from holdfast.config import load

PARSE, INVALID, NO_METHOD, INTERNAL = -32700, -32600, -32601, -32603
LINE = 16 << 20  # bytes of one message


@click.command()
@click.option("--agent", help="Which agent the editor gets; default: as configured.")
@click.option("--model", help="provider:model")
@click.option("--mode", help="What it may do without asking.")
def acp(*, agent: str | None, model: str | None, mode: str | None) -> int:
    """Be an ACP agent on standard input and output, for an editor."""
    config = load(os.environ)
    chosen = agent or str(config.get("agent"))
    editor = Stdio()
    sessions = Sessions(connect(), editor.notify, editor.ask, agent=chosen, model=model, mode=mode)
    editor.serve(sessions)
    return 0


class Stdio:
    """One JSON-RPC peer. Each request has its own thread: a turn lasts for hours."""

    def __init__(self) -> None:
        self._writing = threading.Lock()
        self._numbers = 0
        self._waiting: dict[int, queue.SimpleQueue[dict[str, Any] | None]] = {}

    def serve(self, sessions: Sessions) -> None:
        while line := sys.stdin.buffer.readline(LINE):
            if not line.strip():
                continue
            try:
                given = msgspec.json.decode(line, type=dict[str, Any])
            except msgspec.DecodeError as error:
                self._error(None, PARSE, f"This line is not JSON: {error}")
                continue
            if "method" not in given:
                self._answered(given)
            elif "id" in given:
                begin = threading.Thread(target=self._handle, args=(sessions, given), daemon=True)
                begin.start()
            elif given["method"] == "session/cancel":
                _quietly(sessions.cancel, given)
        for waiting in self._waiting.values():
            waiting.put(None)

    def _handle(self, sessions: Sessions, given: dict[str, Any]) -> None:
        id, method, params = given["id"], given["method"], given.get("params") or {}
        handler = sessions.methods().get(method)
        if handler is None:
            self._error(id, NO_METHOD, f"There is no method {method!r} here.")
            return
        try:
            self._send({"id": id, "result": handler(params)})
        except Trouble as trouble:
            self._error(id, trouble.code, str(trouble), trouble.data)
        except ApiError as error:
            code = -32002 if error.code == "not_found" else INVALID
            self._error(id, code, f"{error.message} {error.hint}".strip())
        except (DaemonDown, DaemonLost) as error:
            self._error(id, INTERNAL, str(error))
        except (KeyError, TypeError, msgspec.ValidationError) as error:
            self._error(id, -32602, f"{method}: {type(error).__name__}: {error}")

    # --- what we say --------------------------------------------------------------------------------

    def notify(self, method: str, params: dict[str, Any]) -> None:
        self._send({"method": method, "params": params})

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any] | None:
        """None: the editor is gone, or did not want to say."""
        answer: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        with self._writing:
            self._numbers += 1
            number = self._numbers
            self._waiting[number] = answer
        self._send({"id": number, "method": method, "params": params})
        found = answer.get()
        del self._waiting[number]
        return found.get("result") if found else None

    def _answered(self, given: dict[str, Any]) -> None:
        number = given.get("id")
        waiting = self._waiting.get(number) if isinstance(number, int) else None
        if waiting is not None:
            waiting.put(given)

    def _error(self, id: Any, code: int, message: str, data: object = None) -> None:
        error: dict[str, Any] = {"code": code, "message": message}
        self._send({"id": id, "error": error | ({"data": data} if data else {})})

    def _send(self, message: dict[str, Any]) -> None:
        line = msgspec.json.encode({"jsonrpc": "2.0", **message}) + b"\n"
        with self._writing:
            try:
                sys.stdout.buffer.write(line)
                sys.stdout.buffer.flush()
            except BrokenPipeError:
                return  # the editor is gone; the end of its input says so too


def _quietly(work: Callable[[dict[str, Any]], object], given: dict[str, Any]) -> None:
    """A notification has no answer; what is wrong with it is said beside the protocol."""
    try:
        work(given.get("params") or {})
    except (ApiError, DaemonDown, DaemonLost, KeyError, TypeError) as error:
        note(f"hold acp: {given['method']}: {error}")
