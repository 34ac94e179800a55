"""Clocks and sizes, the same for every store and every process."""

import importlib
import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

WINDOW = 0.1
"""Latency at a length is that of the last tenth of the steps up to it."""

_STEPS_BETWEEN_SIZE_CHECKS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """What a step costs, and what lies on disk, at one length of the conversation."""

    length: int
    p50_us: float
    p99_us: float
    worst_us: float
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """Bringing the last state back in a new process."""

    import_cpu: float
    load_wall: float
    load_cpu: float
    messages: int


def quantile(values: Sequence[float], share: float) -> float:
    """The nearest rank: always a value that was measured."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def median(values: Sequence[float]) -> float:
    """The middle value; of an even number, the mean of the middle two."""
    ordered, half = sorted(values), len(values) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def exponent(first: tuple[float, float], last: tuple[float, float]) -> float:
    """The power of the length with which a value grows between two (length, value) pairs."""
    return math.log(last[1] / first[1]) / math.log(last[0] / first[0])


def folder_bytes(folder: Path) -> int:
    """Database and log as they lie there, open. The -shm file is memory, not data."""
    total = 0
    for path in folder.iterdir():
        # A rollback journal may be gone between the listing and the look.
        if path.is_file() and not path.name.endswith("-shm"):
            try:
                total += path.stat().st_size
            except FileNotFoundError:
                continue
    return total


def peak_rss_mb() -> float:
    """The most memory this process ever held.

    Read from the kernel's own high-water mark: what getrusage says can include the
    parent, from the moment between fork and exec.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    import resource
    import sys

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)


def import_cpu(*modules: str) -> float:
    """CPU seconds to import these, the first time in this process."""
    started = time.process_time()
    for module in modules:
        importlib.import_module(module)
    return time.process_time() - started


def timed_load(imports: float, load: Callable[[], int]) -> Load:
    """Time a load that returns how many messages it brought back."""
    wall, cpu = time.perf_counter(), time.process_time()
    count = load()
    return Load(
        import_cpu=imports,
        load_wall=time.perf_counter() - wall,
        load_cpu=time.process_time() - cpu,
        messages=count,
    )


def say(**line: object) -> None:
    """One JSON line to the driver."""
    print(json.dumps(line), flush=True)


class Recorder:
    """Collects step times and makes a point of them at each length."""

    def __init__(
        self,
        lengths: Sequence[int],
        size: Callable[[], int],
        *,
        seconds: float = math.inf,
        limit_bytes: float = math.inf,
    ) -> None:
        self.points: list[Point] = []
        self.stopped = ""
        self._lengths = list(lengths)
        self._size = size
        self._seconds = seconds
        self._limit_bytes = limit_bytes
        self._times: list[int] = []
        self._started = time.monotonic()

    @property
    def steps(self) -> int:
        """How many messages are durable."""
        return len(self._times)

    @property
    def done(self) -> bool:
        """Whether the last length or a limit is reached."""
        return bool(self.stopped) or self.steps >= self._lengths[-1]

    def add(self, nanoseconds: int) -> None:
        """One more step took this long."""
        self._times.append(nanoseconds)
        if self.steps in self._lengths:
            self.points.append(self._point())
        if not self.done and self.steps % _STEPS_BETWEEN_SIZE_CHECKS == 0:
            self._check_limits()

    def _check_limits(self) -> None:
        if time.monotonic() - self._started > self._seconds:
            self.stopped = f"stopped after {self._seconds:.0f} s"
        elif self._limit_bytes < math.inf and self._size() > self._limit_bytes:
            self.stopped = f"stopped at {self._limit_bytes / 1e9:.1f} GB"
        if self.stopped and self.steps not in self._lengths:
            self.points.append(self._point())

    def _point(self) -> Point:
        window = self._times[-max(1, round(self.steps * WINDOW)) :]
        return Point(
            length=self.steps,
            p50_us=quantile(window, 0.5) / 1000,
            p99_us=quantile(window, 0.99) / 1000,
            worst_us=max(window) / 1000,
            bytes=self._size(),
        )

    def tell(self) -> None:
        """All that was measured, to the driver."""
        for point in self.points:
            say(point=asdict(point))
        say(steps=self.steps, stopped=self.stopped)
