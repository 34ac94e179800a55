"""What the loop asks of a session's tools and its workspace, and how they answer."""

from typing import Protocol

from holdfast.agents.builtin.model import ToolSchema
from holdfast.core.ids import Millis
from holdfast.core.session import Call, EffectClass, Session
from holdfast.core.value import Value


class Ran(Value):
    """What a tool answers."""

    output: str
    failed: bool = False
    files: tuple[str, ...] = ()


class Ask(Value):
    text: str
    program: str = ""


class Deny(Value):
    text: str


class Question(Value):
    """A call that the loop carries out itself: the user's answer is its result."""

    text: str
    options: tuple[str, ...] = ()


class Delegation(Value):
    """A call that the loop carries out itself: a coder works on it."""

    task: str
    context: str = ""


class Note(Value):
    """A call of the coder's: its working memory. None: as before."""

    plan: str | None = None
    open_tasks: tuple[str, ...] | None = None
    assumptions: tuple[str, ...] | None = None


Inner = Question | Delegation | Note


class Toolbox(Protocol):
    """The tools of one session, in its workspace, under its permission mode."""

    def schemas(self) -> tuple[ToolSchema, ...]: ...
    def effect(self, name: str) -> EffectClass: ...
    def files(self, name: str, arguments: str) -> tuple[str, ...]: ...
    def verdict(self, call: Call, always: tuple[str, ...]) -> Ask | Deny | None: ...
    def inner(self, call: Call) -> Inner | None:
        """What the loop itself is to do; None: `run` does it."""

    async def run(self, call: Call) -> Ran: ...


class Keep(Protocol):
    """Of the port `Workspaces`: before a round begins to change files."""

    async def __call__(self, session: Session, *, since: Millis | None) -> None: ...
