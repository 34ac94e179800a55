"""Many at once: `hold resume --all` continues runs, `hold agent resume` brings agents back, idle.

A few are on their way up at a time, and each begins a little after the one before (core/pacing.py).
Which ones, and why not the others, is said by core/offer.py.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence

from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.errors import Refused
from holdfast.core.ids import Seq, SessionId
from holdfast.core.offer import in_bulk, stays_down
from holdfast.core.pacing import AT_ONCE, pause_before
from holdfast.core.session import LaunchStatus, Session, State
from holdfast.ports import JournalError, Recorded
from holdfast.server import acting
from holdfast.server.desk import Desk, Failure, Unfit
from holdfast.wire import AgentsIn, BulkOut, ResumeIn, Skipped

Act = Callable[[SessionId], Awaitable[str | None]]  # why it was left as it is; None: done
PATIENCE = 100.0  # seconds for one to come up; agents have their own, shorter limit
LOOK = 0.05  # seconds between two looks


async def resume_all(desk: Desk, given: ResumeIn, *, unix: bool) -> BulkOut:
    """Those that may be continued together; for the others, why not (SPEC I1)."""

    async def act(id: SessionId) -> str | None:
        why = in_bulk(await desk.engine.session(id), now=desk.engine.clock.now())
        if why is None:
            await acting.resume(desk, id, given, unix=unix)
            await _up(desk, id)
        return why

    rows = await desk.engine.journal.rows(limit=acting.MANY)
    return await _each([row.session for row in rows], act)


async def resume_agents(desk: Desk, given: AgentsIn, *, unix: bool) -> BulkOut:
    """Reattaches; no run begins. Answers when they are up, or are known not to come."""

    async def act(id: SessionId) -> str | None:
        session = await desk.engine.session(id)
        why = await _stays_down(desk, session, kill=given.kill)
        if why is not None:
            return why
        acting.lend(desk, id, given.environ, unix=unix)
        await acting.equipped(desk, id)
        outcome = await desk.engine.submit(id, i.Reattach(kill=given.kill))
        return await _came_up(desk, id, Seq(session.seq)) if outcome.events else None

    if not given.all and not given.id:
        raise Failure("invalid", "Either provide an agent ID or use --all")
    rows = await desk.engine.journal.rows(limit=acting.MANY)
    tokens = {row.session: row.summary.token or "" for row in rows}
    return await _each(list(tokens) if given.all else [await _named(desk, given.id, tokens)], act)


async def _named(desk: Desk, given: str, tokens: dict[SessionId, str]) -> SessionId:
    """By our id or by the agent's own; the beginning is enough where it is only its own."""
    ours = await desk.engine.journal.find(given) if acting.ID.fullmatch(given) else []
    found = {*ours, *(id for id, token in tokens.items() if token.startswith(given))}
    if given in found:
        return SessionId(given)
    if len(found) == 1:
        return found.pop()
    raise acting.not_one("agent", given, sorted(found), "`hold ls --json` lists them.")


async def _stays_down(desk: Desk, session: Session, *, kill: bool) -> str | None:
    agents = desk.engine.agents
    token = session.comes_back_to
    there = await agents.there(session, token) if token else None
    return stays_down(session, abilities=agents.abilities(session), there=there, kill=kill)


async def _each(ids: Sequence[SessionId], act: Act) -> BulkOut:
    """In this order in the answer, whoever is done first."""
    room, begun = asyncio.Semaphore(AT_ONCE), 0

    async def one(id: SessionId) -> str | None:
        nonlocal begun
        async with room:
            try:
                why = await act(id)
            except (Refused, Unfit, JournalError) as error:
                return str(error)
            if why is None:
                begun += 1
                chance = random.random()  # noqa: S311  nothing secret: it spreads them out
                await asyncio.sleep(pause_before(begun, chance) / 1000)
            return why

    reasons = await asyncio.gather(*(one(id) for id in ids))
    answered = list(zip(ids, reasons, strict=True))
    return BulkOut(
        resumed=tuple(id for id, why in answered if why is None),
        skipped=tuple(Skipped(id=id, reason=why) for id, why in answered if why is not None),
    )


async def _up(desk: Desk, id: SessionId) -> Session:
    """As it is when it is no longer starting."""
    session = await desk.engine.session(id)
    try:
        async with asyncio.timeout(PATIENCE):
            while session.state is State.STARTING:
                await asyncio.sleep(LOOK)
                session = await desk.engine.session(id)
    except TimeoutError:
        pass
    return session


async def _came_up(desk: Desk, id: SessionId, before: Seq) -> str | None:
    session = await _up(desk, id)
    launch = session.launch
    needs_process = desk.engine.agents.abilities(session).needs_process
    if launch is None or launch.status is LaunchStatus.READY or not needs_process:
        return None
    recorded = await desk.engine.journal.pick(id, (e.Notice, e.LaunchExited), after=before)
    return next(filter(None, map(_words, reversed(recorded))), "it did not come up")


def _words(recorded: Recorded) -> str:
    match recorded.event:
        case e.Notice(text=words) | e.LaunchExited(message=words):
            return words
        case _:
            return ""
