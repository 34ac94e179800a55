"""What a tool is: a value with a name, arguments of a known shape, an effect and a function.

Rule 1: a tool never raises at the model. Whatever is wrong with what it asked for is a failed result
of one sentence that says what to do instead.
Rule 2: arguments are decoded in one place, here, by one decoder: what is asked about, what is journaled
and what is run are the same thing.
Rule 3: what a tool changes in the work tree can be told from its arguments before it is run, or it
says that it cannot.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import msgspec

from holdfast.agents.builtin.files import Refused, Tree
from holdfast.agents.builtin.sandbox import Sandbox
from holdfast.agents.builtin.shell_runtime import Runtime
from holdfast.core.session import EffectClass
from holdfast.core.value import Value


class Arguments(Value, forbid_unknown_fields=True):
    """A misspelt name is a mistake to be told, not to be ignored."""


class ToolResult(Value):
    output: str
    failed: bool = False
    files: tuple[str, ...] = ()  # what it changed


class Said(Protocol):
    """What git answered, or why it did not."""

    @property
    def text(self) -> str: ...
    @property
    def failed(self) -> bool: ...


class Git(Protocol):
    """The session's repository. Git is called in one place (SPEC H3), and that is not here."""

    async def status(self) -> Said: ...
    async def diff(self, path: str | None) -> Said: ...
    async def commit(self, message: str, paths: tuple[str, ...]) -> Said:
        """Those paths, or everything that is not ignored."""

    async def head_message(self) -> str | None:
        """None: git cannot tell."""

    async def dirty(self, paths: tuple[str, ...]) -> tuple[str, ...] | None:
        """Which of these (or of all) files differ from HEAD or are untracked. None: cannot tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Where a tool works: all of it comes from the session's record, nothing from a model."""

    tree: Tree
    git: Git | None  # None: a folder without git
    runtime: Runtime
    sandbox: Sandbox | None  # None: commands run as they are; asked about first (permission.py)
    env: Mapping[str, str] = field(default_factory=dict)  # for commands, beside the runtime's own


Run = Callable[[Any, Context], Awaitable[ToolResult]]
Changes = Callable[[Any, Tree], tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    name: str
    description: str
    arguments: type[msgspec.Struct]
    effect: EffectClass
    function: Run | None  # None: the loop itself does it
    changes: Changes = lambda _arguments, _tree: ()

    def schema(self) -> dict[str, object]:
        """JSON Schema of the arguments, in one piece: not every provider follows references."""
        return _inlined(msgspec.json.schema(self.arguments))

    def files(self, arguments: str, tree: Tree) -> tuple[str, ...]:
        """The files it would change; none if the arguments are no good: then it would not run."""
        try:
            return self.changes(self.decode(arguments), tree)
        except Refused:
            return ()

    def decode(self, arguments: str) -> Any:
        """`Refused` says what is wrong with them."""
        try:
            return msgspec.json.decode(arguments.strip() or "{}", type=self.arguments)
        except msgspec.ValidationError as error:
            raise Refused(f"{self.name}: {error}. It takes {self._usage()}.") from None
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
            raise Refused(
                f"{self.name}: the arguments are not valid JSON ({error}). "
                f"Send one object: {self._usage()}."
            ) from None

    async def run(self, arguments: str, context: Context) -> ToolResult:
        try:
            decoded = self.decode(arguments)
            if self.function is None:
                raise Refused(f"{self.name} cannot be used here.")
            return await self.function(decoded, context)
        except Refused as refused:
            return ToolResult(output=str(refused), failed=True)
        except OSError as error:
            return ToolResult(output=f"{self.name} failed: {error.strerror or error}.", failed=True)

    def _usage(self) -> str:
        info = msgspec.structs.fields(self.arguments)
        return "{" + ", ".join(f.name if f.required else f"{f.name}?" for f in info) + "}"


T = TypeVar("T")


async def in_thread(work: Callable[[], T]) -> T:
    """Work on files, off the loop. A cancel waits for it: a thread cannot be stopped, and a write
    must not come after whatever follows the cancel."""
    task = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait([task])
        task.exception()  # seen; the cancel is what is told
        raise


def _inlined(schema: Mapping[str, Any]) -> dict[str, object]:
    definitions = schema.get("$defs", {})

    def resolve(part: Any) -> Any:
        if isinstance(part, list):
            return [resolve(item) for item in part]
        if not isinstance(part, dict):
            return part
        if "$ref" in part:
            return resolve(definitions[part["$ref"].rpartition("/")[2]])
        return {k: resolve(v) for k, v in part.items() if k != "title" or isinstance(v, dict)}

    top: dict[str, object] = resolve({k: v for k, v in schema.items() if k != "$defs"})
    return top
