"""What the server needs of the system behind it, and what it refuses on its own account."""

from collections.abc import Mapping
from typing import Protocol

from holdfast.core.ids import SessionId
from holdfast.core.inputs import ConfigureSession
from holdfast.core.session import Session
from holdfast.core.value import Value
from holdfast.engine.engine import Engine
from holdfast.ports import Record, Records, Work
from holdfast.views.choices import AgentsOut, ModelsOut
from holdfast.wire import NewSession, ResumeIn


class Opened(Value):
    """A session that was made, and what its user should know about it, one line each."""

    id: SessionId
    notes: tuple[str, ...] = ()


class Choosing(Protocol):
    """What a session may be made of."""

    async def agents(self) -> AgentsOut:
        """At once: what would take long to find out is left open."""

    async def models(self) -> ModelsOut:
        """Every model that our own agent could be given now."""

    async def window(self, session: Session) -> int | None:
        """Tokens that its conversation may have; None: nobody knows."""

    async def price(self, session: Session, tokens: int) -> int | None:
        """What its model takes for reading that many, in millionths of a dollar. None: not known."""


class Opening(Protocol):
    """How sessions come to be. `Unfit` where what was asked for cannot be."""

    async def create(self, wanted: NewSession) -> Opened:
        """Makes the work tree and opens the session. It does not send the prompt."""

    async def adopt(self, record: Record, *, fork: bool) -> tuple[SessionId, int]:
        """Takes a conversation in, in the folder where it was had; `fork`: and what is added to it
        goes into another. Also says how much of it could not be read. `Unfit` where that folder is
        gone or there is nothing to take."""

    async def told_otherwise(self, session: Session, given: ResumeIn) -> ConfigureSession | None:
        """What a resume changes about a session first: its agent, model or mode; None: nothing."""

    async def check_free(self, folder: str, *, but: SessionId | None = None) -> None:
        """`Unfit` if a session, `but` that one, has a run in this very folder (SPEC H2)."""

    def way(self, agent: str, mode: str) -> str:
        """How that agent is run here. `Unfit` if there is none, or not in that mode."""


class Desk(Protocol):
    """The system, as seen from its front door."""

    @property
    def engine(self) -> Engine: ...

    @property
    def store(self) -> str:
        """Where the journal is, for people."""

    @property
    def work(self) -> Work:
        """What sessions changed, and the way out for it."""

    @property
    def opening(self) -> Opening: ...

    @property
    def choices(self) -> Choosing: ...

    @property
    def records(self) -> Records:
        """What other agents wrote down without us."""

    def lend(self, session: SessionId, environ: Mapping[str, str]) -> None:
        """Keys of the user's own environment, for this session; kept in memory, never stored."""


class Unfit(Exception):
    """A wish that cannot be met as it stands. `hint` names the fix."""

    def __init__(self, why: str, hint: str = "") -> None:
        super().__init__(why)
        self.why, self.hint = why, hint


class Failure(Exception):
    """An answer that is not what was asked for; `code` is of the fixed list in wire.py."""

    def __init__(
        self, code: str, message: str, hint: str = "", *, candidates: tuple[str, ...] = ()
    ) -> None:
        super().__init__(message)
        self.code, self.message, self.hint, self.candidates = code, message, hint, candidates


class Place(Value):
    """Where this daemon is, for those who ask."""

    version: str
    home: str
    address: str
    socket: str
    port: int
