"""What the tools need of a runtime: commands that end, one way or another."""

from collections.abc import Mapping, Sequence
from typing import Protocol


class Finished(Protocol):
    """How a command ended; see runtimes."""

    @property
    def exit_code(self) -> int | None: ...
    @property
    def signal(self) -> int | None: ...
    @property
    def output(self) -> bytes: ...
    @property
    def timed_out(self) -> bool: ...
    @property
    def held(self) -> bool: ...


class Runtime(Protocol):
    """Whatever starts processes; on a timeout or a cancel none of them is left."""

    async def run(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        timeout: float,  # noqa: ASYNC109  a limit of the command, not of this call
        input: bytes | None = None,
        output_limit: int,
    ) -> Finished: ...
