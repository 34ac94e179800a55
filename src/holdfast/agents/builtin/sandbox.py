"""The sandbox of the shell tool: a bubblewrap command line (SPEC B15).

Rule 1: it begins with nothing. What a command may see is listed: the system's programs, the tool
folders from the config, the git folder; what it may write is the work tree, /tmp and an empty HOME.
Rule 2: of the common git folder `objects refs logs worktrees/<this>` can be written, so that a commit
works; what could make a git outside run something cannot, not even where it is missing yet: config,
hooks, info, and in worktrees/<this> the files that point elsewhere. A repository whose .git is a folder
in the work tree itself is read-only as a whole: commits go through git_commit.
Rule 3: folders come from the session's record. What a file in the work tree says is believed only if
the git folder says so too.
Rule 4: no network unless asked for, no other processes in sight, none left when the parent dies.
Rule 5: a sandbox that cannot be made is said so. There is no half of one.
"""

import asyncio
import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from holdfast.agents.builtin.shell_runtime import Runtime
from holdfast.core.value import Value

_UNATTENDED = {
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_EDITOR": "true",
    "GIT_TERMINAL_PROMPT": "0",
    "TERM": "dumb",
    # Cleaning up writes where a sandbox may not.
    "GIT_CONFIG_COUNT": "2",
    "GIT_CONFIG_KEY_0": "gc.auto",
    "GIT_CONFIG_VALUE_0": "0",
    "GIT_CONFIG_KEY_1": "maintenance.auto",
    "GIT_CONFIG_VALUE_1": "false",
}
TRY_SECONDS = 10
SAID_CUT = 300

_SYSTEM = ("/usr", "/opt", "/nix/store", "/snap")
_MAYBE_LINKS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
# Of /etc what programs need to run, and nothing that is a secret to somebody.
_ETC = [
    "alternatives",
    "bash.bashrc",
    "ca-certificates",
    "ca-certificates.conf",
    "crypto-policies",
    "debian_version",
    "fonts",
    "gai.conf",
    "gitattributes",
    "gitconfig",
    "group",
    "host.conf",
    "hosts",
    "inputrc",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "locale.alias",
    "localtime",
    "login.defs",
    "magic",
    "mime.types",
    "nsswitch.conf",
    "os-release",
    "passwd",
    "perl",
    "pki/ca-trust",
    "pki/tls/certs",
    "profile",
    "profile.d",
    "protocols",
    "python3",
    "services",
    "shells",
    "ssl/certs",
    "ssl/openssl.cnf",
    "terminfo",
    "timezone",
    "xattr.conf",
]
_NETWORK = ("/etc/resolv.conf", "/run/systemd/resolve")
_ISOLATED = (
    *("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
    *("--cap-drop", "ALL", "--die-with-parent", "--new-session"),
)
_COMMON_WRITABLE = ("objects", "refs", "logs")
_OWN_READ_ONLY = ("commondir", "gitdir", "config.worktree", "modules")


class NoSandbox(Exception):
    """Why there is none."""


class Sandbox(Value):
    """All paths are absolute and from the session's record."""

    tree: str
    home: str
    common: str = ""  # the common git folder, if it is outside the tree
    own: str = ""  # worktrees/<this> in it
    dot_git: bool = False  # the tree has a .git, file or folder
    tools: tuple[str, ...] = ()  # folders to see
    hidden: tuple[str, ...] = ()  # folders in the tree not to see
    network: bool = False
    program: str = "bwrap"


def sandbox_for(
    tree: Path,
    *,
    home: Path,
    tools: Iterable[str] = (),
    state: Path | None = None,
    network: bool = False,
) -> Sandbox:
    """The sandbox for a work tree. `state` is our own folder, never to be seen."""
    tree, home = tree.resolve(), home.resolve()
    if tree == Path("/") or home.is_relative_to(tree):
        raise NoSandbox(f"the work tree {tree} holds the home folder")
    common, own = _git_folders(tree)
    hidden = state.resolve() if state else None
    return Sandbox(
        tree=str(tree),
        home=str(home),
        common=str(common or ""),
        own=str(own or ""),
        dot_git=os.path.lexists(tree / ".git"),
        tools=tuple(str(Path(folder).expanduser()) for folder in tools),
        hidden=(str(hidden),) if hidden and hidden.is_relative_to(tree) else (),
        network=network,
    )


def wrapped(sandbox: Sandbox, argv: Sequence[str]) -> list[str]:
    """The command line that runs `argv` inside. The environment is the caller's to scrub."""
    tree = sandbox.tree
    line = [sandbox.program, *_ISOLATED, *_system()]
    if sandbox.network:
        line += _each("--ro-bind-try", _NETWORK)
    else:
        line.append("--unshare-net")
    if sandbox.home != "/":  # the root is an empty one already
        line += ["--tmpfs", sandbox.home]
    line += _each("--ro-bind-try", sandbox.tools)
    if sandbox.common:
        common, own = Path(sandbox.common), Path(sandbox.own)
        line += _each("--ro-bind", [sandbox.common])
        line += _each("--bind", [str(common / name) for name in _COMMON_WRITABLE])
        line += _each("--ro-bind", [str(common / "objects/info")])
        line += _each("--bind", [sandbox.own])
        line += _each("--ro-bind", [str(own / name) for name in _OWN_READ_ONLY])
    line += _each("--bind", [tree])
    if sandbox.dot_git:
        line += _each("--ro-bind", [f"{tree}/.git"])
    for folder in sandbox.hidden:
        line += ["--tmpfs", folder]
    return [*line, "--chdir", tree, "--", *argv]


def environment(sandbox: Sandbox | None) -> dict[str, str]:
    """For a command: nothing waits for a person, and inside, folders that are there."""
    inside = {"HOME": sandbox.home, "TMPDIR": "/tmp"} if sandbox else {}  # noqa: S108
    return {**_UNATTENDED, **inside}


async def available(runtime: Runtime, *, program: str = "bwrap") -> str | None:
    """None: a sandbox works here; it was tried. Otherwise why not, in one sentence."""
    if not sys.platform.startswith("linux"):
        return "bubblewrap needs Linux"
    if await asyncio.to_thread(shutil.which, program) is None:
        return "bubblewrap is not installed (Debian: apt-get install bubblewrap)"
    line = [program, *_ISOLATED, "--unshare-net", *_system(), "--", "/bin/sh", "-c", ":"]
    tried = await runtime.run(line, cwd="/", env={}, timeout=TRY_SECONDS, output_limit=SAID_CUT)
    if tried.exit_code == 0:
        return None
    said = " ".join(tried.output.decode("utf-8", "replace").split()) or "no answer in time"
    return f"bubblewrap is installed, but this machine does not permit a sandbox: {said}"


def _system() -> list[str]:
    line: list[str] = _each("--ro-bind-try", _SYSTEM)
    for name in _MAYBE_LINKS:
        path = Path(name)
        if path.is_symlink():
            line += ["--symlink", str(path.readlink()), name]
        else:
            line += ["--ro-bind-try", name, name]
    line += _each("--ro-bind-try", [f"/etc/{name}" for name in _ETC])
    return [*line, "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", "/var/tmp"]  # noqa: S108


def _each(option: str, paths: Iterable[str]) -> list[str]:
    return [word for path in paths for word in (option, path, path)]


def _git_folders(tree: Path) -> tuple[Path | None, Path | None]:
    """The common git folder and the part of it that is this work tree's; none if .git is a folder."""
    pointer = tree / ".git"
    if pointer.is_symlink():
        raise NoSandbox(f"{pointer} is a symbolic link")
    if not pointer.is_file():
        return None, None
    try:
        own = Path(_told(pointer).removeprefix("gitdir:").strip())
        own = (tree / own).resolve(strict=True)
        common = (own / _told(own / "commondir")).resolve(strict=True)
        back = (own / _told(own / "gitdir")).resolve()
    except (OSError, ValueError) as error:
        raise NoSandbox(f"{pointer} does not lead to a git folder: {error}") from None
    # The file is in the tree, where anybody may have written it; the folder must agree.
    if back != pointer or own.parent != common / "worktrees" or common.is_relative_to(tree):
        raise NoSandbox(f"{pointer} names a git folder that does not know this work tree")
    _prepare(common, own)
    return common, own


def _told(path: Path) -> str:
    return path.read_text("utf-8").strip()


def _prepare(common: Path, own: Path) -> None:
    """What is to be kept from being made must be there, or it cannot be covered."""
    for folder in (*(common / name for name in _COMMON_WRITABLE), common / "objects/info"):
        folder.mkdir(exist_ok=True)
    (own / "modules").mkdir(exist_ok=True)
    (own / "config.worktree").touch(exist_ok=True)
