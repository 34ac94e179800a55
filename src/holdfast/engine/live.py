"""A session in memory, as the one engine that may write it has it."""

import asyncio

from holdfast.core.ids import Millis, SessionId
from holdfast.core.session import Session
from holdfast.engine.inbox import Inbox
from holdfast.ports import Errand, Lease
from holdfast.views.sessions import Summary


class Live:
    """A session in memory: the fold, who may write it, what it owes."""

    def __init__(self, id: SessionId) -> None:
        self.lock = asyncio.Lock()
        self.session = Session(id=id)
        self.loaded = False
        self.writing = False  # the journal may have more than the fold
        self.gone = False  # there is no such session any more
        self.lease: Lease | None = None
        self.summary: Summary | None = None
        self.snapshot = 0
        self.run_started: Millis | None = None  # None: it began before we had it
        self.owed: list[Errand] = []
        self.inbox = Inbox()

    @property
    def busy(self) -> bool:
        """There is something to look after: an agent, a run, a debt."""
        return bool(self.owed) or (self.summary is not None and self.summary.live)
