"""The search tool: ripgrep where it is installed, otherwise our own walk, in a process of its own.

Both run outside the daemon: a pattern that never ends is ended by its time limit, and holds nobody.
"""

import asyncio
import os
import shutil
import sys
from collections.abc import Mapping
from typing import Annotated

import msgspec
from msgspec import Meta

from holdfast.agents.builtin import files_grep
from holdfast.agents.builtin.files import Refused, text_of
from holdfast.agents.builtin.files_read import read_bytes
from holdfast.agents.builtin.shell_runtime import Finished
from holdfast.agents.builtin.tools_kind import Arguments, Context, Tool, ToolResult
from holdfast.core.session import EffectClass

MATCHES = 200
COLUMNS = 300
SECONDS = 30
OUTPUT = 1_000_000
_FINE, _RIPGREP_FINE = (0,), (0, 1)  # exit codes; ripgrep says 1 if nothing matched


class Search(Arguments):
    pattern: Annotated[str, Meta(min_length=1, description="A regular expression.")]
    path: Annotated[str, Meta(description="A file or a folder; all if left out.")] = "."
    glob: Annotated[str | None, Meta(description="Only these files, such as *.py.")] = None


async def search(arguments: Search, context: Context) -> ToolResult:
    name = context.tree.name(arguments.path or ".")
    program = await asyncio.to_thread(shutil.which, "rg")
    if program is None or not os.path.isdir("/proc/self/fd"):  # noqa: ASYNC240, PTH112
        return _answer(await _walk(arguments, name, context), name, fine=_FINE)
    return _answer(await _ripgrep(program, arguments, name, context), name, fine=_RIPGREP_FINE)


async def _ripgrep(program: str, a: Search, name: str, context: Context) -> Finished:
    argv = [program, "--no-config", "--color=never", "--no-heading", "--line-number", "--null"]
    argv += ["--with-filename", "--hidden", "--glob=!.git", "--sort=path", "--max-filesize=4M"]
    argv += [f"--max-columns={COLUMNS}", "--max-columns-preview", f"--max-count={MATCHES}"]
    argv += [f"--glob={a.glob}"] if a.glob else []
    argv += ["--regexp", a.pattern, "--"]
    data = None
    at = "."
    try:
        with context.tree.folder(name) as handle:
            # The folder by its handle: its name may mean another one by the time ripgrep starts.
            return await _start(context, [*argv, "."], cwd=f"/proc/self/fd/{handle}", data=None)
    except Refused:
        data = await asyncio.to_thread(read_bytes, context.tree, name)
        at = "-"
    return await _start(context, [*argv, at], cwd="/", data=data)


async def _walk(a: Search, name: str, context: Context) -> Finished:
    asked = files_grep.Asked(
        root=str(context.tree.root),
        path=name,
        pattern=a.pattern,
        glob=a.glob,
        matches=MATCHES,
        columns=COLUMNS,
    )
    argv = [sys.executable, "-P", "-s", "-m", files_grep.__name__]
    found = os.pathsep.join(path for path in sys.path if path.startswith("/"))  # as we were
    data = msgspec.json.encode(asked)
    return await _start(context, argv, cwd="/", data=data, env={"PYTHONPATH": found})


async def _start(
    context: Context,
    argv: list[str],
    *,
    cwd: str,
    data: bytes | None,
    env: Mapping[str, str] | None = None,
) -> Finished:
    variables = {**context.env, **(env or {})}
    return await context.runtime.run(
        argv, cwd=cwd, env=variables, timeout=SECONDS, input=data, output_limit=OUTPUT
    )


def _answer(finished: Finished, name: str, *, fine: tuple[int, ...]) -> ToolResult:
    if finished.timed_out:
        raise Refused(f"The search took more than {SECONDS} s; name a smaller folder or a glob.")
    lines = [_line(raw, name) for raw in finished.output.split(b"\n") if b"\0" in raw]
    if finished.exit_code not in fine and not lines:
        raise Refused(f"The search failed: {text_of(finished.output).strip()[:1000]}")
    if not lines:
        return ToolResult(output="No match.")
    if len(lines) > MATCHES:
        more = f"(more than {MATCHES} matches; name a smaller folder, a glob or a longer pattern)"
        lines = [*lines[:MATCHES], more]
    return ToolResult(output="\n".join(lines))


def _line(raw: bytes, name: str) -> str:
    """`file NUL line:text`, with the file's path from the tree's root."""
    file, _, rest = raw.partition(b"\0")
    path = text_of(file).removeprefix("./")
    if path in {"-", "<stdin>", "."}:
        path = name
    elif name != ".":
        path = f"{name}/{path}"
    return f"{path}:{text_of(rest)}"


TOOLS = (
    Tool(
        name="search",
        description="Search file contents for a regular expression. Files that git ignores are "
        f"left out. At most {MATCHES} matches, as path:line:text.",
        arguments=Search,
        effect=EffectClass.PURE,
        function=search,
    ),
)
