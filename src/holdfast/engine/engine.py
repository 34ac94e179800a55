"""The one loop: an input comes in, the core decides, the journal remembers, the outbox pays.

Rule 1: inputs of one session are handled one after another; sessions run side by side.
Rule 2: nothing is acted on before it is in the journal. `submit` returns what was written down, and
an adapter that intends something acts only if its intent is among it.
Rule 3: whoever writes holds the session's lease. It is given back with the write that leaves nothing
to look after, so an idle session belongs to nobody.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple, get_args

from holdfast.core import inputs as i
from holdfast.core.decide import decide, wants_losses, wants_place, wants_truth
from holdfast.core.errors import Refused
from holdfast.core.events import Event, RoundEvent, TextSaved, ThinkingSaved
from holdfast.core.evolve import evolve, fold
from holdfast.core.identity import identity
from holdfast.core.ids import CallId, Millis, Seq, SessionId
from holdfast.core.react import react
from holdfast.core.resume import Probe
from holdfast.core.session import CallStatus, EffectClass, Session
from holdfast.core.truth import Lost, NoTruth, Truth
from holdfast.core.withhold import NOBODYS, withheld, withhold
from holdfast.engine.feed import Feed
from holdfast.engine.intake import claim_check, scrub
from holdfast.engine.live import Live
from holdfast.ports import (
    Agents,
    Batch,
    Clock,
    Conflict,
    Doubled,
    Errand,
    Fenced,
    Held,
    Journal,
    JournalError,
    Lease,
    Recorded,
    StoreDown,
    StoreFull,
    Workspaces,
)
from holdfast.views.sessions import Summary, summary

LEASE = 15_000  # ms
TRIES = 3
SNAPSHOT_EVERY = 256  # events that a restart may have to fold again, at most
INSIDE_A_ROUND = frozenset(get_args(RoundEvent))
STREAMED = (TextSaved, ThinkingSaved)  # may be lost by a power cut; everything else may not


class Outcome(NamedTuple):
    session: Session
    events: tuple[Event, ...]
    doubled: str | None = None  # this very thing was in the journal already


class Engine:
    def __init__(
        self,
        *,
        journal: Journal,
        clock: Clock,
        agents: Agents,
        workspaces: Workspaces,
        owner: str,
        lease: int = LEASE,
        secrets: Callable[[SessionId], frozenset[str]] = lambda _id: NOBODYS,
    ) -> None:
        self.journal, self.clock, self.agents = journal, clock, agents
        self.workspaces, self.owner, self.lease = workspaces, owner, lease
        self._secrets = secrets  # values that must not be written down, of one session
        self.feed = Feed()
        self.sessions: dict[SessionId, Live] = {}
        self._unsafe: dict[SessionId, Seq] = {}  # written, and not yet safe from a power cut
        self.on_owed: Callable[[SessionId], None] = _nobody  # the outbox listens here
        self.on_trouble: Callable[[SessionId], None] = _nobody  # so does whoever mends a store

    async def submit(self, id: SessionId, given: i.Input) -> Outcome:
        live = self._live(id)
        if isinstance(given, i.Heard) and given.n and not await live.inbox.turn(given):
            return Outcome(live.session, ())  # said before
        async with live.lock:
            for attempt in range(1, TRIES + 1):
                try:
                    return await self._step(live, given)
                except Doubled as doubled:
                    return Outcome(live.session, (), doubled.identity)
                except Conflict:
                    live.loaded, live.lease = False, None  # someone else wrote: look again
                    if attempt == TRIES:
                        raise
                except Fenced:
                    self.forget(live)
                    raise
                except (StoreFull, StoreDown):
                    live.loaded = False
                    self.on_trouble(id)
                    raise
            raise AssertionError  # the loop returns or raises

    def _live(self, id: SessionId) -> Live:
        live = self.sessions.get(id)
        if live is None:
            live = self.sessions[id] = Live(id)
        return live

    async def session(self, id: SessionId) -> Session:
        """As it is now. Takes no lease."""
        live = self._live(id)
        if live.lease is not None:
            return live.session
        async with live.lock:
            if live.lease is None:
                await self._load(live)
            return live.session

    async def read(
        self, id: SessionId, *, after: Seq = Seq(0), limit: int | None = None
    ) -> list[Recorded]:
        """For whoever follows: never ahead of `session` and the feed. A write of ours is in the
        journal before we know that it is; who read it then would wait for news of it in vain."""
        found = await self.journal.read(id, after=after, limit=limit)
        live = self.sessions.get(id)
        if live is not None and live.writing:
            return [recorded for recorded in found if recorded.seq <= live.session.seq]
        return found

    def run_started(self, id: SessionId) -> Millis | None:
        """When its run began, if that was here."""
        live = self.sessions.get(id)
        return live.run_started if live else None

    async def consider(
        self, id: SessionId, given: i.Input, *, after: i.Input | None = None
    ) -> tuple[list[Event], i.Facts]:
        """What `submit` would write down and why, without writing it; `after` another input. Takes no
        lease."""
        session = await self.session(id)
        if after is not None:
            facts = await self._facts(session, after)
            session = fold(session, decide(session, after, facts))
        facts = await self._facts(session, given)
        return decide(session, given, facts), facts

    async def _step(self, live: Live, given: i.Input) -> Outcome:
        if live.lease is None:
            await self._own(live)
        try:
            facts = await self._facts(live.session, given)
            try:
                safe = withheld(given, self._secrets(live.session.id))
                events = decide(live.session, safe, facts)
                return await self._write(live, events, facts.now)
            except UnicodeEncodeError:  # a lone surrogate: no JSON can hold it
                events = decide(live.session, scrub(given), facts)
                return await self._write(live, events, facts.now)
        finally:
            if live.lease is not None and not live.busy:
                await self._let_go(live)

    async def plant(self, id: SessionId, events: list[Event]) -> None:
        """A session whose history was made elsewhere: all of it, or none. It owes nothing for what
        happened to another. One that has a history already keeps that."""
        live = self._live(id)
        async with live.lock:
            await self._own(live)
            if not live.session.seq:
                await self._write(live, events, self.clock.now(), owes=False)

    async def _write(
        self, live: Live, decided: list[Event], at: Millis, *, keep: bool = False, owes: bool = True
    ) -> Outcome:
        if not decided:
            return Outcome(live.session, ())
        before = live.session
        secrets = self._secrets(before.id)
        events, blobs = claim_check([withhold(event, secrets) for event in decided])
        after, names, errands = _follow(before, events, owing=owes)
        kinds = {type(event) for event in events}
        seen = _seen(live.summary, after, kinds)
        due = after.seq - live.snapshot >= SNAPSHOT_EVERY or (before.run and not after.run)
        idle = not (keep or seen.live or errands or live.owed)
        lease, durable = live.lease, not kinds.issubset(STREAMED)
        assert lease is not None, "nobody writes without it"
        batch = Batch(
            session=after.id,
            generation=lease.generation,
            head=before.seq,
            at=at,
            events=tuple(events),
            identities=names,
            errands=errands,
            blobs=blobs,
            summary=None if seen is live.summary else seen,
            snapshot=after if due else None,
            release=idle,
            durable=durable,
        )
        await self._append(live, batch)
        live.session, live.summary, live.lease = after, seen, None if idle else lease
        live.snapshot = after.seq if due else live.snapshot
        live.owed += errands
        live.run_started = at if before.runs < after.runs else live.run_started
        self._show(after, durable=durable)
        if errands:
            self.on_owed(after.id)
        return Outcome(after, tuple(events))

    async def _append(self, live: Live, batch: Batch) -> None:
        live.writing = True
        try:
            await self.journal.append(batch)
        finally:
            live.writing = False

    def _show(self, session: Session, *, durable: bool) -> None:
        """Nobody sees a place in history that a power cut could take back. A durable write takes
        everything that was written before it to safety."""
        self._unsafe[session.id] = session.seq
        if durable:
            for id, head in self._unsafe.items():
                self.feed.publish(id, head)
            self._unsafe.clear()
        else:
            self.feed.stir(session.id, session.seq)

    # --- memory and ownership -------------------------------------------------------------------

    async def own(self, id: SessionId) -> None:
        """Hold the lease without writing: its debts are about to be paid."""
        live = self._live(id)
        async with live.lock:
            await self._own(live)
            await self._let_go(live)  # unless there is something to look after

    async def erase(self, id: SessionId) -> None:
        """Removes it for good. Whoever waits for its turn finds that there is no such session."""
        live = self._live(id)
        async with live.lock:
            await self._own(live)
            assert live.lease is not None
            await self.journal.purge(live.lease, at=self.clock.now())
            live.lease, live.gone = None, True
            self._unsafe.pop(id, None)
            self.forget(live)

    def forget(self, live: Live) -> None:
        """It has another owner now, or may have."""
        if self.sessions.get(live.session.id) is live:
            del self.sessions[live.session.id]

    async def leave(self) -> None:
        """Going down in order: every session is free for the next owner at once."""
        for live in list(self.sessions.values()):
            if live.lease is not None:
                lease, live.lease = live.lease, None
                try:
                    await self.journal.release(lease)
                except JournalError:
                    continue  # it runs out by itself

    async def relax(self, id: SessionId) -> None:
        """Its debts are paid: give the lease back if there is nothing else to look after."""
        live = self.sessions.get(id)
        if live is not None:
            async with live.lock:
                await self._let_go(live)

    async def _own(self, live: Live) -> None:
        """A lease that is new to us means that whoever had it is gone. What was going on then was
        cut off, and that is written down before anything else (SPEC D1)."""
        if live.lease is not None:
            return
        if live.gone:
            raise Refused(f"Session {live.session.id} was removed for good.")
        live.lease = await self._claim(live.session.id)
        try:
            if not live.loaded or live.session.seq != live.lease.head:
                await self._load(live)
            if live.summary is not None and live.summary.live:
                lost = i.OwnerLost(alive=await self.agents.alive(live.session))
                facts = await self._facts(live.session, lost)
                await self._write(live, decide(live.session, lost, facts), facts.now, keep=True)
                if live.session.agent_alive:  # it lives on without its owner (SPEC G2)
                    self.agents.rejoin(live.session)
        except BaseException:
            live.lease, live.loaded = None, False  # whoever comes next looks again
            raise
        if live.owed:
            self.on_owed(live.session.id)  # debts of whoever had it before are ours now

    async def _claim(self, id: SessionId) -> Lease:
        """A living owner is never displaced; a dead one need not be waited for."""
        now = self.clock.now()
        try:
            return await self.journal.claim(id, self.owner, now=now, ttl=self.lease)
        except Held as held:
            if await self.journal.owner_dead(held.owner) is not True:
                raise
            dead = held.owner
        return await self.journal.claim(id, self.owner, now=now, ttl=self.lease, dead=dead)

    async def _let_go(self, live: Live) -> None:
        """Nothing was written and there is nothing to look after: give the lease back."""
        lease = live.lease
        if lease is None or live.busy:
            return
        live.lease = None
        try:
            await self.journal.release(lease)
        except JournalError:
            return  # it runs out by itself

    async def _load(self, live: Live) -> None:
        """From the newest copy of the fold and what came after it: bounded, however long the past."""
        id = live.session.id
        start = await self.journal.snapshot(id)
        session = start.session if start else Session(id=id)
        live.session = fold(session, await self.journal.events(id, after=session.seq))
        live.snapshot = session.seq
        live.summary = summary(live.session)
        live.owed = await self.journal.owed(id)
        live.loaded = True

    # --- facts ----------------------------------------------------------------------------------

    async def _facts(self, session: Session, given: i.Input) -> i.Facts:
        truth: Truth | NoTruth | None = None
        probes: Mapping[CallId, Probe] = {}
        there: bool | None = None
        lost: Lost | None = None
        asks = session.opened and wants_truth(session, given)
        if isinstance(given, i.Heard) and not asks:  # nearly every input; nothing is asked for it
            return i.Facts(now=self.clock.now(), abilities=self.agents.abilities(session))
        if session.opened and wants_place(session, given):
            lost = await self.workspaces.lost(session)
        if asks and lost is None:
            if session.workspace.git:
                truth = await self.workspaces.truth(session)
            unknown = [
                c.call
                for c in session.calls
                if c.status is CallStatus.INTENDED and c.call.effect is EffectClass.PROBEABLE
            ]
            probes = await self.agents.probe(session, unknown) if unknown else {}
        losses = await self.workspaces.losses(session) if wants_losses(session, given) else ()
        if session.comes_back_to is not None and session.run is None:
            there = await self.agents.there(session, session.comes_back_to)
        return i.Facts(
            now=self.clock.now(),
            abilities=self.agents.abilities(session),
            truth=truth,
            there=there,
            probes=probes,
            lost=lost,
            losses=losses,
        )


def _follow(
    before: Session, events: list[Event], *, owing: bool
) -> tuple[Session, tuple[str | None, ...], tuple[Errand, ...]]:
    """What the events make of the session, what they are called, and what they owe."""
    after, names, errands = before, [], []
    for event in events:
        after = evolve(after, event)
        names.append(identity(event))
        for n, effect in enumerate(react(after, event) if owing else ()):
            due = getattr(effect, "due", Millis(0))
            id = f"{after.id}/{after.seq}/{n}"
            errands.append(Errand(id=id, session=after.id, effect=effect, due=due))
    return after, tuple(names), tuple(errands)


def _seen(before: Summary | None, after: Session, kinds: set[type]) -> Summary:
    """How the session looks in the list. The work inside a round moves only its phase, round and
    cost there: these are brought up to date with the next change of another kind."""
    if before is not None and kinds <= INSIDE_A_ROUND:
        return before
    seen = summary(after)
    return before if before is not None and seen == before else seen


def _nobody(_id: SessionId) -> None:
    return
