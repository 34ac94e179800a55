"""Files that grow, and a bell that rings when one may have."""

import asyncio
import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from holdfast.agents.transcripts import opencode_events
from holdfast.agents.transcripts.scan import lines
from holdfast.core.ids import Token

CHANGES = ("created", "modified", "moved")
TICK = 100_000_000  # ns: how far apart two writes are that have different times, for certain


class Tail:
    """The finished lines of a file from a place on."""

    def __init__(self, path: Path, offset: int = 0) -> None:
        self.path, self.offset = path, offset
        self.cut = False  # it became shorter: what is left of it was read
        self._seen = (0, -1)

    async def read(self) -> list[tuple[bytes | None, int]]:
        """Lines with the place after each; None for one that is too long."""
        try:
            now = self.path.stat()
        except OSError:
            return []
        if now.st_size < self.offset:
            self.cut, self.offset = True, now.st_size
        if (now.st_ino, now.st_size) == self._seen or now.st_size == self.offset:
            return []
        self._seen = (now.st_ino, now.st_size)
        try:
            found = await asyncio.to_thread(list, _lines(self.path, self.offset))
        except OSError:
            return []
        if found:
            self.offset = found[-1][1]
        return found


def _lines(path: Path, offset: int) -> Iterator[tuple[bytes | None, int]]:
    yield from lines(path, offset)


class Rows:
    """The rows of a table that only grows, from a number on.

    A look into a database touches its files, which rings the bell: without a change there is no look.
    """

    cut = False

    def __init__(self, path: Path, token: Token, offset: int = 0) -> None:
        self.path, self.offset = path, offset
        self._token = token
        self._seen: tuple[int, ...] = ()
        self._again = 0  # when to look once more: two writes may bear the same time

    async def read(self) -> list[tuple[bytes | None, int]]:
        now, written = time.time_ns(), _written(self.path)
        if written == self._seen and not 0 < self._again <= now:
            return []
        self._seen = written
        self._again = now + TICK if max(written, default=0) > now - TICK else 0
        found = await asyncio.to_thread(opencode_events.rows, self.path, self._token, self.offset)
        if found:
            self.offset = found[-1][1]
        return [*found]


def _written(path: Path) -> tuple[int, ...]:
    """When a database and its log were written to last."""
    times = []
    for file in (path, path.with_name(f"{path.name}-wal")):
        with contextlib.suppress(OSError):
            times.append(file.stat().st_mtime_ns)
    return tuple(times)


class Bell:
    """Rings when something in one of the watched folders changes. Without a watcher of the system's
    whoever waits looks often instead."""

    OFTEN, SELDOM = 0.03, 0.5

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._rung = asyncio.Event()
        self._observer: Any = None
        self._watched: set[Path] = set()
        self._blind = False

    def ring(self) -> None:
        self._rung.set()

    def watch(self, folder: Path) -> None:
        if folder in self._watched or self._blind or not folder.is_dir():
            return
        try:
            self._schedule(folder)
        except Exception:  # noqa: BLE001  whatever the watcher's trouble is, we look ourselves
            self._blind = True
        self._watched.add(folder)

    async def wait(self, seconds: float, *, blind: bool = False) -> None:
        """`blind`: what is waited for is in no folder that is watched."""
        limit = min(seconds, self.OFTEN if blind or self._blind else self.SELDOM)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limit):
                await self._rung.wait()
        self._rung.clear()

    async def close(self) -> None:
        observer, self._observer = self._observer, None
        if observer is not None:
            observer.stop()
            await asyncio.to_thread(observer.join)

    def _schedule(self, folder: Path) -> None:
        from watchdog.events import FileSystemEvent, FileSystemEventHandler  # noqa: PLC0415  heavy
        from watchdog.observers import Observer  # noqa: PLC0415

        bell = self

        class Handler(FileSystemEventHandler):
            def on_any_event(self, event: FileSystemEvent) -> None:
                if event.event_type in CHANGES:
                    with contextlib.suppress(RuntimeError):  # the loop is closed
                        bell._loop.call_soon_threadsafe(bell.ring)

        if self._observer is None:
            self._observer = Observer()
            self._observer.daemon = True
            self._observer.start()
        self._observer.schedule(Handler(), str(folder), recursive=False)
