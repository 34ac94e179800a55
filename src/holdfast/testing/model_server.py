"""A fake: a model server on loopback that says what a script tells it to, in four dialects.

Anthropic Messages, OpenAI Chat Completions and Responses, Gemini; streamed or whole. It also
breaks as servers break: an error first, a dropped connection, a hang, a page instead of JSON.
Every request is kept, so that what a model was really told is read, not believed.

    async with ModelServer([{"text": "hello"}]) as server:
        ... ANTHROPIC_BASE_URL=server.url, OPENAI_BASE_URL=server.url + "/v1"

    python -m holdfast.testing.model_server --script FILE --log FILE
"""

import argparse
import asyncio
import contextlib
import secrets
import signal
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import h11
import msgspec

from holdfast.core.value import Value
from holdfast.testing.model_dialects import Asked, Body, understand
from holdfast.testing.model_frames import Answer, answer, stream, whole
from holdfast.testing.model_script import (
    Failure,
    Reply,
    Script,
    ScriptMistake,
    as_reply,
    read_replies,
)

PAGE = b"<!doctype html><html><body><h1>Sign in to continue</h1></body></html>"
MODELS = ("scripted", "claude-scripted", "gpt-scripted", "gemini-scripted")
READ = 1 << 16


class Requested(Value):
    """One request, whole."""

    n: int
    at: float
    method: str
    path: str
    headers: dict[str, str]
    body: Body
    asked: Asked | None  # None: not for an answer (a list of models, a count of tokens ...)


class ModelServer:
    """`only_with_tools`: a request that offers no tools is one that a program makes for itself (a
    title, a summary, a check of the line); it is answered "ok" and uses up no reply."""

    def __init__(
        self,
        replies: Iterable[Reply | dict[str, object]] = (),
        *,
        log: Path | None = None,
        port: int = 0,
        only_with_tools: bool = False,
    ) -> None:
        self.script = Script(as_reply(reply) for reply in replies)
        self.requests: list[Requested] = []
        self.url = ""
        self._log, self._port, self._only_with_tools = log, port, only_with_tools
        self._salt = secrets.token_hex(3)  # ids of two servers in one conversation must differ
        self._open: set[asyncio.Task[None]] = set()
        self._arrived = asyncio.Event()

    def add(self, *replies: Reply | dict[str, object]) -> None:
        self.script.add(as_reply(reply) for reply in replies)

    @property
    def asked(self) -> list[Requested]:
        """The requests that the script answered."""
        return [r for r in self.requests if r.asked is not None and not self._aside(r.asked)]

    async def wait_for(self, count: int, *, within: float = 30) -> Requested:
        """Until that many were asked; gives the last of them."""
        async with asyncio.timeout(within):
            while len(self.asked) < count:
                self._arrived.clear()
                await self._arrived.wait()
        return self.asked[count - 1]

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", self._port)
        host, port = self._server.sockets[0].getsockname()
        self.url = f"http://{host}:{port}"
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)
        await self._server.wait_closed()

    # --- one connection ---------------------------------------------------------------------------

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            with contextlib.suppress(ConnectionError, h11.RemoteProtocolError):
                await self._converse(_Line(reader, writer))
        except asyncio.CancelledError:
            pass  # the server is closing; asyncio would report this as an error of ours
        finally:
            self._open.discard(task)
            writer.transport.abort()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    async def _converse(self, line: "_Line") -> None:
        while (request := await line.request()) is not None:
            head, raw = request
            requested = self._keep(head, raw)
            if not await self._reply(line, requested) or not line.again():
                return

    def _keep(self, head: h11.Request, raw: bytes) -> Requested:
        target = urlsplit(head.target.decode("latin-1"))
        try:
            body = msgspec.json.decode(raw, type=dict[str, Any]) if raw else {}
        except msgspec.DecodeError:
            body = {}
        asked = understand(target.path, target.query, body) if head.method == b"POST" else None
        requested = Requested(
            n=len(self.requests),
            at=time.time(),
            method=head.method.decode(),
            path=target.path,
            headers={k.decode("latin-1"): v.decode("latin-1") for k, v in head.headers},
            body=body,
            asked=asked,
        )
        self.requests.append(requested)
        if self._log is not None:
            with self._log.open("ab") as file:
                file.write(msgspec.json.encode(requested) + b"\n")
        self._arrived.set()
        return requested

    def _aside(self, asked: Asked) -> bool:
        return self._only_with_tools and not asked.tools

    async def _reply(self, line: "_Line", requested: Requested) -> bool:
        """False: the connection is finished."""
        asked = requested.asked
        if asked is None:
            status, body = _beside(requested)
            return await line.whole(status, body)
        given = Reply(text="ok") if self._aside(asked) else self.script.next(asked.last_user)
        if isinstance(given, Failure):
            return await line.fail(given)
        if given.hang:
            return await line.until_closed()
        if given.html:
            return await line.whole(200, PAGE, kind="text/html")
        return await line.answered(asked, answer(asked, given, f"{self._salt}{requested.n}"))


def _beside(requested: Requested) -> tuple[int, bytes]:
    """What programs ask besides: how many tokens, which models, are you there."""
    path = requested.path
    tokens = max(1, len(msgspec.json.encode(requested.body)) // 4)
    if path.endswith("/count_tokens"):
        return 200, msgspec.json.encode({"input_tokens": tokens})
    if path.endswith(":countTokens"):
        return 200, msgspec.json.encode({"totalTokens": tokens})
    if path.endswith("/models"):
        return 200, msgspec.json.encode(
            {
                "object": "list",
                "data": [_model(name) for name in MODELS],
                "models": [{"name": f"models/{name}", "displayName": name} for name in MODELS],
                "has_more": False,
            }
        )
    if requested.method == "GET" and "/models/" in path:
        return 200, msgspec.json.encode(_model(path.rpartition("/")[2]))
    if requested.method == "HEAD" or "event_logging" in path:
        return 200, b""
    error = {"type": "not_found_error", "code": 404, "message": f"Nothing answers at {path}."}
    return 404, msgspec.json.encode({"type": "error", "error": error})


def _model(name: str) -> dict[str, object]:
    created = "2025-01-01T00:00:00Z"
    kinds = {"object": "model", "type": "model", "owned_by": "holdfast", "created": 1_700_000_000}
    return {
        "id": name,
        "name": f"models/{name}",
        "display_name": name,
        "created_at": created,
    } | kinds


class _Line:
    """One connection, as requests and answers."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._h11 = h11.Connection(h11.SERVER)

    async def request(self) -> tuple[h11.Request, bytes] | None:
        head, body = None, b""
        while True:
            event = self._h11.next_event()
            match event:
                case h11.Request():
                    head = event
                case h11.Data():
                    body += bytes(event.data)
                case h11.EndOfMessage():
                    assert head is not None
                    return head, body
                case h11.NEED_DATA:
                    if self._h11.they_are_waiting_for_100_continue:
                        go_on = h11.InformationalResponse(status_code=100, headers=[])
                        await self._send(go_on)
                    self._h11.receive_data(await self._reader.read(READ))
                case _:  # closed, between two requests or in the middle of one
                    return None

    def again(self) -> bool:
        if self._h11.our_state is not h11.DONE or self._h11.their_state is not h11.DONE:
            return False
        self._h11.start_next_cycle()
        return True

    async def whole(
        self,
        status: int,
        body: bytes,
        *,
        kind: str = "application/json",
        headers: tuple[tuple[str, str], ...] = (),
    ) -> bool:
        length = ("content-length", str(len(body)))
        given = [("content-type", kind), length, ("request-id", secrets.token_hex(6)), *headers]
        await self._send(h11.Response(status_code=status, headers=given))
        await self._send(h11.Data(data=body))
        await self._send(h11.EndOfMessage())
        return True

    async def fail(self, failure: Failure) -> bool:
        wait = failure.retry_after
        headers = () if wait is None else (("retry-after", f"{wait:g}"),)
        if failure.html:
            return await self.whole(failure.status, PAGE, kind="text/html", headers=headers)
        error = {
            "type": ERRORS.get(failure.status, "api_error"),
            "code": failure.status,
            "status": ERRORS.get(failure.status, "api_error").upper(),
            "message": failure.message,
        }
        body = msgspec.json.encode({"type": "error", "error": error})
        return await self.whole(failure.status, body, headers=headers)

    async def answered(self, asked: Asked, said: Answer) -> bool:
        if asked.stream:
            return await self.streamed(asked, said)
        body = whole(asked, said)
        if said.reply.cut is not None:
            return await self.torn(body)
        await asyncio.sleep(said.reply.chunk_ms * len(said.words) / 1000)
        return await self.whole(200, body)

    async def streamed(self, asked: Asked, said: Answer) -> bool:
        kind = "application/json" if asked.array else "text/event-stream"
        given = [("content-type", kind), ("cache-control", "no-cache")]
        await self._send(h11.Response(status_code=200, headers=given))
        pieces = 0
        for frame in stream(asked, said):
            if frame.piece:
                if pieces == said.reply.cut:
                    return False
                pieces += 1
            await self._send(h11.Data(data=frame.data))
            if frame.piece and said.reply.chunk_ms:
                await asyncio.sleep(said.reply.chunk_ms / 1000)
        await self._send(h11.EndOfMessage())
        return True

    async def torn(self, body: bytes) -> bool:
        length = ("content-length", str(len(body)))
        await self._send(h11.Response(status_code=200, headers=[length]))
        await self._send(h11.Data(data=body[: len(body) // 2]))
        return False

    async def until_closed(self) -> bool:
        while await self._reader.read(READ):
            pass
        return False

    async def _send(
        self, event: h11.Response | h11.InformationalResponse | h11.Data | h11.EndOfMessage
    ) -> None:
        data = self._h11.send(event)
        if data:
            self._writer.write(data)
            await self._writer.drain()


ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


async def _serve(arguments: argparse.Namespace) -> None:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    replies = read_replies(arguments.script) if arguments.script else []
    aside = arguments.only_with_tools
    async with ModelServer(
        replies, log=arguments.log, port=arguments.port, only_with_tools=aside
    ) as server:
        print(server.url, flush=True)  # noqa: T201 - whoever started it reads the address here
        await stopped.wait()


def main() -> None:
    parser = argparse.ArgumentParser(prog="model_server", description="A scripted model server.")
    parser.add_argument("--script", type=Path, help="replies, one JSON object per line")
    parser.add_argument("--log", type=Path, help="requests are appended here, as JSON Lines")
    parser.add_argument("--port", type=int, default=0, help="0: any free one")
    parser.add_argument(
        "--only-with-tools",
        action="store_true",
        help='answer "ok" to what offers no tools, and use up no reply',
    )
    try:
        asyncio.run(_serve(parser.parse_args()))
    except (OSError, ScriptMistake) as error:
        sys.exit(f"model_server: {error}")


if __name__ == "__main__":
    main()
