"""Whether a call that began, and whose result nobody saw, was carried out (SPEC D7, D10).

Rule 1: only the world is asked: the files as they are, git's HEAD. Nothing is run.
Rule 2: "done" and "not done" are said only where the world can be told from the other case. A call
that is said not to be done will be run again.
Rule 3: what was journaled may have had secrets taken out (SPEC C6). Such a call is never run again by
itself: it would write "[redacted]" into a file.
Rule 4: what a write that was cut off had prepared beside its targets is removed on the way.
"""

from collections.abc import Mapping

from holdfast.agents.builtin.files import Refused, Tree
from holdfast.agents.builtin.files_read import read_bytes
from holdfast.agents.builtin.files_write import Change, clear_leftovers
from holdfast.agents.builtin.tools_files import ApplyPatchset, Edit, Write, patchset
from holdfast.agents.builtin.tools_git import GitCommit, commit_paths
from holdfast.agents.builtin.tools_kind import Git, Tool, in_thread
from holdfast.core.redact import REDACTED
from holdfast.core.resume import Probe
from holdfast.core.session import Call, EffectClass


async def probe(call: Call, tree: Tree, git: Git | None, *, tools: Mapping[str, Tool]) -> Probe:
    found = await _probe(call, tree, git, tools.get(call.name))
    if found is Probe.NOT_DONE and REDACTED in call.arguments:
        return Probe.UNKNOWN
    return found


async def _probe(call: Call, tree: Tree, git: Git | None, tool: Tool | None) -> Probe:
    if tool is None or call.effect is not EffectClass.PROBEABLE:
        return Probe.UNKNOWN
    try:
        asked = tool.decode(call.arguments)
        match asked:
            case Write() | Edit() | ApplyPatchset():
                return await in_thread(lambda: _files(asked, tree))
            case GitCommit():
                return await _commit(asked, tree, git)
            case _:
                return Probe.UNKNOWN
    except Refused:
        return Probe.NOT_DONE  # it cannot have been begun; run again, it says why
    except OSError:
        return Probe.UNKNOWN


def _files(asked: Write | Edit | ApplyPatchset, tree: Tree) -> Probe:
    match asked:
        case Write(path=path, content=content):
            changes = [Change(path=tree.name_to_write(path), content=content.encode())]
        case ApplyPatchset():
            changes = patchset(asked, tree)
        case Edit(path=path):
            clear_leftovers(tree, [tree.name_to_write(path)])
            return _edit(asked, tree)
    clear_leftovers(tree, [change.path for change in changes])
    done = [_content(tree, change.path) == change.content for change in changes]
    if all(done):
        return Probe.DONE
    return Probe.UNKNOWN if any(done) else Probe.NOT_DONE


def _content(tree: Tree, path: str) -> bytes | None:
    """None: there is no such file, or nothing that could have been written here."""
    try:
        return read_bytes(tree, path)
    except Refused:
        return None


def _edit(asked: Edit, tree: Tree) -> Probe:
    data = _content(tree, asked.path)
    if data is None or not asked.old:
        return Probe.UNKNOWN
    text, old, new = (
        part.replace("\r\n", "\n")
        for part in (data.decode("utf-8", "replace"), asked.old, asked.new)
    )
    if old in new:
        return _grown(text, old, new, all=asked.all)
    if old in text:
        return Probe.NOT_DONE if asked.all or text.count(old) == 1 else Probe.UNKNOWN
    return Probe.DONE if new in text else Probe.UNKNOWN


def _grown(text: str, old: str, new: str, *, all: bool) -> Probe:
    """`new` holds `old`: finding `old` says nothing, finding it elsewhere does."""
    elsewhere = text.replace(new, "\0").count(old)
    if new in text:
        return Probe.DONE if elsewhere == 0 else Probe.UNKNOWN
    return Probe.NOT_DONE if elsewhere == 1 or (all and elsewhere) else Probe.UNKNOWN


async def _commit(asked: GitCommit, tree: Tree, git: Git | None) -> Probe:
    """A commit leaves its message at HEAD and its files clean. One of the two without the other can
    come about in other ways."""
    if git is None:
        return Probe.UNKNOWN
    message = await git.head_message()
    dirty = await git.dirty(commit_paths(asked, tree))
    if message is None or dirty is None:
        return Probe.UNKNOWN
    if _plain(message) == _plain(asked.message):
        return Probe.UNKNOWN if dirty else Probe.DONE
    return Probe.NOT_DONE if dirty else Probe.UNKNOWN


def _plain(message: str) -> list[str]:
    """As git cleans a message: no blank at a line's end, no empty line twice or at the ends."""
    lines = [line.rstrip() for line in message.strip().splitlines()]
    return [line for at, line in enumerate(lines) if line or lines[at - 1]]
