"""Reads a provider's stream at a pace: many small packets become one read, and `merge` makes fewer
events of it. Also where time limits are set: one place for all providers.

Below a provider's library, above the network. Loaded with the library, never before.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar

import httpx2

from holdfast.agents.builtin.providers.merge import Merger
from holdfast.core.value import Value

PACE = 0.03  # seconds between two reads: nobody reads faster
MOST = 1 << 20  # bytes that wait for whoever reads; then the network waits
CONNECTIONS = 1000


class Patience(Value):
    """Seconds. A model that thinks may be silent for long; most of them send signs of life."""

    connect: float = 10.0
    silence: float = 300.0


class WebPage(httpx2.RemoteProtocolError):
    """Success, and a page: a login wall or a proxy answered, no model."""

    def __init__(self, status: int) -> None:
        super().__init__("a web page, not an answer of a model")
        self.status = status


def client(patience: Patience) -> httpx2.AsyncClient:
    """One for all providers; whoever made it closes it. Proxies are taken from the environment."""
    limits = {"connect": patience.connect, "read": patience.silence}
    limits |= {"write": patience.silence, "pool": patience.connect}

    async def limit(request: httpx2.Request) -> None:
        # Whatever a provider's own library thinks is long enough.
        request.extensions = {**request.extensions, "timeout": dict(limits)}

    async def pace(response: httpx2.Response) -> None:
        kind = response.headers.get("content-type", "")
        if kind.startswith("text/html") and response.is_success:
            raise WebPage(response.status_code)
        if kind.startswith("text/event-stream") and "content-encoding" not in response.headers:
            assert isinstance(response.stream, httpx2.AsyncByteStream)
            response.stream = stream = PacedStream(response.stream)
            _OPENED.get([]).append(stream)

    return httpx2.AsyncClient(
        timeout=httpx2.Timeout(patience.silence, connect=patience.connect),
        limits=httpx2.Limits(max_connections=CONNECTIONS, max_keepalive_connections=20),
        # What is compressed cannot be merged, and words come in pieces too small to gain from it.
        headers={"Accept-Encoding": "identity"},
        event_hooks={"request": [limit], "response": [pace]},
    )


_OPENED: ContextVar[list["PacedStream"]] = ContextVar("streams of this request")


@asynccontextmanager
async def hanging_up() -> AsyncIterator[None]:
    """Whatever is opened in here is closed at its end. Not every library hangs up when it is left, and
    a model that nobody listens to goes on to cost money."""
    opened: list[PacedStream] = []
    _OPENED.set(opened)  # never reset: a generator may be closed in another context
    try:
        yield
    finally:
        for stream in opened:
            await stream.aclose()


class PacedStream(httpx2.AsyncByteStream):
    """A task reads; whoever iterates gets all that has come since.

    A packet may hold many chunks, and those come without waiting. So the task rests at the first chunk of
    a packet, takes the others after that, and says so when it waits for the network again: by then as
    much has arrived as the pace allows, and the next packet holds all of it. After a silence the first
    chunk is given on at once.
    """

    def __init__(self, source: httpx2.AsyncByteStream, pace: float = PACE) -> None:
        self._source, self._pace = source, pace
        self._merger = Merger()
        self._ready: list[bytes] = []
        self._size = 0
        self._news, self._room = asyncio.Event(), asyncio.Event()
        self._waited = True
        self._failed: BaseException | None = None
        self._task: asyncio.Task[None] | None = None

    async def __aiter__(self) -> AsyncIterator[bytes]:
        self._task = asyncio.create_task(self._read())
        while True:
            over = self._task.done()
            ready, self._ready, self._size = self._ready, [], 0
            self._news.clear()
            self._room.set()
            out = self._merger.feed(b"".join(ready)) if ready else b""
            if over:
                out += self._merger.rest()
            if out:
                yield out
            if over:
                break
            if not self._ready and not self._task.done():
                await self._news.wait()
        if self._failed is not None:
            raise self._failed

    async def _read(self) -> None:
        loop = asyncio.get_running_loop()
        chunks = aiter(self._source)
        begun = 0.0  # when the last packet was taken
        try:
            async for chunk in chunks:
                self._ready.append(chunk)
                self._size += len(chunk)
                if self._waited:  # others had a turn since the last chunk: a packet begins
                    self._waited = False
                    if loop.time() - begun > 2 * self._pace:
                        self._news.set()
                    await asyncio.sleep(self._pace)
                    begun = loop.time()
                    loop.call_soon(self._wait_begins)
                while self._size > MOST:
                    self._news.set()
                    self._room.clear()
                    await self._room.wait()
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001  raised again where it is read
            self._failed = error
        finally:
            if isinstance(chunks, AsyncGenerator):
                await chunks.aclose()
            self._news.set()

    def _wait_begins(self) -> None:
        self._waited = True
        self._news.set()

    async def aclose(self) -> None:
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait({self._task})
        await self._source.aclose()
