"""A question that an agent shows on its screen: journaled once, answered with keys, and no question any more
when it is gone from there.
"""

from holdfast.agents.terminal.manner import Manner
from holdfast.agents.terminal.screen import lowest
from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.ids import DecisionId, LaunchNumber
from holdfast.core.session import GRANTS, PERMISSION, Decision

SHOWN = 1200  # characters
FRAME = "╭╮╰╯│─━┃▏▕┌┐└┘├┤ "


class Asking:
    """`place`, in what the agent wrote, makes the same question the same for whoever listens next."""

    def __init__(self, name: str, launch: LaunchNumber, manner: Manner) -> None:
        self._name, self._launch, self._manner = name, launch, manner
        self.pending: DecisionId | None = None
        self.seen = False  # on the screen, since it was asked

    def ask(self, said: str, screen: str, place: str) -> list[i.Reportable]:
        id = DecisionId(f"{self._name}-{place}")
        rows = [row.strip(FRAME) for row in lowest(screen)]
        text = "\n".join([said, *(row for row in rows if row)])[:SHOWN]
        asked = Decision(
            id=id, kind=PERMISSION, text=text, options=("yes", "no"), launch=self._launch
        )
        self.pending, self.seen = id, False
        return [e.DecisionAsked(decision=asked)]

    def gone(self, why: str) -> list[i.Reportable]:
        id, self.pending = self.pending, None
        return [e.DecisionDismissed(decision=id, why=why)] if id is not None else []

    def keys(self, decision: DecisionId, answer: str) -> tuple[str, ...]:
        """What to press; empty: nobody asks that any more."""
        if decision != self.pending:
            return ()
        self.pending = None
        return self._manner.grant if answer in GRANTS else self._manner.deny
