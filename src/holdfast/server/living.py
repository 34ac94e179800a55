"""Commands whose answer waits until what they owe is done: the work tree is gone, or back."""

import secrets

from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.ids import RoundNumber, SessionId
from holdfast.core.rewinding import to_round
from holdfast.core.session import State
from holdfast.server import acting
from holdfast.server.desk import Desk, Failure
from holdfast.server.settling import paid
from holdfast.views.document import PurgedOut
from holdfast.wire import Created, Done, ForkIn, RewindIn, RewoundOut


async def settled(desk: Desk, id: SessionId, command: i.Command) -> Done:
    outcome = await desk.engine.submit(id, command)
    if outcome.events:
        await paid(desk, id)
    return Done(session=await acting.shown(desk, id), changed=bool(outcome.events))


async def purge(desk: Desk, id: SessionId) -> PurgedOut:
    await desk.engine.submit(id, i.PurgeSession())
    await paid(desk, id)
    return PurgedOut(id=id, done=await desk.engine.journal.row(id) is None)


async def fork(desk: Desk, id: SessionId, given: ForkIn) -> Created:
    """The child exists, or why it cannot, when this answers."""
    child = SessionId(secrets.token_hex(6))
    round = None if given.at is None else RoundNumber(given.at)
    await desk.engine.submit(id, i.ForkSession(child=child, round=round))
    await paid(desk, id)
    made = await desk.engine.session(child)
    if not made.opened:
        raise Failure("unavailable", f"The fork {child} is still being made.", f"hold show {child}")
    if made.state is State.FAILED:
        events = await desk.engine.journal.events(child)
        why = next((ev.message for ev in events if isinstance(ev, e.SessionFailed)), "It failed.")
        raise Failure("invalid", why)
    notes = () if made.own_tree else (f"It works in the same folder: {made.workspace.path}",)
    return Created(id=child, session=await acting.shown(desk, child), notes=notes)


async def rewind(desk: Desk, id: SessionId, given: RewindIn) -> RewoundOut:
    if not (given.code or given.conversation):
        raise Failure("invalid", "Neither the files nor the conversation: nothing to take back.")
    before = await desk.engine.session(id)
    events = (await desk.engine.journal.events(id))[: before.seq]
    command = to_round(
        before, events, RoundNumber(given.to), code=given.code, conversation=given.conversation
    )
    outcome = await desk.engine.submit(id, command)
    await paid(desk, id)
    since = await desk.engine.journal.read(id, after=outcome.session.seq)
    notes = tuple(r.event.text for r in since if isinstance(r.event, e.Notice))
    undo = f"hold fork {id} --at {before.round}"
    return RewoundOut(session=await acting.shown(desk, id), undo=undo, notes=notes)
