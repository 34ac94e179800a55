"""What a session changed, file by file: for the page, and for whoever asks with `--json` (SPEC H4).

Rule 1: what was cut off is said, for the file and for the whole. A cut text is for reading alone.
Rule 2: one file never takes the room of the others: each has its own cap, all together have one.
"""

from collections.abc import Iterator, Sequence

from holdfast.core.value import Value

FILE_CHARACTERS = 200_000  # of one file among others
WHOLE_CHARACTERS = 2_000_000  # of all files together
HEADER = "diff --git "
RETYPED = "T"  # a file that became a link, or the other way round: two pieces of a patch
STATUS = {"A": "added", "D": "deleted", "M": "modified", "R": "renamed", RETYPED: "retyped"}


class FileChange(Value):
    """As git says it."""

    name: str
    mark: str  # A, D, M, T, R
    before: str = ""  # the name it had, if it was renamed
    added: int | None = None  # lines; None: a binary file
    removed: int | None = None
    untracked: bool = False


class FileOut(Value, omit_defaults=False):
    path: str
    status: str  # added, modified, deleted, renamed, retyped, untracked
    before: str  # the name it had, if it was renamed
    binary: bool
    added: int | None  # lines; null: a binary file
    removed: int | None
    patch: str = ""  # unified, with its header
    truncated: bool = False


class DiffOut(Value, omit_defaults=False):
    base: str  # the commit the session started from
    branch: str
    files: tuple[FileOut, ...]
    added: int
    removed: int
    left_out: tuple[str, ...]  # too large or unreadable: changed, perhaps, and not shown
    truncated: bool = False


class AppliedOut(Value, omit_defaults=False):
    branch: str  # that has the work now
    before: str
    commit: str
    moved: bool  # false: it had everything already
    folder: str  # whose files were changed too; empty: the branch is checked out nowhere
    files: int


def by_file(
    files: Sequence[FileChange],
    patch: str,
    *,
    cut: bool = False,
    each: int = FILE_CHARACTERS,
    whole: int = WHOLE_CHARACTERS,
) -> tuple[FileOut, ...]:
    """Each file with its piece of the patch. `cut`: the patch itself ends early."""
    pieces = _pieces(patch)
    found: list[FileOut] = []
    left = whole
    for file in files:
        wanted = 2 if file.mark == RETYPED else 1
        taken = [piece for piece in (next(pieces, None) for _ in range(wanted)) if piece]
        text = "".join(taken)
        room = min(each, left)
        ends_early = len(text) > room or len(taken) < wanted
        shown = text[:room].rpartition("\n")[0] + "\n" if len(text) > room else text
        left -= len(shown)
        found.append(file_out(file, shown if room else "", truncated=ends_early))
    if cut and found:
        last = max((n for n, file in enumerate(found) if file.patch), default=0)
        found[last] = file_out(files[last], found[last].patch, truncated=True)
    return tuple(found)


def file_out(file: FileChange, patch: str = "", *, truncated: bool = False) -> FileOut:
    return FileOut(
        path=file.name,
        status="untracked" if file.untracked else STATUS.get(file.mark, "modified"),
        before=file.before,
        binary=file.added is None,
        added=file.added,
        removed=file.removed,
        patch=patch,
        truncated=truncated,
    )


def _pieces(patch: str) -> Iterator[str]:
    """A line of content begins with a sign, so a header is never mistaken."""
    begin = 0
    while begin < len(patch):
        end = patch.find(f"\n{HEADER}", begin)
        end = len(patch) if end < 0 else end + 1
        yield patch[begin:end]
        begin = end


def counted(files: int, added: int, removed: int) -> str:
    """One line, as git says it at the end of `--stat`."""
    if not files:
        return "nothing changed"
    return f"{files} file{'s' if files != 1 else ''} changed, +{added} -{removed}"


def applied(done: AppliedOut) -> str:
    """One line, for whoever did it and for the session's own history."""
    files = f"{done.files} file{'s' if done.files != 1 else ''}"
    return f"{done.branch} has it: {files}, {done.commit[:12]}"
