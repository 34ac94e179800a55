"""Lays out the tools of a session: its open work tree, its git, its sandbox, its processes."""

from collections.abc import Callable, Iterable
from pathlib import Path

from holdfast.agents.builtin import probe as probing
from holdfast.agents.builtin.files import Tree
from holdfast.agents.builtin.sandbox import NoSandbox, Sandbox, available, sandbox_for
from holdfast.agents.builtin.seam import Toolbox
from holdfast.agents.builtin.shell_runtime import Runtime
from holdfast.agents.builtin.tools import registry
from holdfast.agents.builtin.tools_box import Box
from holdfast.agents.builtin.tools_kind import Context, Git, Tool
from holdfast.agents.builtin.tools_talk import CODERS, NOT_CODERS
from holdfast.core.resume import Probe
from holdfast.core.session import Call, Session
from holdfast.core.truth import Workspace


class Workbench:
    def __init__(
        self,
        *,
        runtime: Callable[[str], Runtime],
        git: Callable[[Workspace], Git],
        state: Path,
        home: Path,
        network: bool = False,
        folders: Iterable[str] = (),
        tools: Iterable[Tool] = (),
    ) -> None:
        self._runtime, self._git = runtime, git
        self._state, self._home = state, home
        self._network, self._folders = network, tuple(folders)
        self._tools = registry() | {own.name: own for own in tools}
        self._coders = {n: t for n, t in self._tools.items() if n not in NOT_CODERS}
        self._coders |= {own.name: own for own in CODERS}
        self.no_sandbox: str | None = "it was not tried yet"

    async def prepare(self) -> None:
        """Tries once whether commands can be put into a sandbox here."""
        self.no_sandbox = await available(self._runtime("sandbox:try"))

    def toolbox(self, session: Session) -> Toolbox:
        return Box(self._tools, self._context(session), mode=session.mode)

    def coders(self, session: Session) -> Toolbox:
        """The tools of its coder."""
        return Box(self._coders, self._context(session), mode=session.mode)

    async def probe(self, session: Session, call: Call) -> Probe:
        with Tree(Path(session.workspace.path)) as tree:
            git = self._git(session.workspace) if session.workspace.git else None
            return await probing.probe(call, tree, git, tools=self._tools)

    def _context(self, session: Session) -> Context:
        launch = session.launch.number if session.launch else 0
        return Context(
            tree=Tree(Path(session.workspace.path)),
            git=self._git(session.workspace) if session.workspace.git else None,
            runtime=self._runtime(f"{session.id}:{launch}"),
            sandbox=self._sandbox(session),
        )

    def _sandbox(self, session: Session) -> Sandbox | None:
        """None in mode `full`, and where there is none: then commands are asked about."""
        if session.mode == "full" or self.no_sandbox is not None:
            return None
        try:
            return sandbox_for(
                Path(session.workspace.path),
                home=self._home,
                tools=self._folders,
                state=self._state,
                network=self._network,
            )
        except NoSandbox:
            return None
