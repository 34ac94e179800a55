"""A git folder of our own in front of the repository's: same objects and refs, none of its settings.

The repository's configuration can name programs under a dozen keys (filters, diff and merge
drivers, monitors, hooks, signers), and which ones grows with git. Listing and overriding them would
also race with whoever edits it. So git never reads it: each operation gets a throw-away git folder
whose objects, refs and logs are links to the real ones, and whose HEAD, index and settings are
copies. Settings are copied one by one from a list of those that are data.

Rule 1: the index here is a copy. The user's own is never locked or written by reading.
Rule 2: the tree is named explicitly; `core.worktree` is not on the list.
Rule 3: git is kept out of submodules, which have settings of their own, whatever `.gitmodules` says.
Rule 4: only values whose keys are in `REPOSITORY` or `PERSON` are copied, and quoted.
"""

import asyncio
import contextlib
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from holdfast.workspaces.errors import NotARepository
from holdfast.workspaces.git import CAP, PLAIN, Git, Output
from holdfast.workspaces.place import Place, head_of, read_dated, read_plain

# How files are read and named: without these every file of some repositories would look changed.
REPOSITORY = frozenset(
    {
        "core.filemode",
        "core.symlinks",
        "core.ignorecase",
        "core.precomposeunicode",
        "core.protecthfs",
        "core.protectntfs",
        "core.autocrlf",
        "core.eol",
        "core.checkstat",
        "core.trustctime",
        "core.repositoryformatversion",
        "extensions.objectformat",
        "user.name",
        "user.email",
    }
)
# From the person's own settings, which no repository can write.
PERSON = frozenset({"core.autocrlf", "core.eol", "core.excludesfile", "user.name", "user.email"})
UNREADABLE = {"reftable": "keeps its refs in the reftable format, which we cannot read yet"}
CONFIG_LIMIT = 1 << 22

PREFIX = "holdfast-git-"
LEFT_BEHIND = 86_400.0  # seconds; no operation takes a day
OURSELVES = ("Holdfast", "holdfast@localhost")
LOOKING = ("status", "diff", "diff-files", "diff-index")
LINKED = ("objects", "refs", "packed-refs", "shallow")


class Shadow:
    """Git, on one work tree, for the length of one operation."""

    def __init__(self, place: Place, folder: Path, by: Git) -> None:
        self.place, self.folder, self.by = place, folder, by
        self.index = folder / "index"
        self.person: tuple[str, str] | None = None  # name and address, if they said so

    async def git(
        self,
        *args: str,
        stdin: bytes = b"",
        ok: Collection[int] = (0,),
        index: Path | None = None,
        env: Mapping[str, str] | None = None,
        cap: int = CAP,
        cut: bool = False,
    ) -> Output:
        return await self.by.run(
            f"--git-dir={self.folder}",
            f"--work-tree={self.place.tree}",
            *_staying_out(args),
            cwd=self.place.tree,
            env={"GIT_INDEX_FILE": str(index or self.index), **(env or {})},
            stdin=stdin,
            ok=ok,
            cap=cap,
            cut=cut,
        )

    async def line(self, *args: str) -> str:
        return (await self.git(*args)).line

    async def commit_at(self, name: str) -> str:
        """The commit that `name` stands for; empty if there is none."""
        found = await self.git("rev-parse", "--verify", "-q", f"{name}^{{commit}}", ok=(0, 1, 128))
        return found.line if found.code == 0 else ""

    async def commit(
        self, tree: str, parents: Sequence[str], message: str, *, as_person: bool = False
    ) -> str:
        """A commit object; no ref is moved. Signed by the person only where it goes into their branch."""
        name, address = (self.person if as_person else None) or OURSELVES
        env = {
            "GIT_AUTHOR_NAME": name,
            "GIT_AUTHOR_EMAIL": address,
            "GIT_COMMITTER_NAME": name,
            "GIT_COMMITTER_EMAIL": address,
        }
        named = [word for parent in parents for word in ("-p", parent)]
        raw = message.encode("utf-8", "replace")
        return (await self.git("commit-tree", tree, *named, env=env, stdin=raw)).line

    async def tree_of(self, name: str) -> str:
        return await self.line("rev-parse", "--verify", "-q", f"{name}^{{tree}}")


@asynccontextmanager
async def shadow(place: Place, *, by: Git = PLAIN, scratch: bool = False) -> AsyncIterator[Shadow]:
    """`scratch`: objects that are made are thrown away with it, for those who only look."""
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    try:
        await asyncio.to_thread(_furnish, folder, place, scratch=scratch)
        settings = await _settings(place, folder, by)
        text = "".join(_written(key, value) for key, value in settings.items())
        (folder / "config").write_text(text, "utf-8", "surrogateescape")
        opened = Shadow(place, folder, by)
        if settings.get("user.name") and settings.get("user.email"):
            opened.person = settings["user.name"], settings["user.email"]
        yield opened
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _staying_out(args: tuple[str, ...]) -> tuple[str, ...]:
    """Into commands that would run git inside a submodule: a tracked `.gitmodules` overrules the
    setting that forbids it, but not the option."""
    for n, word in enumerate(args):
        if word in LOOKING:
            return (*args[: n + 1], "--ignore-submodules=dirty", *args[n + 1 :])
        if word == "--":
            break
    return args


def sweep(*, now: float) -> int:
    """Throws away what killed processes left; `now` is in seconds since 1970. Gives back how many.

    By age alone: another process's shadow may be in use, and its number may mean nothing here."""
    gone = 0
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            seen = folder.lstat()
            if seen.st_uid == os.getuid() and now - seen.st_mtime > LEFT_BEHIND:
                shutil.rmtree(folder)
                gone += 1
    return gone


def _furnish(folder: Path, place: Place, *, scratch: bool) -> None:
    for name in LINKED:
        if not (scratch and name == "objects"):
            (folder / name).symlink_to(place.common / name)
    if scratch:
        (folder / "objects/info").mkdir(parents=True)
        (folder / "objects/info/alternates").write_text(f"{place.common / 'objects'}\n")
    (folder / "logs").mkdir()
    (folder / "logs/refs").symlink_to(place.common / "logs/refs")
    (folder / "logs/HEAD").symlink_to(place.git_dir / "logs/HEAD")
    (folder / "info").mkdir()
    for name in ("info/exclude", "info/attributes"):
        _copy(place.common / name, folder / name)
    _copy(place.git_dir / "index", folder / "index")
    for shared in place.git_dir.glob("sharedindex.*"):
        _copy(shared, folder / shared.name)
    head = head_of(place.git_dir)
    (folder / "HEAD").write_text(f"ref: {head}\n" if head.startswith("refs/") else f"{head}\n")


def _copy(source: Path, target: Path) -> None:
    """With its time: git takes a file that is as young as the index for possibly changed. A copy
    that looked younger would hide an edit made in the same moment."""
    found = read_dated(source)
    if found is not None:
        raw, time = found
        target.write_bytes(raw)
        os.utime(target, ns=(time, time))


# --- settings -------------------------------------------------------------------------------------


async def _settings(place: Place, folder: Path, by: Git) -> dict[str, str]:
    raw = read_plain(place.common / "config", CONFIG_LIMIT) or b""
    listed = await by.run(
        "config", "--file", "-", "--no-includes", "-z", "--list", cwd=folder, stdin=raw
    )
    settings = _parsed(listed.out)
    refs = settings.get("extensions.refstorage", "files")
    if refs in UNREADABLE:
        raise NotARepository(f"The repository {place.common} {UNREADABLE[refs]}.")
    chosen = {k: v for k, v in (await _personal(folder, by)).items() if k in PERSON}
    chosen |= {k: v for k, v in settings.items() if k in REPOSITORY}
    return chosen | {"core.bare": "false"}


async def _personal(folder: Path, by: Git) -> dict[str, str]:
    """The person's own settings, as data. Theirs are not trusted to run anything either."""
    home = Path.home()
    env = {"HOME": str(home), "XDG_CONFIG_HOME": os.environ.get("XDG_CONFIG_HOME", "")}
    found: dict[str, str] = {}
    base = Path(env["XDG_CONFIG_HOME"] or home / ".config")
    for path in (base / "git/config", home / ".gitconfig"):
        if path.is_file():
            args = ("config", "--file", str(path), "--includes", "-z", "--list")
            listed = await by.run(*args, cwd=folder, env=env, ok=(0, 1, 3, 128))
            found |= _parsed(listed.out)
    ignore = found.get("core.excludesfile") or str(base / "git/ignore")
    return found | {"core.excludesfile": _under_home(ignore)}


def _under_home(path: str) -> str:
    return str(Path(path).expanduser())


def _parsed(listed: bytes) -> dict[str, str]:
    """`key LF value NUL`; a key without a value means true."""
    found: dict[str, str] = {}
    for entry in listed.decode("utf-8", "surrogateescape").split("\0"):
        key, newline, value = entry.partition("\n")
        if key:
            found[key] = value if newline else "true"
    return found


def _written(key: str, value: str) -> str:
    section, _, name = key.partition(".")
    quoted = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'[{section}]\n\t{name} = "{quoted}"\n'
