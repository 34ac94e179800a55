"""The tools that read and change files: read, list, write, edit, apply_patchset."""

from typing import Annotated

from msgspec import Meta

from holdfast.agents.builtin import files_edit, files_read, files_write
from holdfast.agents.builtin.files import Refused, Tree
from holdfast.agents.builtin.tools_kind import Arguments, Context, Tool, ToolResult, in_thread
from holdfast.core.session import EffectClass

PATH = Meta(description="Path from the work tree's root.")
Path = Annotated[str, PATH]


class Read(Arguments):
    path: Path
    offset: Annotated[int, Meta(ge=1, description="First line, from 1.")] = 1
    limit: Annotated[int, Meta(ge=1, description="How many lines.")] = files_read.LINES


class List(Arguments):
    path: Annotated[str, Meta(description="A folder; the root if left out.")] = "."


class Write(Arguments):
    path: Path
    content: Annotated[str, Meta(description="The whole content of the file.")]


class Edit(Arguments):
    path: Path
    old: Annotated[str, Meta(description="The text to replace, exactly as it is in the file.")]
    new: Annotated[str, Meta(description="The text to put there.")]
    all: Annotated[bool, Meta(description="Replace every occurrence.")] = False


class PatchFile(Arguments):
    path: Path
    content: Annotated[str | None, Meta(description="The whole content; null removes the file.")]
    expect_sha: Annotated[
        str | None,
        Meta(
            description="The sha that read showed, or the git blob id: refused if the file is "
            'another by now. "absent": the file must not be there yet.'
        ),
    ] = None


class ApplyPatchset(Arguments):
    files: Annotated[tuple[PatchFile, ...], Meta(min_length=1)]


async def read(arguments: Read, context: Context) -> ToolResult:
    a = arguments
    text = await in_thread(
        lambda: files_read.read_lines(context.tree, a.path, offset=a.offset, limit=a.limit)
    )
    return ToolResult(output=text)


async def list_(arguments: List, context: Context) -> ToolResult:
    path = arguments.path or "."
    return ToolResult(output=await in_thread(lambda: files_read.list_folder(context.tree, path)))


async def write(arguments: Write, context: Context) -> ToolResult:
    data = arguments.content.encode()
    name = context.tree.name_to_write(arguments.path)
    change = files_write.Change(path=name, content=data)
    await in_thread(lambda: files_write.apply(context.tree, [change]))
    lines = len(arguments.content.splitlines())
    return ToolResult(output=f"Wrote {name}: {lines} lines, {len(data)} bytes.", files=(name,))


async def edit(arguments: Edit, context: Context) -> ToolResult:
    return await in_thread(lambda: _edit(arguments, context.tree))


def _edit(a: Edit, tree: Tree) -> ToolResult:
    name = tree.name_to_write(a.path)
    data = files_read.read_bytes(tree, name)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise Refused(f"{name} is not UTF-8 text; change it with shell.") from None
    match files_edit.replaced(text, a.old, a.new, all=a.all):
        case files_edit.NotReplaced(why=why):
            raise Refused(f"{name} was not changed: {why}")
        case files_edit.Replaced(text=changed, lines=lines):
            # What was read is what is replaced: an edit that somebody made meanwhile is not lost.
            files_write.apply(tree, [_if_unchanged(name, data, changed.encode())])
            return ToolResult(output=f"Edited {name}: {_where(lines)}.", files=(name,))


def _if_unchanged(name: str, data: bytes, content: bytes) -> files_write.Change:
    return files_write.Change(path=name, content=content, expect=files_write.sha(data))


def _where(lines: tuple[int, ...]) -> str:
    if len(lines) == 1:
        return f"one place, line {lines[0]}"
    return f"{len(lines)} places, the first at line {lines[0]}"


async def apply_patchset(arguments: ApplyPatchset, context: Context) -> ToolResult:
    changes = patchset(arguments, context.tree)
    await in_thread(lambda: files_write.apply(context.tree, changes))
    lines = [f"{'Removed' if c.content is None else 'Wrote'} {c.path}" for c in changes]
    return ToolResult(output="\n".join(lines), files=tuple(c.path for c in changes))


def patchset(arguments: ApplyPatchset, tree: Tree) -> list[files_write.Change]:
    return [
        files_write.Change(
            path=tree.name_to_write(file.path),
            content=None if file.content is None else file.content.encode(),
            expect=file.expect_sha,
        )
        for file in arguments.files
    ]


def _one(arguments: Write | Edit, tree: Tree) -> tuple[str, ...]:
    return (tree.name_to_write(arguments.path),)


def _several(arguments: ApplyPatchset, tree: Tree) -> tuple[str, ...]:
    return tuple(change.path for change in patchset(arguments, tree))


TOOLS = (
    Tool(
        name="read",
        description="Read a text file. Lines come with their numbers, which are no part of the "
        f"file. At most {files_read.LINES} lines at once; read on with offset.",
        arguments=Read,
        effect=EffectClass.PURE,
        function=read,
    ),
    Tool(
        name="list",
        description="List a folder: folders end with /, files come with their size.",
        arguments=List,
        effect=EffectClass.PURE,
        function=list_,
    ),
    Tool(
        name="write",
        description="Make a file, or replace one whole. Folders are made as needed.",
        arguments=Write,
        effect=EffectClass.PROBEABLE,
        function=write,
        changes=_one,
    ),
    Tool(
        name="edit",
        description="Replace a text in a file. `old` must be in it exactly once, unless all is "
        "set; take in enough of the lines around it.",
        arguments=Edit,
        effect=EffectClass.PROBEABLE,
        function=edit,
        changes=_one,
    ),
    Tool(
        name="apply_patchset",
        description="Write and remove several files together: all of them, or none if one cannot.",
        arguments=ApplyPatchset,
        effect=EffectClass.PROBEABLE,
        function=apply_patchset,
        changes=_several,
    ),
)
