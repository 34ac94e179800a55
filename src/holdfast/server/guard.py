"""The door itself: an ASGI application around the application, one for each way in.

Whatever is routed later, by whichever framework, has been asked for here: there is no route that
forgets. It also adds what every answer carries and counts each client's commands.
"""

import time
from collections import deque
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qs

import msgspec

from holdfast.server import page
from holdfast.server.auth import SAFE, Asked, Denied, Doorman
from holdfast.wire import CODES, ErrorBody, ErrorOut

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[..., Awaitable[None]]  # whatever speaks ASGI

COMMANDS, WINDOW = 120, 60.0  # per client: so many in so many seconds
CLIENTS = 1000  # remembered at once
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; font-src 'self'; manifest-src 'self'; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
HEADERS = [
    (b"content-security-policy", CSP.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=(), payment=(), usb=()"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]


class Pace:
    """How many commands each client has given lately."""

    def __init__(self, limit: int = COMMANDS, window: float = WINDOW) -> None:
        self._limit, self._window = limit, window
        self._given: dict[str, deque[float]] = {}

    def wait(self, client: str) -> float:
        """Counts one. More than nothing: too many; so many seconds until the next."""
        now = time.monotonic()
        given = self._given.pop(client, None) or deque()
        self._given[client] = given  # the one heard last is at the end
        if len(self._given) > CLIENTS:
            del self._given[next(iter(self._given))]
        while given and given[0] <= now - self._window:
            given.popleft()
        if len(given) >= self._limit:
            return given[0] + self._window - now
        given.append(now)
        return 0.0


class Guard:
    def __init__(self, app: App, doorman: Doorman, pace: Pace, *, unix: bool) -> None:
        self._app, self._doorman, self._pace, self._unix = app, doorman, pace, unix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        asked = _asked(scope, unix=self._unix)
        scope["holdfast.unix"] = self._unix
        scope["holdfast.client"] = client = _client(scope, asked)
        dressed = _dressed(send)
        try:
            if scope["type"] == "http" and scope["path"] == "/login":
                await self._login(scope, asked, dressed)
                return
            if _for_a_person(scope, asked) and await self._page(scope, asked, dressed):
                return
            self._doorman.check(asked)
        except Denied as denied:
            await _deny(scope, dressed, denied.code, denied.message, denied.hint)
            return
        if self._doorman.closing and (asked.upgrade or asked.method not in SAFE):
            await _deny(scope, dressed, "unavailable", "The daemon is stopping.", "Try again.")
            return
        if not asked.upgrade and asked.method not in SAFE:
            wait = self._pace.wait(client)
            if wait:
                retry = [(b"retry-after", str(int(wait) + 1).encode())]
                await _deny(scope, dressed, "too_many", *TOO_MANY, more=retry)
                return
        await self._app(scope, receive, dressed)

    async def _page(self, scope: Scope, asked: Asked, send: Send) -> bool:
        """False: it is not for us."""
        self._doorman.check_place(asked)
        path, known = scope["path"], asked.one("if-none-match") or ""
        reply = page.serve(path, asked.one("accept-encoding") or "", known)
        if page.is_page(path):
            try:
                self._doorman.check(asked)
            except Denied as denied:
                if denied.code != "unauthorized":
                    raise
                reply = page.stranger()
        if reply is None:
            return False
        await _reply(reply, asked, send)
        return True

    async def _login(self, scope: Scope, asked: Asked, send: Send) -> None:
        """A link that is opened by hand: a GET, with no Origin to look at, good for one time."""
        self._doorman.check_place(asked)
        if asked.method != "GET":
            raise Denied("not_found", "There is nothing here.")
        code = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("code", [""])[0]
        try:
            value = self._doorman.exchange(code)
        except Denied:
            if not page.wants_page(asked.one("accept") or ""):
                raise
            # An installed page or a second click: whoever is in already needs no link.
            known = self._doorman.knows(asked)
            await _reply(page.home() if known else page.used_up(), asked, send)
            return
        secure = "; Secure" if _behind_tls(asked) else ""
        cookie = f"{self._doorman.cookie}={value}; HttpOnly; SameSite=Strict; Path=/{secure}"
        headers = [(b"location", b"/"), (b"set-cookie", cookie.encode())]
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})


async def _reply(reply: page.Reply, asked: Asked, send: Send) -> None:
    start = {"type": "http.response.start", "status": reply.status, "headers": reply.headers}
    await send(start)
    body = b"" if asked.method == "HEAD" else reply.body
    await send({"type": "http.response.body", "body": body})


def _for_a_person(scope: Scope, asked: Asked) -> bool:
    path: str = scope["path"]
    return not asked.upgrade and asked.method in SAFE and not path.startswith("/api")


TOO_MANY = ("Too many commands: 120 a minute.", "Wait a little.")


def _behind_tls(asked: Asked) -> bool:
    return asked.one("x-forwarded-proto") == "https"


def _asked(scope: Scope, *, unix: bool) -> Asked:
    headers: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    upgrade = scope["type"] == "websocket"
    method = "GET" if upgrade else scope["method"]
    return Asked(method=method, upgrade=upgrade, unix=unix, headers=headers)


def _client(scope: Scope, asked: Asked) -> str:
    """Who counts as one client. Each command line names itself; a browser is its address."""
    named = asked.one("x-holdfast-client")
    address = scope.get("client")
    place = address[0] if address else "unix"
    return f"{place}/{named[:64]}" if named else place


def _dressed(send: Send) -> Send:
    async def with_headers(message: Message) -> None:
        if message["type"] in ("http.response.start", "websocket.http.response.start"):
            given = message.get("headers", [])
            said = {name.lower() for name, _ in given}
            ours = [header for header in HEADERS if header[0] not in said]
            message["headers"] = [*given, *ours]
        await send(message)

    return with_headers


async def _deny(
    scope: Scope,
    send: Send,
    code: str,
    text: str,
    hint: str,
    more: list[tuple[bytes, bytes]] | None = None,
) -> None:
    """Before the upgrade, so a refused socket is a plain HTTP answer where the server can say so."""
    body = msgspec.json.encode(ErrorOut(error=ErrorBody(code=code, message=text, hint=hint)))
    if scope["type"] == "websocket" and "websocket.http.response" not in scope.get(
        "extensions", {}
    ):
        await send({"type": "websocket.close", "code": 4000 + CODES[code] % 1000})
        return
    kind = "websocket.http.response" if scope["type"] == "websocket" else "http.response"
    headers = [(b"content-type", b"application/json"), *(more or [])]
    headers.append((b"content-length", str(len(body)).encode()))
    await send({"type": f"{kind}.start", "status": CODES[code], "headers": headers})
    await send({"type": f"{kind}.body", "body": body})
