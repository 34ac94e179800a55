"""The composition root: the only module that names concrete adapters.

`System` is Holdfast without its front door. The daemon puts sockets before it, the library uses it
as it is; both take the same leases on the same store.
"""

import asyncio
import contextlib
import logging
import os
from collections.abc import Mapping
from pathlib import Path

from holdfast.agents.acp.agents import AcpAgents
from holdfast.agents.acp.profile import AcpProfile, McpServer, Waits
from holdfast.agents.builtin.agents import BuiltinAgents
from holdfast.agents.builtin.model import Model
from holdfast.agents.builtin.models import Models
from holdfast.agents.builtin.providers.keys import FILE as KEY_FILE
from holdfast.agents.builtin.providers.keys import Keys
from holdfast.agents.builtin.toolbox import Workbench
from holdfast.agents.builtin.tools_kind import Context, Tool, ToolResult
from holdfast.agents.choices import Choices
from holdfast.agents.comeback import Comeback
from holdfast.agents.oneshot.agents import OneshotAgents
from holdfast.agents.profiles.environment import environment
from holdfast.agents.profiles.installed import Installed
from holdfast.agents.profiles.load import Profiles
from holdfast.agents.registry import Registry
from holdfast.agents.route import RoutedAgents, Way
from holdfast.agents.terminal.agents import TerminalAgents
from holdfast.agents.transcripts.shelf import Shelf
from holdfast.config import BadConfig, Config, without_password
from holdfast.core import inputs as i
from holdfast.core.ids import SessionId
from holdfast.core.session import Session
from holdfast.engine import memory
from holdfast.engine.clock import SystemClock
from holdfast.engine.elsewhere import listen
from holdfast.engine.engine import Engine
from holdfast.engine.outbox import Outbox
from holdfast.engine.recovery import Found, Mender, recover, watch
from holdfast.engine.secrets import Secrets
from holdfast.engine.trash import keep_emptying
from holdfast.journal.owner import this_owner
from holdfast.journal.sqlite import SqliteJournal
from holdfast.notify.log import LogNotifier
from holdfast.opening import Opening
from holdfast.ports import Clock, Journal, JournalError
from holdfast.runtimes import piped
from holdfast.runtimes.local import LocalRuntime, sweep
from holdfast.runtimes.tmux import Tmux
from holdfast.workspaces import shadow
from holdfast.workspaces.adapter import GitWorkspaces
from holdfast.workspaces.fresh import make_repository
from holdfast.workspaces.harvest import GitWork
from holdfast.workspaces.session_git import SessionGit

LOG = logging.getLogger(__name__)
LAST_DEBTS = 5.0  # seconds: what is still owed then is paid by whoever comes next

__all__ = ["Context", "System", "Tool", "ToolResult", "make_repository"]


class System:
    def __init__(
        self,
        home: Path,
        config: Config,
        *,
        tools: tuple[Tool, ...] = (),
        clock: Clock | None = None,
    ) -> None:
        clock = clock or SystemClock()
        self._home, self._config = home, config
        self.store = without_password(str(config.get("store") or home / "journal.db"))
        self._journal = _journal(home, config)
        self._lent: dict[SessionId, dict[str, str]] = {}
        self.secrets = Secrets(os.environ)
        self._keys = Keys(config.file.with_name(KEY_FILE))
        self._models = Models(self._keys, clock.now)
        self._bench = _workbench(home, config, tools)
        self._workspaces = GitWorkspaces(self._submit, clock, state=home)
        profiles = Profiles(config.agents, str(config.file))
        ways = self._ways(profiles, clock)
        self._agents = RoutedAgents(ways)
        self.registry = _registry(profiles, home, ways)
        self.choices = Choices(self.registry, profiles, self._models, config)
        self.work = GitWork()
        self.records = Shelf(profiles, home)
        self.engine = Engine(
            journal=self._journal,
            clock=clock,
            agents=self._agents,
            workspaces=self._workspaces,
            owner=this_owner(),
            secrets=self.secrets.of,
        )
        self.opening = self._opening()
        self._agents.submit = self.engine.submit
        self._outbox = Outbox(self.engine, LogNotifier())
        self._mender = Mender(self.engine)
        self._watching: list[asyncio.Task[None]] = []

    def _opening(self) -> Opening:
        return Opening(
            home=self._home,
            config=self._config,
            engine=self.engine,
            registry=self.registry,
            models=self._models,
            records=self.records,
            secrets=self.secrets,
            lend=self.lend,
        )

    def _ways(self, profiles: Profiles, clock: Clock) -> dict[str, Way]:
        return {
            "builtin": self._builtin(clock),
            "acp": self._acp(profiles, clock),
            "oneshot": self._oneshot(profiles, clock),
            "terminal": self._terminal(profiles, clock),
        }

    def _acp(self, profiles: Profiles, clock: Clock) -> AcpAgents:
        def profile(session: Session) -> AcpProfile | None:
            known = profiles.get(session.agent)
            if known is None or known.acp is None:
                return None
            environ = environment(known, os.environ, self._lent_to(session.id))
            return AcpProfile(
                command=known.acp.command,
                environ={**environ, **known.acp.mode_env.get(session.mode, {})},
                modes=known.acp.modes,
                install=known.install,
                login=known.login,
                unnamed=known.acp.unnamed,
                note=known.acp.note,
                failed=known.acp.failed,
                fork_at=known.acp.fork_at,
                quirks=frozenset(quirk.name for quirk in known.quirks),
            )

        return AcpAgents(
            journal=self._journal,
            clock=clock,
            profiles=profile,
            start=piped.start,
            end_of=piped.end_of,
            servers=tuple(
                McpServer(name=s.name, command=s.command[0], args=s.command[1:], env=s.env)
                for s in self._config.servers
            ),
            waits=Waits(quiet=float(self._config.get("quiet_after"))),
        )

    def _oneshot(self, profiles: Profiles, clock: Clock) -> OneshotAgents:
        return OneshotAgents(
            profiles=profiles,
            comeback=Comeback(self._journal, self._lent_to),
            clock=clock,
            runtime=piped,
            quiet=float(self._config.get("quiet_after")),
        )

    def _terminal(self, profiles: Profiles, clock: Clock) -> TerminalAgents:
        return TerminalAgents(
            profiles=profiles,
            comeback=Comeback(self._journal, self._lent_to),
            clock=clock,
            terminals=Tmux(self._home),
            folder=self._home / "terminal",
        )

    def _builtin(self, clock: Clock) -> BuiltinAgents:
        return BuiltinAgents(
            journal=self._journal,
            clock=clock,
            models=self._model,
            toolbox=self._bench.toolbox,
            coders=self._bench.coders,
            prober=self._bench.probe,
            sweep=sweep,
            secrets=self.secrets.of,
            window=int(self._config.get("context_window")),
            keep=self._workspaces.keep,
        )

    async def start(self) -> Found:
        memory.tune()
        await asyncio.gather(
            asyncio.to_thread(shadow.sweep, now=self.engine.clock.now() / 1000),
            self._journal.open(),
            self._bench.prepare(),
        )
        self._outbox.start()
        found = await recover(self.engine, self._outbox)
        self._watching = [
            asyncio.create_task(watch(self.engine, self._outbox)),
            asyncio.create_task(listen(self.engine)),
            asyncio.create_task(keep_emptying(self.engine, int(self._config.get("trash_days")))),
        ]
        return found

    async def stop(self) -> None:
        """In order: what dies with us is written down as interrupted, then it is let go."""
        for task in self._watching:
            task.cancel()
        for id, live in list(self.engine.sessions.items()):
            outlives = self._agents.abilities(live.session).survives_daemon
            if live.lease is not None and not outlives:
                with contextlib.suppress(JournalError):
                    await self.engine.submit(id, i.OwnerLost(stopping=True))
        await self._agents.stop()
        await self.choices.stop()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._outbox.idle(), LAST_DEBTS)
        await self._models.close()
        await self._workspaces.close()
        await self._mender.stop()
        await self._outbox.stop()
        await self.engine.leave()
        await self._journal.close()

    # --- keys of the user's own environment --------------------------------------------------------

    def lend(self, session: SessionId, environ: Mapping[str, str]) -> None:
        if environ:
            self._lent[session] = dict(environ)
            self.secrets.lent(session, environ)

    def _lent_to(self, session: SessionId) -> Mapping[str, str]:
        return self._lent.get(session, {})

    def _model(self, session: Session) -> Model:
        with contextlib.suppress(BadConfig):  # said by the model itself, if it needs a key
            self.secrets.lent(session.id, self._keys.in_file())
        return self._models.model(session.model, self._lent.get(session.id, {}))

    async def _submit(self, id: SessionId, given: i.Input) -> object:
        return await self.engine.submit(id, given)


def _workbench(home: Path, config: Config, tools: tuple[Tool, ...]) -> Workbench:
    return Workbench(
        runtime=LocalRuntime,
        git=SessionGit,
        state=home,
        home=Path.home(),
        network=bool(config.get("sandbox.network")),
        folders=config.get("sandbox.tools"),
        tools=tools,
    )


def _journal(home: Path, config: Config) -> Journal:
    store = config.get("store")
    if not store:
        return SqliteJournal(home / "journal.db")
    from holdfast.journal.postgres import PostgresJournal  # noqa: PLC0415  a quarter of a second

    return PostgresJournal(str(store))


def _registry(profiles: Profiles, home: Path, ways: Mapping[str, Way]) -> Registry:
    installed = Installed(profiles, LocalRuntime("probe").run, home / "agents.json")
    return Registry(profiles, installed, frozenset(ways))
