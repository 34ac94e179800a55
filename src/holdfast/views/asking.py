"""A question to a person, in words that can be read at a glance.

A question about a call names it: then the call itself is shown, as a command, a file or a change. One
whose words do not name it (a coder's own call, inside of another one) is shown by its words alone.
"""

from holdfast.core.session import PERMISSION, Call, Decision
from holdfast.views.timeline import title

MAY_IT: dict[str, str] = {
    "shell": "Run this command?",
    "write": "Write this file?",
    "edit": "Change this file?",
    "apply_patchset": "Make these changes?",
    "git_commit": "Commit this?",
    "delegate": "Hand this to a coder?",
}
LONGEST = 200  # characters of a line


def names(asked: Decision, tool: str) -> bool:
    """Whether the question is about that tool's call, and about nothing inside of it."""
    begins = (f"Use {tool}", tool, *(("Run:",) if tool == "shell" else ()))
    return asked.kind == PERMISSION and bool(tool) and asked.text.startswith(begins)


def may_it(tool: str) -> str:
    return MAY_IT.get(tool) or f"Allow this: {tool}?"


def besides(asked: Decision) -> str:
    """What the question says after its first line."""
    return asked.text.partition("\n")[2]


def short(asked: Decision, call: Call | None) -> str:
    """One line, for a list, a notification, or somebody who listens."""
    if call is not None and names(asked, call.name):
        return f"Allow {title(call)}?"
    return asked.text.partition("\n")[0][:LONGEST]
