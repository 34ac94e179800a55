"""How a session comes to be: which agent runs it in which way, with which model, where, within what.

Whatever cannot be is said before anything is made (`Unfit`).
"""

import asyncio
import contextlib
import re
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from weakref import WeakValueDictionary

from holdfast.agents.builtin.models import Models
from holdfast.agents.registry import Registry
from holdfast.config import BadConfig, Config
from holdfast.core import inputs as i
from holdfast.core.budget import Limits
from holdfast.core.errors import Refused
from holdfast.core.ids import SessionId, Token
from holdfast.core.modes import MODES
from holdfast.core.redact import redact_text
from holdfast.core.session import Session
from holdfast.core.truth import Workspace
from holdfast.core.value import replace
from holdfast.engine.engine import Engine
from holdfast.engine.secrets import Secrets
from holdfast.ports import Record, Records
from holdfast.server.desk import Opened, Unfit
from holdfast.wire import LimitsIn, NewSession, ResumeIn
from holdfast.workspaces import worktree
from holdfast.workspaces.errors import NoCommitYet, NotARepository, WorkspaceError

ID = re.compile(r"[0-9a-f]{12}")
Lend = Callable[[SessionId, Mapping[str, str]], None]


class Opening:
    def __init__(
        self,
        *,
        home: Path,
        config: Config,
        engine: Engine,
        registry: Registry,
        models: Models,
        records: Records,
        secrets: Secrets,
        lend: Lend,
    ) -> None:
        self._home, self._config, self._engine = home, config, engine
        self._registry, self._models, self._records = registry, models, records
        self._secrets, self._lend = secrets, lend
        self._doors: WeakValueDictionary[SessionId, asyncio.Lock] = WeakValueDictionary()

    async def create(self, wanted: NewSession) -> Opened:
        """A second time with the same id is no second session."""
        if wanted.id is None:
            return await self._create(wanted, SessionId(secrets.token_hex(6)))
        if not ID.fullmatch(wanted.id):
            raise Unfit(f"{wanted.id!r} is no id for a session: 12 hex digits, or none at all.")
        id = SessionId(wanted.id)
        async with self._doors.setdefault(id, asyncio.Lock()):
            known = await self._engine.journal.find(id)
            return Opened(id=id) if known else await self._create(wanted, id)

    async def _create(self, wanted: NewSession, id: SessionId) -> Opened:
        agent = wanted.agent or str(self._config.get("agent"))
        mode = wanted.mode or str(self._config.get("mode"))
        _check_mode(mode)
        via, model = await self._way(agent, mode, wanted)
        self._lend(id, wanted.environ)  # first: what it holds must not even name a branch
        title = wanted.title or _title(wanted.prompt or "")
        title = redact_text(title, secrets=self._secrets.of(id))
        workspace, notes = await self._workspace(wanted, id, title)
        opened = i.OpenSession(
            agent=agent,
            via=via,
            model=model,
            mode=mode,
            title=title,
            workspace=workspace,
            limits=self._limits(wanted.limits, via),
            cap=self._cap(wanted.limits),
            task=wanted.task,
        )
        await self._engine.submit(id, opened)
        return Opened(id=id, notes=notes)

    def _cap(self, given: LimitsIn) -> Limits | None:
        names = ("session_budget_usd", "session_budget_tokens")
        usual = LimitsIn(**{name: self._config.get(name) for name in names})
        return given.cap() or usual.cap()

    def _limits(self, given: LimitsIn, via: str) -> Limits:
        """The usual limit of tool calls is the built-in agent's: nobody chose it for another."""
        usual = self._config.source("max_tool_calls") == "default"
        if via != "builtin" and usual and given.max_tool_calls is None:
            given = replace(given, max_tool_calls=0)
        return given.over(self._config.get)

    def way(self, agent: str, mode: str, via: str | None = None) -> str:
        try:
            return self._registry.way(agent, wanted=via, mode=mode)
        except Refused as refused:
            raise Unfit(refused.why, refused.hint) from refused

    async def adopt(self, record: Record, *, fork: bool = False) -> tuple[SessionId, int]:
        try:
            place = await _in_place(Path(record.folder or "unknown"))
        except WorkspaceError as error:
            raise Unfit(f"Its folder cannot be used: {error}") from error
        turns, torn = await self._records.turns(record)
        if not turns:
            raise Unfit(f"There is nothing to read in {record.path}.")
        id, mode, theirs = SessionId(secrets.token_hex(6)), str(self._config.get("mode")), record.id
        via = ""
        with contextlib.suppress(Unfit):  # it can be read without; said when it is to go on
            via = self.way(record.agent, mode)
        opened = i.OpenSession(
            agent=record.agent,
            via=via,
            title=_title(record.title),
            mode=mode,
            workspace=place,
            limits=self._limits(LimitsIn(), via),
            fork_of=Token(theirs) if fork else None,
        )
        token = None if fork else Token(theirs)
        taken = i.AdoptConversation(opened=opened, token=token, turns=tuple(turns))
        await self._engine.submit(id, taken)
        return id, torn

    async def _way(self, agent: str, mode: str, wanted: NewSession) -> tuple[str, str]:
        """How it is run, and with which model: a foreign agent has a default of its own."""
        via = self.way(agent, mode, wanted.via)
        if via != "builtin":
            return via, wanted.model or ""
        return via, await self._fitting_model(wanted.model or "", wanted.environ)

    async def told_otherwise(self, session: Session, given: ResumeIn) -> i.ConfigureSession | None:
        """Another agent, model or mode, where one was named; None: as it was (SPEC A8, E14)."""
        if not session.opened:
            return None
        agent, mode = given.agent or session.agent, given.mode or session.mode
        stays = agent == session.agent
        _check_mode(mode)
        via = session.via if stays else ""
        if not via or mode != session.mode:
            via = self.way(agent, mode, via or None)
        model = given.model or (session.model if stays else "")
        if via == "builtin" and model != session.model:
            model = await self._fitting_model(model, given.environ)
        changed = (agent, via, model, mode) != (
            session.agent, session.via, session.model, session.mode,
        )  # fmt: skip
        told = i.ConfigureSession(agent=agent, via=via, model=model, mode=mode)
        return told if changed else None

    async def open_here(self, wanted: NewSession, id: SessionId, limits: Limits) -> None:
        """A session that works in place, for the library. One that is there learns what is wished
        for now, where something is."""
        known = await self._engine.session(id)
        if known.opened:
            asked = ResumeIn(model=wanted.model, mode=wanted.mode, environ=wanted.environ)
            told = await self.told_otherwise(known, asked)
            if told is not None:
                await self._engine.submit(id, told)
            return
        opened = i.OpenSession(
            agent="builtin",
            via="builtin",
            model=await self._fitting_model(wanted.model or "", wanted.environ),
            mode=wanted.mode or str(self._config.get("mode")),
            workspace=await _in_place(Path(wanted.folder)),
            title=wanted.title or "",
            limits=limits,
        )
        await self._engine.submit(id, opened)

    async def _fitting_model(self, wanted: str, lent: Mapping[str, str]) -> str:
        """What was asked for, else what is configured, else what there is a key for (SPEC B13)."""
        try:
            model = wanted or str(self._config.get("model")) or self._models.default(lent)
            problem = self._models.problem(model) or await self._models.misspelt(model, lent)
        except BadConfig as error:
            raise Unfit(str(error)) from error
        if problem:
            raise Unfit(problem, "Give one with --model provider:model or scripted:FILE.")
        return model

    async def _workspace(
        self, wanted: NewSession, id: SessionId, title: str
    ) -> tuple[Workspace, tuple[str, ...]]:
        folder = Path(wanted.folder)
        try:
            if wanted.here or not wanted.git:
                await self.check_free(wanted.folder)
                return await worktree.in_place(folder, git=wanted.git), ()
            repo = await worktree.find_repo(folder)
            made = await worktree.create(
                repo, state=self._home, session=id, title=title, with_changes=wanted.with_changes
            )
        except WorkspaceError as error:
            raise Unfit(str(error)) from error
        return made.workspace, made.notes

    async def check_free(self, folder: str, *, but: SessionId | None = None) -> None:
        """One active run per folder."""
        live = await self._engine.journal.live()
        active = {
            r.session: r.summary.workspace for r in live if r.summary.run and r.session != but
        }
        taken = worktree.claim_folder(folder, active)
        if taken is not None:
            raise Unfit(f"Session {taken} is at work in {folder}.", f"hold stop {taken[:4]}")


def _check_mode(mode: str) -> None:
    if mode not in MODES:
        raise Unfit(f"There is no mode {mode!r}.", f"Known: {', '.join(MODES)}.")


async def _in_place(folder: Path) -> Workspace:
    try:
        return await worktree.in_place(folder)
    except (NotARepository, NoCommitYet):
        return await worktree.in_place(folder, git=False)


def _title(prompt: str) -> str:
    line = prompt.strip().splitlines()[0] if prompt.strip() else "session"
    return line[:80]
