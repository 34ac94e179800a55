"""The shell tool: one command line, in the sandbox where there is one (SPEC B3, B6, B15)."""

import os
import signal
from typing import Annotated

from msgspec import Meta

from holdfast.agents.builtin.files import text_of
from holdfast.agents.builtin.sandbox import environment, wrapped
from holdfast.agents.builtin.shell_runtime import Finished
from holdfast.agents.builtin.tools_kind import Arguments, Context, Tool, ToolResult
from holdfast.core.session import EffectClass

SECONDS = 120
MOST_SECONDS = 3600
OUTPUT = 30_000  # bytes that the model gets to see


class Shell(Arguments):
    command: Annotated[str, Meta(min_length=1, description="A command line for sh.")]
    timeout: Annotated[
        float, Meta(gt=0, le=MOST_SECONDS, description="Seconds until it is ended.")
    ] = SECONDS


async def shell(arguments: Shell, context: Context) -> ToolResult:
    if "\0" in arguments.command:
        return ToolResult(output="A command cannot hold a NUL character.", failed=True)
    argv = [_program(), "-c", arguments.command]
    finished = await context.runtime.run(
        argv if context.sandbox is None else wrapped(context.sandbox, argv),
        cwd=str(context.tree.root),
        env={**environment(context.sandbox), **context.env},
        timeout=arguments.timeout,
        output_limit=OUTPUT,
    )
    return described(finished, arguments.timeout)


def described(finished: Finished, seconds: float) -> ToolResult:
    """The output, then how it ended, for a model to read."""
    notes: list[str] = []
    if finished.timed_out:
        notes.append(f"timed out after {seconds:g} s; it and all it had begun were ended")
    elif finished.signal is not None:
        notes.append(f"ended by {_signal_name(finished.signal)}")
    elif finished.exit_code:
        notes.append(f"exit code {finished.exit_code}")
    if finished.held and not finished.timed_out:
        notes.append("something it began is still running; its further output is not seen")
    text = text_of(finished.output).rstrip("\n")
    failed = finished.timed_out or finished.exit_code != 0
    parts = [text] if text else []
    if notes:
        parts.append(f"({'; '.join(notes)})")
    return ToolResult(output="\n".join(parts) or "(no output)", failed=failed)


def _program() -> str:
    """Models write for bash; where it is missing, sh has to do."""
    return "/bin/bash" if os.access("/bin/bash", os.X_OK) else "/bin/sh"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


TOOLS = (
    Tool(
        name="shell",
        description="Run a command line in the work tree and see its output. In a sandbox it can "
        "write only the work tree and /tmp, has no network unless configured, and what it leaves "
        "in the background ends with it. It has no terminal and no input.",
        arguments=Shell,
        effect=EffectClass.UNSAFE,
        function=shell,
    ),
)
