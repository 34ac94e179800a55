"""A journal that can be cut off at every commit, and that says what it acknowledged."""

from collections.abc import Callable, Sequence
from typing import Any

from holdfast.core.ids import Millis, SessionId
from holdfast.journal.codec import TAGS
from holdfast.ports import Batch, Errand, Journal, Lease
from holdfast.testing.world import Boundary, nowhere

Acknowledge = Callable[[str], None]


class FaultJournal:
    """Every write of the port has a boundary on either side. Reading goes straight through."""

    def __init__(
        self, journal: Journal, boundary: Boundary, acknowledge: Acknowledge = nowhere
    ) -> None:
        self._journal, self._boundary, self._acknowledge = journal, boundary, acknowledge

    def __getattr__(self, name: str) -> Any:
        return getattr(self._journal, name)

    async def append(self, batch: Batch) -> None:
        name = "append:" + "+".join(TAGS[type(event)] for event in batch.events)
        self._boundary(f"{name}:before")
        await self._journal.append(batch)
        self._acknowledge(f"seq {batch.session} {batch.head + len(batch.events)}")
        self._boundary(f"{name}:after")

    async def claim(
        self, session: SessionId, owner: str, *, now: Millis, ttl: int, dead: str = ""
    ) -> Lease:
        self._boundary("claim:before")
        lease = await self._journal.claim(session, owner, now=now, ttl=ttl, dead=dead)
        self._acknowledge(f"lease {session} {lease.generation} {owner}")
        self._boundary("claim:after")
        return lease

    async def renew(
        self, owner: str, leases: Sequence[Lease], *, now: Millis, ttl: int
    ) -> list[SessionId]:
        self._boundary("renew:before")
        lost = await self._journal.renew(owner, leases, now=now, ttl=ttl)
        self._boundary("renew:after")
        return lost

    async def release(self, lease: Lease) -> None:
        self._boundary("release:before")
        await self._journal.release(lease)
        self._boundary("release:after")

    async def purge(self, lease: Lease, *, at: Millis) -> None:
        self._boundary("purge:before")
        await self._journal.purge(lease, at=at)
        self._boundary("purge:after")

    async def settle(self, errand: Errand) -> None:
        name = f"settle:{TAGS[type(errand.effect)]}"
        self._boundary(f"{name}:before")
        await self._journal.settle(errand)
        self._boundary(f"{name}:after")
