"""Makes a fork: a work tree of its own, then its whole history in one write.

The parent's journal has said so before anything is done, so a fork that was cut off is made when its
debt is paid again: the tree is finished where it was left, and a history is written once.
"""

from holdfast.core import events as e
from holdfast.core.effects import MakeFork
from holdfast.core.errors import Refused
from holdfast.core.forking import Inherited, inherited
from holdfast.core.session import Origin, Session
from holdfast.core.truth import Workspace
from holdfast.core.value import replace
from holdfast.engine.engine import Engine
from holdfast.ports import Errand

TITLE = 190


async def make_fork(engine: Engine, errand: Errand, parent: Session) -> None:
    effect = errand.effect
    assert isinstance(effect, MakeFork)
    if (await engine.session(effect.child)).opened:
        return  # made before
    events = await engine.journal.events(parent.id)
    now = engine.clock.now()
    copied = inherited(events[: effect.at], round=effect.round, now=now)
    opened = _opened(parent, effect)
    try:
        place = await _workspace(engine, parent, effect, copied, events)
    except Refused as refused:
        # There is no child to speak of, only the reason; whoever waits for it reads that.
        failed = e.SessionFailed(message=str(refused))
        await engine.plant(effect.child, [opened, failed, e.SessionTrashed(at=now)])
        return
    await engine.plant(effect.child, [replace(opened, workspace=place), *copied.events])


async def _workspace(
    engine: Engine, parent: Session, effect: MakeFork, copied: Inherited, events: list[e.Event]
) -> Workspace:
    went_on = any(isinstance(ev, e.RunStarted | e.Rewound) for ev in events[effect.at :])
    tip = copied.tip and parent.run is None and not went_on
    return await engine.workspaces.fork(parent, effect.child, rounds=copied.rounds, tip=tip)


def _opened(parent: Session, effect: MakeFork) -> e.SessionOpened:
    return e.SessionOpened(
        agent=parent.agent,
        via=parent.via,
        model=parent.model,
        mode=parent.mode,
        title=f"{parent.title[:TITLE]} (fork)",
        runtime=parent.runtime,
        limits=parent.limits,
        cap=parent.cap,
        origin=Origin(session=parent.id, seq=effect.at),
        task=parent.task,
    )
