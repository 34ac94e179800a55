"""The runs inside this process: the floor and ours, alone and in turn.

In turn means one step of ours, then one of the floor, on the same file system: what the
rest of the machine does then happens to both, and the ratio holds where microseconds do not.
"""

from collections.abc import Awaitable, Callable
from pathlib import Path
from time import perf_counter_ns

from bench.floor import Floor
from bench.measure import Point, Recorder
from bench.ours import Ours
from bench.results import Round
from bench.workload import Message


async def floor_alone(folder: Path, talk: list[Message], lengths: list[int]) -> list[Point]:
    """The floor by itself; leaves its closed file in the folder."""
    floor = Floor(folder)
    recorder = Recorder(lengths, floor.bytes_on_disk)
    for message in talk:
        _time(recorder, floor.step, message)
    floor.close()
    return recorder.points


async def ours_alone(folder: Path, talk: list[Message], lengths: list[int]) -> list[Point]:
    """Ours by itself; leaves its closed store in the folder."""
    ours = Ours()
    await ours.open(folder)
    recorder = Recorder(lengths, ours.bytes_on_disk)
    for message in talk:
        await _time_async(recorder, ours.step, message)
    await ours.close()
    return recorder.points


async def in_turn(folder: Path, talk: list[Message], lengths: list[int]) -> Round:
    """One round of ours and the floor, step by step."""
    places = folder / "ours", folder / "floor"
    for place in places:
        place.mkdir()
    ours = Ours()
    await ours.open(places[0])
    floor = Floor(places[1])
    our_times = Recorder(lengths, ours.bytes_on_disk)
    floor_times = Recorder(lengths, floor.bytes_on_disk)
    for message in talk:
        await _time_async(our_times, ours.step, message)
        _time(floor_times, floor.step, message)
    await ours.close()
    floor.close()
    return Round(ours=our_times.points, floor=floor_times.points)


def _time(recorder: Recorder, step: Callable[[Message], None], message: Message) -> None:
    started = perf_counter_ns()
    step(message)
    recorder.add(perf_counter_ns() - started)


async def _time_async(
    recorder: Recorder, step: Callable[[Message], Awaitable[None]], message: Message
) -> None:
    started = perf_counter_ns()
    await step(message)
    recorder.add(perf_counter_ns() - started)
