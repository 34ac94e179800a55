"""git_status, git_diff and git_commit. Git itself is called by whoever is passed in (SPEC H3)."""

from typing import Annotated

from msgspec import Meta

from holdfast.agents.builtin.files import Refused, Tree
from holdfast.agents.builtin.tools_kind import Arguments, Context, Git, Said, Tool, ToolResult
from holdfast.core.session import EffectClass

OUTPUT = 60_000  # characters


class GitStatus(Arguments):
    pass


class GitDiff(Arguments):
    path: Annotated[str | None, Meta(description="Only this file or folder.")] = None


class GitCommit(Arguments):
    message: Annotated[str, Meta(min_length=1)]
    paths: Annotated[
        tuple[str, ...], Meta(description="Only these; everything that changed if left out.")
    ] = ()


async def git_status(arguments: GitStatus, context: Context) -> ToolResult:
    return _result(await _git(context).status(), nothing="Nothing has changed since HEAD.")


async def git_diff(arguments: GitDiff, context: Context) -> ToolResult:
    path = context.tree.name(arguments.path) if arguments.path else None
    return _result(await _git(context).diff(path), nothing="No difference.")


async def git_commit(arguments: GitCommit, context: Context) -> ToolResult:
    if not arguments.message.strip():
        raise Refused("The commit message is empty.")
    paths = commit_paths(arguments, context.tree)
    return _result(await _git(context).commit(arguments.message, paths), nothing="Committed.")


def commit_paths(arguments: GitCommit, tree: Tree) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tree.name(path) for path in arguments.paths))


def _git(context: Context) -> Git:
    if context.git is None:
        raise Refused("This folder is not a git repository.")
    return context.git


def _result(said: Said, *, nothing: str) -> ToolResult:
    text = said.text.encode("utf-8", "replace").decode()  # no lone surrogate comes out
    if len(text) > OUTPUT:
        text = f"{text[:OUTPUT]}\n({len(text) - OUTPUT} characters left out; name a path)"
    return ToolResult(output=text.rstrip("\n") or nothing, failed=said.failed)


TOOLS = (
    Tool(
        name="git_status",
        description="The branch, and which files differ from HEAD.",
        arguments=GitStatus,
        effect=EffectClass.PURE,
        function=git_status,
    ),
    Tool(
        name="git_diff",
        description="What differs from HEAD, as a patch.",
        arguments=GitDiff,
        effect=EffectClass.PURE,
        function=git_diff,
    ),
    Tool(
        name="git_commit",
        description="Commit what changed, on the session's own branch.",
        arguments=GitCommit,
        effect=EffectClass.PROBEABLE,
        function=git_commit,
    ),
)
