"""What is done to an agent in a terminal, as a person would do it."""

import asyncio
import contextlib

from holdfast.agents.terminal.seat import Seat
from holdfast.agents.terminal.turn import clock


async def come_up(seat: Seat) -> str:
    """Why it did not; empty: it is ready."""
    waits = seat.waits
    begun = clock()
    while clock() - begun < waits.ready:
        if seat.task is None or seat.task.done():
            return "gone"
        still = await seat.screen.still_for(waits.still)
        hopes = seat.manner.hooks and clock() - begun < waits.hooks
        if seat.ready.is_set() or (still and not hopes):
            return ""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.1):
                await seat.ready.wait()
    return f"The agent did not come up within {waits.ready:.0f} s."


async def say(seat: Seat, text: str) -> None:
    """Pasted, then sent. If it is not in the record after a while, the key was lost: once more."""
    await seat.terminals.paste(seat.name, text)
    await seat.screen.drawn(seat.waits.paste)
    await seat.terminals.press(seat.name, "Enter")
    turn, until = seat.turn, clock() + seat.waits.arrive
    while seat.record.readable and turn is not None and seat.turn is turn and not turn.arrived:
        if clock() > until:
            await seat.terminals.press(seat.name, "Enter")
            return
        await asyncio.sleep(0.05)


async def say_again(seat: Seat, text: str) -> None:
    """Handed over already, perhaps. Only where its record proves that it never arrived, once more."""
    mark, turn = seat.marks.read(seat.name), seat.turn
    if turn is None or (mark is not None and mark.argument):
        return
    until = clock() + seat.waits.lost
    while seat.turn is turn and not turn.arrived and seat.record.readable:
        if clock() > until and await seat.screen.still_for(seat.waits.still):
            await say(seat, text)
            return
        await asyncio.sleep(0.05)


async def interrupt(seat: Seat) -> bool:
    """False: it did not listen."""
    if not seat.manner.interrupt:
        return False
    if seat.turn is not None:
        seat.turn.interrupting = True
    for key in seat.manner.interrupt:  # two at once would be one key with Alt
        await seat.terminals.press(seat.name, key)
        await asyncio.sleep(seat.waits.paste)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seat.waits.interrupt):
            await seat.run_over.wait()
    return seat.run_over.is_set()
