"""How work with a workspace fails. Each message is a whole sentence that can be shown as it is.

WorkspaceError
├── GitError
│   ├── GitMissing      there is no git on this machine
│   ├── GitTimedOut     it did not answer in time and was ended
│   ├── GitFailed       it said no; command, code and the first lines of what it said
│   └── TooMuch         it said more than we are willing to hold
├── NotARepository      names the fix
├── NoCommitYet         names the fix
├── FolderMissing       the workspace is not there at all
├── Misled              the folder is there but leads to another repository
├── WouldLose           names what would be lost
├── Occupied            something is where the work tree should be
├── NoSnapshot          there is nothing to go back to
└── CannotApply         a dirty tree, a conflict, nothing to bring; both sides are as they were
"""

from collections.abc import Sequence

SHOWN = 10  # names in a message
STDERR_LINES = 5


class WorkspaceError(Exception):
    def __str__(self) -> str:
        """A path may hold bytes that are no text; what is journaled and shown must be valid."""
        return super().__str__().encode("utf-8", "replace").decode()


class GitError(WorkspaceError):
    pass


class GitMissing(GitError):
    pass


class GitTimedOut(GitError):
    pass


class TooMuch(GitError):
    pass


class GitFailed(GitError):
    def __init__(self, command: str, code: int, stderr: str) -> None:
        said = "\n".join(stderr.strip().splitlines()[:STDERR_LINES]) or "it said nothing"
        super().__init__(f"git {command} failed with code {code}: {said}")
        self.command, self.code, self.stderr = command, code, stderr


class NotARepository(WorkspaceError):
    pass


class NoCommitYet(WorkspaceError):
    pass


class FolderMissing(WorkspaceError):
    pass


class Misled(WorkspaceError):
    pass


class Occupied(WorkspaceError):
    pass


class NoSnapshot(WorkspaceError):
    pass


class WouldLose(WorkspaceError):
    def __init__(self, why: str, names: Sequence[str] = ()) -> None:
        super().__init__(_with_names(why, names))
        self.names = tuple(names)


class CannotApply(WorkspaceError):
    def __init__(self, why: str, names: Sequence[str] = ()) -> None:
        super().__init__(_with_names(why, names))
        self.names = tuple(names)


def _with_names(why: str, names: Sequence[str]) -> str:
    if not names:
        return why
    more = f" (and {len(names) - SHOWN} more)" if len(names) > SHOWN else ""
    return f"{why}: {', '.join(names[:SHOWN])}{more}"
