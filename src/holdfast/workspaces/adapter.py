"""The port `Workspaces`, on git.

Rule 1: at most one snapshot in two seconds per session. One that comes sooner is put off and
swallows those that come after it: the newest number is taken, once.
Rule 2: a snapshot belongs to the round that owed it and has nothing of a later one in it: before a round
of ours begins to change files, what is owed for those before it is taken, however soon that is (`keep`),
and what comes too late for its round is not taken any more. So the built-in agent's sessions go back
to every round exactly. An agent of somebody else's does not wait for us: its rounds are exact where
two seconds pass before the next change.
Rule 3: a snapshot that cannot be taken must not hold up the session for ever: after a few tries it
is told as a notice and let go. A folder that is gone is told as lost.
Rule 4: rewinding keeps what is there first, and marks what it went back to with a number of its own,
so that a second delivery changes nothing and a later rewind does not find the abandoned work.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.effects import RemoveWorkspace, RewindWorkspace, TakeSnapshot
from holdfast.core.errors import Refused
from holdfast.core.ids import Millis, RoundNumber, SessionId
from holdfast.core.session import Session
from holdfast.core.truth import Lost, NoTruth, Truth, Workspace
from holdfast.ports import Clock, Errand
from holdfast.workspaces import mending
from holdfast.workspaces.errors import FolderMissing, NoSnapshot, WorkspaceError, WouldLose
from holdfast.workspaces.forking import Parent, fork_tree
from holdfast.workspaces.git import PLAIN, Git
from holdfast.workspaces.snapshots import Snapshot, discard, listed, restore, take
from holdfast.workspaces.truth import read_truth
from holdfast.workspaces.worktree import read_note

LOG = logging.getLogger(__name__)
APART = 2000  # ms
TRIES = 3

Submit = Callable[[SessionId, i.Input], Awaitable[object]]


class Owed(NamedTuple):
    number: int
    round: int
    session: Session


class GitWorkspaces:
    def __init__(
        self, submit: Submit, clock: Clock, *, state: Path | None = None, by: Git = PLAIN
    ) -> None:
        self._submit, self._clock, self._by = submit, clock, by
        self._state = state  # where work trees are made; None: nowhere
        self._last: dict[SessionId, Millis] = {}
        self._began: dict[SessionId, Millis] = {}  # the last one that was taken
        self._over: dict[SessionId, int] = {}  # rounds up to this one were kept, and are over
        self._waiting: dict[SessionId, Owed] = {}
        self._tasks: dict[SessionId, asyncio.Task[None]] = {}
        self._locks: dict[SessionId, asyncio.Lock] = {}

    async def truth(self, session: Session) -> Truth | NoTruth:
        return await read_truth(session.workspace, by=self._by)

    async def lost(self, session: Session) -> Lost | None:
        where = session.workspace
        path = Path(where.path)
        gone = mending.gone(path) if session.own_tree else not mending.something_at(path)
        if not where.path or not gone:
            return None
        if not session.own_tree:
            return Lost(path=where.path, cannot="It is a folder of yours, not one that we made.")
        try:
            found = await mending.source(where, session.id, by=self._by)
        except (WorkspaceError, OSError) as error:
            return Lost(path=where.path, cannot=str(error))
        return Lost(path=where.path, source=found)

    async def snapshot(self, errand: Errand, session: Session) -> None:
        effect = errand.effect
        assert isinstance(effect, TakeSnapshot)
        if not session.workspace.git:
            return
        due = self._last.get(session.id, -APART) + APART
        owed = Owed(effect.number, effect.round or session.round, session)
        if session.id in self._waiting or self._clock.now() < due:
            self._put_off(owed, Millis(due))
            return
        try:
            await self._take(owed)
        except (WorkspaceError, OSError) as error:
            if errand.attempts < TRIES and not isinstance(error, FolderMissing):
                raise
            await self._failed(session, error)

    async def keep(self, session: Session, *, since: Millis | None) -> None:
        if not session.workspace.git:
            return
        now = self._clock.now() / 1000
        with contextlib.suppress(WorkspaceError, OSError):  # what is wrong with it is told below
            await asyncio.to_thread(mending.clear_dead_lock, session.workspace, now=now)
        id, round = session.id, int(session.changed)
        taken: Snapshot | None = None
        async with self._lock(id):
            late = self._waiting.get(id)
            began = self._began.get(id)
            if late or began is None or (since is not None and began <= since):
                self._forget(id)
                round = max(round, late.round if late else 0)
                taken = await self._tried(Owed(session.snapshot + 1, round, session))
            self._over[id] = round
        if taken and taken.changed:
            await self._tell(id, taken)

    async def _tried(self, owed: Owed) -> Snapshot | None:
        """The run does not end because of it: that round cannot be gone back to, and it is told."""
        try:
            return await self._taken(owed)
        except (WorkspaceError, OSError) as error:
            await self._failed(owed.session, error)
            return None

    async def rewind(self, errand: Errand, session: Session) -> None:
        effect = errand.effect
        assert isinstance(effect, RewindWorkspace)
        if not session.workspace.git:
            return
        await self._settle(session.id)
        async with self._lock(session.id):
            try:
                found = await self._back(session, effect.round)
            except (FolderMissing, NoSnapshot) as error:
                await self._failed(session, error)
                return
        for snapshot in found:
            await self._tell(session.id, snapshot)
        now = await self.truth(session)
        if isinstance(now, Truth):  # what we did to it is not somebody else's edit
            await self._submit(session.id, i.Heard(events=(e.WorkspaceSeen(truth=now),)))

    async def close(self) -> None:
        """Takes what was put off: for going down in order."""
        for id in list(self._waiting):
            await self._settle(id)

    # --- snapshots ------------------------------------------------------------------------------

    def _put_off(self, owed: Owed, due: Millis) -> None:
        id = owed.session.id
        before = self._waiting.get(id, owed)
        same = owed.session.changed <= before.round  # what came after it changed nothing
        round = before.round if same else owed.round
        self._waiting[id] = Owed(max(before.number, owed.number), round, owed.session)
        if id not in self._tasks:
            self._tasks[id] = asyncio.create_task(self._later(id, due))

    async def _later(self, id: SessionId, due: Millis) -> None:
        await self._clock.sleep_until(due)
        owed = self._waiting.pop(id)
        del self._tasks[id]
        await self._take_late(owed)

    def _forget(self, id: SessionId) -> None:
        self._waiting.pop(id, None)
        task = self._tasks.pop(id, None)
        if task:
            task.cancel()

    async def _settle(self, id: SessionId) -> None:
        """What was put off is taken now."""
        owed = self._waiting.get(id)
        self._forget(id)
        if owed is not None:
            await self._take_late(owed)

    async def _take_late(self, owed: Owed) -> None:
        """Nobody waits for this one: a failure is told, and the next stop takes another."""
        try:
            await self._take(owed)
        except (WorkspaceError, OSError) as error:
            await self._failed(owed.session, error)
        except Exception:
            LOG.exception("snapshot %s of session %s", owed.number, owed.session.id)

    async def _take(self, owed: Owed) -> None:
        id = owed.session.id
        async with self._lock(id):
            if owed.round <= self._over.get(id, -1):
                return  # it was kept; what is there now is of a later round
            taken = await self._taken(owed)
        if taken.changed:
            await self._tell(id, taken)

    async def _taken(self, owed: Owed) -> Snapshot:
        """With the lock held."""
        session, began = owed.session, self._clock.now()
        taken = await take(
            session.workspace, session.id, owed.number, round=owed.round, by=self._by
        )
        self._began[session.id], self._last[session.id] = began, self._clock.now()
        return taken

    async def _tell(self, id: SessionId, taken: Snapshot) -> None:
        event = e.WorkspaceSnapshotted(
            number=taken.number, commit=taken.commit, left_out=taken.left_out
        )
        await self._submit(id, i.Heard(events=(event,)))

    async def _failed(self, session: Session, error: Exception) -> None:
        event: i.Reportable
        if isinstance(error, FolderMissing):
            event = e.WorkspaceLost(why=str(error))
        else:
            event = e.Notice(kind="snapshot", text=f"The workspace could not be saved: {error}")
        await self._submit(session.id, i.Heard(events=(event,)))

    # --- forks ----------------------------------------------------------------------------------

    async def fork(
        self, session: Session, child: SessionId, *, rounds: Sequence[RoundNumber], tip: bool
    ) -> Workspace:
        where = session.workspace
        if not where.git or self._state is None:
            return where
        parent = Parent(session.id, where, self._by)
        await self._settle(session.id)
        try:
            async with self._lock(session.id):
                return await fork_tree(
                    parent,
                    child,
                    state=self._state,
                    title=session.title,
                    rounds=rounds,
                    tip=tip,
                )
        except (WorkspaceError, OSError) as error:
            raise Refused(f"The fork has no work tree: {error}") from error

    # --- the trash ------------------------------------------------------------------------------

    async def losses(self, session: Session) -> tuple[str, ...]:
        path = Path(session.workspace.path)
        if read_note(path) is None or not mending.something_at(path):
            return ()
        try:
            await mending.check_nothing_is_lost(session.workspace, self._by)
        except WouldLose as found:
            return found.names or (str(found),)
        return ()

    async def remove(self, errand: Errand, session: Session) -> None:
        """Snapshotted first: `bring_back` has everything. What came into it since the user was
        asked is not theirs to lose: then it stays."""
        effect = errand.effect
        assert isinstance(effect, RemoveWorkspace)
        path = Path(session.workspace.path)
        if read_note(path) is None:
            return  # done before, or not ours
        self._forget(session.id)
        try:
            if mending.something_at(path):
                await self._take(Owed(session.snapshot + 1, session.round, session))
            await mending.remove(session.workspace, force=effect.force, by=self._by)
        except (WorkspaceError, OSError) as error:
            if errand.attempts < TRIES and not isinstance(error, WouldLose):
                raise
            await self._notice(session.id, f"Its work tree was kept: {error}")

    async def bring_back(self, errand: Errand, session: Session) -> None:
        id, path = session.id, Path(session.workspace.path)
        if not (session.workspace_lost or mending.gone(path)):
            return
        self._forget(id)  # half a tree is not worth a snapshot
        try:
            async with self._lock(id):
                number = await self._rebuilt(session)
        except (WorkspaceError, OSError) as error:
            if errand.attempts < TRIES:
                raise
            told = e.WorkspaceLost(why=str(error), given_up=True)
            await self._submit(id, i.Heard(events=(told,)))
            return
        event = e.WorkspaceRebuilt(workspace=session.workspace, snapshot=number)
        await self._submit(id, i.Heard(events=(event,)))

    async def _rebuilt(self, session: Session) -> int:
        """The number of the snapshot that is in it. One that is whole was made by somebody who died
        before it could be told, or put back by the user: it is taken as it is."""
        where, path = session.workspace, Path(session.workspace.path)
        last = await mending.newest_snapshot(where, session.id, by=self._by)
        if mending.gone(path):
            saved = last.commit if last else None
            used = (await mending.rebuild(where, saved, by=self._by)).snapshot
        else:
            note = read_note(path)
            used = note.snapshot if note else ""
        return last.number if last and last.commit == used else 0

    async def discard(self, errand: Errand, session: Session) -> None:
        """Refs that cannot be deleted do not keep what a user wants gone."""
        self._forget(session.id)
        repo = Path(session.workspace.repo)
        if not session.workspace.git or not (repo / "objects").is_dir():
            return
        try:
            async with self._lock(session.id):
                await discard(repo, session.id, by=self._by)
        except (WorkspaceError, OSError) as error:
            if errand.attempts < TRIES:
                raise
            LOG.warning("session %s: its snapshots stay in %s: %s", session.id, repo, error)
        self._locks.pop(session.id, None)
        for known in (self._last, self._began, self._over):
            known.pop(session.id, None)

    async def _notice(self, id: SessionId, text: str) -> None:
        await self._submit(id, i.Heard(events=(e.Notice(kind="workspace", text=text),)))

    # --- rewinding ------------------------------------------------------------------------------

    async def _back(self, session: Session, round: int) -> list[Snapshot]:
        where, id = session.workspace, session.id
        kept = await listed(where, id, by=self._by)
        target = next((s for s in reversed(kept) if s.round <= round), None)
        if target is None:
            raise NoSnapshot(f"There is no snapshot of round {round} or before.")
        abandoned = max(s.round for s in kept)
        before = await restore(where, id, target.number, round=max(abandoned, round), by=self._by)
        if before.number == target.number:
            return [target]  # we are there: this was asked before
        number = before.number + 1
        after = await take(where, id, number, round=round, again=True, by=self._by)
        return [s for s in (before, after) if s.changed]

    def _lock(self, id: SessionId) -> asyncio.Lock:
        return self._locks.setdefault(id, asyncio.Lock())
