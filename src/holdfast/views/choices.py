"""What a session may be made of, for whoever is about to make one: agents, models, folders."""

from typing import Literal

from holdfast.core.value import Value


class AgentOut(Value, omit_defaults=False):
    """`logged_in` None: nobody can tell without trying."""

    name: str
    title: str
    installed: bool
    version: str  # empty: it has not been asked yet
    ways: tuple[str, ...]  # how it can be run here, best first
    modes: tuple[str, ...]
    models: tuple[str, ...]  # a few that are known by name; others may be typed
    logged_in: bool | None
    hint: str  # what to do where it cannot work as it is


class AgentsOut(Value, omit_defaults=False):
    agents: tuple[AgentOut, ...]
    usual: str  # the one that is taken where none is named


class ModelsOut(Value, omit_defaults=False):
    models: tuple[str, ...]


FolderState = Literal["ready", "missing", "no_git", "no_commit", "trouble"]


class FolderOut(Value, omit_defaults=False):
    """A folder that a session might work in. `says` is one sentence where it is not `ready`."""

    path: str  # whole
    state: FolderState
    branch: str
    uncommitted: int  # changes of the user's that are not in a work tree of its own
    says: str
