"""The two ways in: TCP on loopback for the page, a Unix socket for the command line.

Both lead to one application, each through its own guard, so that which way a request came is known
by where it came in and not by anything it says.
"""

import asyncio
import contextlib
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import uvicorn

from holdfast.config import SOCKET
from holdfast.server.app import Leave, make_app
from holdfast.server.auth import Doorman
from holdfast.server.desk import Desk, Place
from holdfast.server.guard import Guard, Pace
from holdfast.wire import FRAME_BYTES

GRACE = 1  # seconds for answers that are under way when we go down


class Server(uvicorn.Server):
    """Signals are the daemon's business."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class Front:
    def __init__(
        self,
        desk: Desk,
        *,
        home: Path,
        token: str,
        tcp: socket.socket,
        unix: socket.socket,
        allow_hosts: tuple[str, ...],
        version: str,
        leave: Leave,
    ) -> None:
        port = tcp.getsockname()[1]
        self.place = Place(
            version=version,
            home=str(home),
            address=f"http://127.0.0.1:{port}",
            socket=str(home / SOCKET),
            port=port,
        )
        self._doorman = Doorman(token=token, port=port, allowed=allow_hosts, clock=time.monotonic)
        app = make_app(desk, place=self.place, doorman=self._doorman, leave=leave)
        pace = Pace()
        self._servers = [
            (_server(Guard(app, self._doorman, pace, unix=False)), tcp),
            (_server(Guard(app, self._doorman, pace, unix=True)), unix),
        ]
        self._tasks: list[asyncio.Task[None]] = []

    async def open(self) -> None:
        self._tasks = [
            asyncio.create_task(server.serve(sockets=[listener]))
            for server, listener in self._servers
        ]
        while not all(server.started for server, _ in self._servers):
            for task in self._tasks:
                if task.done():
                    task.result()
            await asyncio.sleep(0.005)

    def refuse_work(self) -> None:
        self._doorman.closing = True

    async def close(self) -> None:
        for server, _ in self._servers:
            server.should_exit = True
        await asyncio.gather(*self._tasks, return_exceptions=True)


def _server(app: Guard) -> Server:
    return Server(
        uvicorn.Config(
            app,
            http="h11",
            ws="websockets-sansio",
            ws_max_size=FRAME_BYTES,
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=30,
            timeout_graceful_shutdown=GRACE,
        )
    )
