"""A world that remembers what was done to it, and a workspace that always answers.

The ledger is a file: it outlives a killed process, and each line is one write, so it is whole.
"""

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.effects import TakeSnapshot
from holdfast.core.ids import CallId, Millis, RoundNumber, SessionId
from holdfast.core.resume import Probe
from holdfast.core.session import Call, Session
from holdfast.core.truth import Lost, NoTruth, Truth, Workspace
from holdfast.ports import Errand
from holdfast.testing.agent import Submit

Boundary = Callable[[str], None]


def nowhere(_name: str) -> None:
    """A boundary at which nothing happens."""


class FileWorld:
    """Effects of calls, appended to a ledger. Also the workspaces and the person to be told."""

    def __init__(self, folder: Path, boundary: Boundary = nowhere) -> None:
        self.folder, self._boundary = folder, boundary
        self.submit: Submit  # given by whoever builds the engine

    async def effect(self, session: SessionId, call: CallId, attempt: int) -> None:
        self._boundary("effect:before")
        self._append("ledger", f"{session} {call} {attempt}")
        self._boundary("effect:after")

    def done(self) -> Counter[tuple[str, str, int]]:
        lines = (line.split() for line in self._lines("ledger"))
        return Counter((session, call, int(attempt)) for session, call, attempt in lines)

    def told(self) -> set[str]:
        """Errands of which a person was told."""
        return set(self._lines("told"))

    # --- workspaces -----------------------------------------------------------------------------

    async def truth(self, session: Session) -> Truth | NoTruth:
        return Truth(head="a" * 40, branch="main")

    async def lost(self, session: Session) -> Lost | None:
        """`lose` took it away; `lose(cannot)` for good."""
        gone = self.folder / f"lost-{session.id}"
        if not gone.exists():
            return None
        cannot = gone.read_text()
        return Lost(
            path=session.workspace.path, source="" if cannot else "a snapshot", cannot=cannot
        )

    def lose(self, session: SessionId, cannot: str = "") -> None:
        (self.folder / f"lost-{session}").write_text(cannot)

    async def probe(self, session: Session, calls: Sequence[Call]) -> Mapping[CallId, Probe]:
        happened = {call for (owner, call, _) in self.done() if owner == session.id}
        return {c.id: Probe.DONE if c.id in happened else Probe.NOT_DONE for c in calls}

    async def snapshot(self, errand: Errand, session: Session) -> None:
        effect = errand.effect
        assert isinstance(effect, TakeSnapshot)
        self._boundary("snapshot:before")
        taken = e.WorkspaceSnapshotted(number=effect.number, commit="b" * 40)
        await self.submit(session.id, i.Heard(events=(taken,)))

    async def keep(self, session: Session, *, since: Millis | None) -> None:
        self._boundary("keep:before")

    async def rewind(self, errand: Errand, session: Session) -> None:
        self._append("rewound", errand.id)

    async def fork(
        self, session: Session, child: SessionId, *, rounds: Sequence[RoundNumber], tip: bool
    ) -> Workspace:
        return Workspace(id=child, path=f"/{child}", git=False)

    async def losses(self, session: Session) -> tuple[str, ...]:
        return ()

    async def remove(self, errand: Errand, session: Session) -> None:
        self._append("removed", errand.id)

    async def bring_back(self, errand: Errand, session: Session) -> None:
        self._boundary("bring_back:before")
        gone = self.folder / f"lost-{session.id}"
        self._append("brought-back", errand.id)
        if not (session.workspace_lost or gone.exists()):
            return
        told: i.Reportable = e.WorkspaceRebuilt(workspace=session.workspace)
        if gone.exists() and gone.read_text():
            told = e.WorkspaceLost(why=gone.read_text(), given_up=True)
        else:
            gone.unlink(missing_ok=True)
        self._boundary("bring_back:after")
        await self.submit(session.id, i.Heard(events=(told,)))

    async def discard(self, errand: Errand, session: Session) -> None:
        self._boundary("discard:before")
        self._append("discarded", errand.id)

    async def tell(self, errand: Errand, session: Session) -> None:
        self._append("told", errand.id)

    def _append(self, name: str, line: str) -> None:
        file = os.open(self.folder / name, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(file, f"{line}\n".encode())
        finally:
            os.close(file)

    def _lines(self, name: str) -> list[str]:
        path = self.folder / name
        return path.read_text().splitlines() if path.exists() else []
