"""Every seam between the engine and the world, on one page."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from holdfast.core.adoption import Turn
from holdfast.core.effects import Effect
from holdfast.core.events import Event
from holdfast.core.ids import (
    BlobId,
    CallId,
    Generation,
    Millis,
    RoundNumber,
    Seq,
    SessionId,
    Token,
)
from holdfast.core.plan import Abilities
from holdfast.core.resume import Probe
from holdfast.core.session import Call, Session
from holdfast.core.task import Task
from holdfast.core.truth import Lost, NoTruth, Truth, Workspace
from holdfast.core.value import Value
from holdfast.views.changes import AppliedOut, DiffOut
from holdfast.views.choices import FolderOut
from holdfast.views.sessions import Summary

# --- what the journal keeps -----------------------------------------------------------------


class Recorded(Value):
    """An event with its place and time. The fold never reads these."""

    seq: Seq
    at: Millis
    event: Event


class Errand(Value):
    """An effect that is owed. The id comes from the journal, so that a second delivery of the
    same errand is recognisable."""

    id: str  # session/seq/n
    session: SessionId
    effect: Effect
    due: Millis = Millis(0)
    attempts: int = 0


class Blob(Value):
    id: BlobId
    body: bytes


class Lease(Value):
    session: SessionId
    generation: Generation
    head: Seq


class Batch(Value):
    """One append: all of it, or none."""

    session: SessionId
    generation: Generation
    head: Seq  # what the writer believes; another head means that someone else wrote
    at: Millis
    events: tuple[Event, ...]
    identities: tuple[str | None, ...] = ()  # natural names of events: each is kept once
    errands: tuple[Errand, ...] = ()
    settled: tuple[str, ...] = ()
    blobs: tuple[Blob, ...] = ()
    summary: Summary | None = None  # of the list; None: as before, its place there too
    snapshot: Session | None = None  # a disposable copy of the fold at the new head
    release: bool = False  # give the lease up with this write
    durable: bool = True  # must survive a power cut before it is acknowledged


class Row(Value):
    """A session in the list, without its history."""

    session: SessionId
    head: Seq
    generation: Generation
    owner: str
    lease_until: Millis
    summary: Summary
    created_at: Millis
    updated_at: Millis
    quarantined: str = ""  # why it may not be touched


class Written(Value):
    """Somebody wrote to the store, in this process or in another."""

    session: SessionId | None = None  # None: nobody can tell whose


class Snapshot(Value):
    seq: Seq
    session: Session


# --- how the journal fails --------------------------------------------------------------------
#
#   JournalError
#   ├── Conflict      someone else wrote first: read again, decide again
#   ├── Fenced        the lease is somebody else's now: stop at once
#   ├── Held          the lease is somebody else's and is alive
#   ├── Doubled       this very thing is in the journal already
#   ├── Damaged       a row cannot be read; names it
#   ├── NewerStore    written by a later version; refused, never rewritten
#   ├── StoreFull     no room; tried again by itself
#   └── StoreDown     the disk or the server failed; nothing is acknowledged until it is checked


class JournalError(Exception):
    pass


class Conflict(JournalError):
    pass


class Fenced(JournalError):
    pass


class Held(JournalError):
    def __init__(self, session: SessionId, owner: str, until: Millis) -> None:
        super().__init__(f"session {session} is being driven by {owner}")
        self.session, self.owner, self.until = session, owner, until


class Doubled(JournalError):
    def __init__(self, session: SessionId, identity: str) -> None:
        super().__init__(f"session {session} already has {identity}")
        self.session, self.identity = session, identity


class Damaged(JournalError):
    def __init__(self, session: SessionId, seq: int, why: str) -> None:
        super().__init__(f"session {session}, event {seq}: {why}")
        self.session, self.seq, self.why = session, seq, why


class NewerStore(JournalError):
    pass


class StoreFull(JournalError):
    pass


class StoreDown(JournalError):
    pass


class Journal(Protocol):
    """Events and errands on disk: the only truth. Every write is fenced by the lease."""

    @property
    def epoch(self) -> str:
        """Changes when history was replaced, so that a cursor into another one is noticed."""

    async def open(self) -> None: ...
    async def close(self) -> None: ...

    async def claim(
        self, session: SessionId, owner: str, *, now: Millis, ttl: int, dead: str = ""
    ) -> Lease:
        """Become the one writer, with a new generation; creates the session's row. `Held` if
        another owner's lease runs, unless it is `dead`'s: the name of an owner known to be dead.
        (The name, not a flag: whoever took over in the meantime must not be displaced.)"""

    async def renew(
        self, owner: str, leases: Sequence[Lease], *, now: Millis, ttl: int
    ) -> list[SessionId]:
        """Fenced like a write. Returns those that are no longer ours."""

    async def release(self, lease: Lease) -> None: ...

    async def owner_dead(self, owner: str) -> bool | None:
        """True: certainly. None: nobody can tell from here."""

    async def append(self, batch: Batch) -> None:
        """Written and, if `durable`, safe from a power cut when this returns."""

    async def read(
        self, session: SessionId, *, after: Seq = Seq(0), limit: int | None = None
    ) -> list[Recorded]:
        """In order, without a gap: what is missing or unreadable is `Damaged`."""

    async def events(self, session: SessionId, *, after: Seq = Seq(0)) -> list[Event]:
        """The same, for a fold: all of them, without their places and times."""

    async def pick(
        self, session: SessionId, kinds: Collection[type], *, after: Seq = Seq(0)
    ) -> list[Recorded]:
        """Only events of these kinds, in order: for whoever looks at many sessions."""

    async def snapshot(self, session: SessionId) -> Snapshot | None: ...

    async def row(self, session: SessionId) -> Row | None: ...
    async def rows(
        self, *, limit: int = 100, before: tuple[Millis, SessionId] | None = None
    ) -> list[Row]:
        """Newest update first."""

    async def live(self) -> list[Row]:
        """Those that somebody was driving, or whose agent was up. No history is read."""

    async def find(self, prefix: str) -> list[SessionId]: ...

    async def owed(self, session: SessionId | None = None) -> list[Errand]:
        """Unsettled, in the order they were written."""

    async def settle(self, errand: Errand) -> None: ...
    async def postpone(self, errand: Errand, *, due: Millis) -> None: ...

    async def blob(self, id: BlobId) -> bytes | None: ...
    async def put_task(self, task: Task) -> None: ...
    async def tasks(self) -> list[Task]:
        """Newest first."""

    async def quarantine(self, session: SessionId, why: str) -> None: ...

    async def purge(self, lease: Lease, *, at: Millis) -> None:
        """For good, and all at once: its events, its copy, its debts, its line in the list, and the
        blobs that no other session has. Fenced like a write."""

    async def purged(self, prefix: str) -> list[tuple[SessionId, Millis]]:
        """What was, by the beginning of its id, and when it went."""

    def changes(self) -> AbstractAsyncContextManager[AsyncIterator[Written | None]]:
        """Hints, not a record: read from your cursor after this was entered, and then whenever it
        speaks. None: a moment has passed. `StoreDown` when it broke."""

    async def rebuild_list(self) -> int:
        """Makes the list anew from the events. Returns how many sessions it has."""


# --- the rest of the world ----------------------------------------------------------------------


class Clock(Protocol):
    def now(self) -> Millis: ...
    async def sleep_until(self, due: Millis) -> None: ...


class Agents(Protocol):
    """Whatever runs agents. Every method may be called again with the same errand."""

    def abilities(self, session: Session) -> Abilities: ...
    async def start(self, errand: Errand, session: Session) -> None: ...
    async def deliver(self, errand: Errand, session: Session) -> None: ...
    async def interrupt(self, errand: Errand, session: Session) -> None: ...
    async def kill(self, errand: Errand, session: Session) -> None:
        """Returns when the launch's whole process tree is gone."""

    async def answer(self, errand: Errand, session: Session) -> None: ...
    async def alive(self, session: Session) -> bool | None:
        """Does the session's current launch live? None: cannot tell."""

    def rejoin(self, session: Session) -> None:
        """The session's launch lives, and whoever listened to it is gone: listen to it again. Returns
        at once, since it is asked while the session is held; asked again, it changes nothing."""

    async def there(self, session: Session, token: Token) -> bool | None:
        """Does the agent still have that conversation?"""

    async def probe(self, session: Session, calls: Sequence[Call]) -> Mapping[CallId, Probe]:
        """Did these calls, whose outcome nobody saw, happen?"""


class Workspaces(Protocol):
    async def truth(self, session: Session) -> Truth | NoTruth: ...
    async def lost(self, session: Session) -> Lost | None:
        """Its folder is not there: can it be made again, and from what? Cheap where it is there."""

    async def snapshot(self, errand: Errand, session: Session) -> None: ...
    async def rewind(self, errand: Errand, session: Session) -> None: ...
    async def keep(self, session: Session, *, since: Millis | None) -> None:
        """Before a round begins to change files: a snapshot of them as the rounds before it left
        them, unless there is one from after `since`, when the last change was over."""

    async def losses(self, session: Session) -> tuple[str, ...]:
        """What would be lost with the session's own work tree; also whatever cannot be told."""

    async def fork(
        self, session: Session, child: SessionId, *, rounds: Sequence[RoundNumber], tip: bool
    ) -> Workspace:
        """A workspace for `child`, with the files as they were after the last of these rounds;
        `tip`: as they are now. `Refused` if there can be none. May be asked again."""

    async def remove(self, errand: Errand, session: Session) -> None: ...
    async def bring_back(self, errand: Errand, session: Session) -> None:
        """Tells that it is there again, or (`given_up`) that it cannot be."""

    async def discard(self, errand: Errand, session: Session) -> None:
        """Its snapshots: it is removed for good. Branches and folders stay."""


class Work(Protocol):
    """Getting a session's work out (SPEC H4). `Refused` where that cannot be: nothing was changed."""

    async def diff(
        self, session: Session, *, path: str | None = None, text: bool = True
    ) -> DiffOut:
        """Everything since the base. `path`: of that file alone, and that in full."""

    async def patch(self, session: Session, *, stat: bool = False) -> bytes:
        """All of it, as git would apply it; or the table of `--stat`."""

    async def saved(self, session: Session) -> str | None:
        """While the work tree is gone: what its newest snapshot had changed. To read, never to apply."""

    async def apply(self, session: Session, *, to: str | None, squash: bool) -> AppliedOut: ...

    async def look(self, folder: str) -> FolderOut:
        """Whether a session could be made there. Never fails: what stands in the way is its answer."""


class Record(Value):
    """A conversation that an agent keeps on this machine, as far as a list shows it."""

    agent: str
    id: str  # the agent's own
    path: str
    folder: str = ""  # where it was had
    branch: str = ""
    title: str = ""
    last_prompt: str = ""
    prompts: int = 0
    size: int = 0
    modified_at: Millis = Millis(0)
    torn: int = 0  # lines of it that could not be read


class Records(Protocol):
    """What agents wrote down without us. Read, never written (SPEC E15)."""

    async def records(self, environ: Mapping[str, str]) -> tuple[list[Record], tuple[str, ...]]:
        """Newest first, and what could not be read, in words. The variables say where they are kept."""

    async def turns(self, record: Record) -> tuple[list[Turn], int]:
        """The conversation, and how much of it could not be read."""


class Notifier(Protocol):
    async def tell(self, errand: Errand, session: Session) -> None: ...
