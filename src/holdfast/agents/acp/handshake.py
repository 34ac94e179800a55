"""How an agent comes up: who it is, its conversation, its mode and its model, before anything is said.

Rule 1: the plan says how the conversation comes back. An agent that cannot do that, though it can the
        other, does the other; one that can do neither starts afresh, visibly (SPEC E3).
Rule 2: only the agent itself can say that it does not know a conversation (`Unknown`). A silence, a dead
        process or a lock is no such word, and the token stays (SPEC E6).
Rule 3: mode and model are set every time: it has forgotten them (SPEC E9).
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from holdfast.agents.acp.profile import AcpProfile, McpServer, filled
from holdfast.agents.acp.transport import Connection, RpcFailed
from holdfast.agents.acp.updates import (
    ConfigOption,
    ConfigValue,
    Initialized,
    SessionAnswer,
    decoded,
    present,
)
from holdfast.core import modes
from holdfast.core.agent_errors import Refusal, classify, refusal
from holdfast.core.ids import Millis, Token
from holdfast.core.plan import Abilities, Plan, Strategy
from holdfast.core.session import ErrorClass, Session

VERSION = 1
FORK = "session/fork"
CLIENT = {
    # Agents have tools of their own; ours would be one more way to the user's files.
    "fs": {"readTextFile": False, "writeTextFile": False},
    "terminal": False,
}


class Unfit(Exception):
    """It came up, and cannot be used. One sentence for the user."""

    def __init__(self, error: ErrorClass, message: str) -> None:
        super().__init__(message)
        self.error, self.message = error, message


class Unknown(Exception):
    """The agent does not know the conversation."""


class Handshake:
    def __init__(
        self,
        connection: Connection,
        session: Session,
        profile: AcpProfile,
        servers: Sequence[McpServer],
        *,
        limit: float,
    ) -> None:
        self._connection, self._session, self._profile = connection, session, profile
        self._limit = limit
        self._place = {
            "cwd": session.workspace.path,
            "mcpServers": [server.params() for server in servers],
        }
        self._notes: list[str] = []
        self._lists = False
        self.came_back = ""  # by which method

    async def initialize(self) -> Abilities:
        params = {
            "protocolVersion": VERSION,
            "clientCapabilities": CLIENT,
            "clientInfo": {"name": "holdfast", "title": "Holdfast", "version": "1"},
        }
        said = decoded(await self._ask("initialize", params), Initialized) or Initialized()
        if said.protocol_version != VERSION:
            spoken = f"version {said.protocol_version} of the protocol; Holdfast speaks {VERSION}"
            raise Unfit(
                ErrorClass.UNKNOWN, f"The agent speaks {spoken}. Another version of it is needed."
            )
        able = said.agent_capabilities
        of_sessions = able.session_capabilities if able else None
        self._lists = of_sessions is not None and present(of_sessions.list)
        forks = of_sessions is not None and present(of_sessions.fork)
        return Abilities(
            acp_resume=of_sessions is not None and present(of_sessions.resume),
            acp_load=able is not None and able.load_session,
            forks=forks,
            forks_at=forks and bool(self._profile.fork_at),
            inject=True,
        )

    async def conversation(self, plan: Plan, able: Abilities) -> tuple[Token, SessionAnswer]:
        ways = self._ways(plan, able)
        if plan.token is not None and plan.strategy in OWN and not ways:
            cannot = "fork a conversation" if plan.fork else "bring its conversation back"
            cannot += " from an earlier message" if plan.at else ""
            self._notes.append(f"The agent cannot {cannot}: it starts afresh.")
        for n, way in enumerate(ways, 1):
            assert plan.token is not None
            found = await self._come_back(way, plan, plan.token, last=n == len(ways))
            if found is not None:
                self.came_back = way
                if plan.fork and found.session_id in (None, plan.token):
                    raise Unfit(ErrorClass.UNKNOWN, f"The agent did not fork {plan.token}.")
                return Token(found.session_id or plan.token), found
        answer = decoded(await self._ask("session/new", self._place), SessionAnswer)
        if answer is None or not answer.session_id:
            raise Unfit(ErrorClass.UNKNOWN, "The agent did not name its conversation.")
        return Token(answer.session_id), answer

    def _ways(self, plan: Plan, able: Abilities) -> list[str]:
        if plan.token is None or plan.strategy not in OWN:
            return []
        if plan.fork:
            return [FORK] if (able.forks_at if plan.at else able.forks) else []
        ways = [("session/resume", able.acp_resume), ("session/load", able.acp_load)]
        if plan.strategy is Strategy.ACP_LOAD:
            ways.reverse()
        return [way for way, can in ways if can]

    async def _come_back(
        self, way: str, plan: Plan, token: Token, *, last: bool
    ) -> SessionAnswer | None:
        """None: it cannot do that after all."""
        params: dict[str, object] = {"sessionId": token, **self._place}
        if plan.at is not None:
            params["_meta"] = filled(self._profile.fork_at, plan.at)
        try:
            raw = await self._ask(way, params)
        except RpcFailed as failed:
            match refusal(failed.code, str(failed)):
                case Refusal.NOT_FOUND:
                    raise Unknown(str(failed)) from failed
                case Refusal.UNSUPPORTED:
                    self._notes.append(f"The agent does not do {way} after all.")
                    return None
                case Refusal.OTHER if await self._missing(token):
                    raise Unknown(str(failed)) from failed
                case Refusal.OTHER if not last:
                    return None
                case _:
                    raise
        return decoded(raw, SessionAnswer) or SessionAnswer()

    async def _missing(self, token: Token) -> bool:
        """Whether the agent's own list says that it does not have it."""
        if not self._lists:
            return False
        try:
            raw = await self._ask("session/list", {"cwd": self._session.workspace.path})
        except RpcFailed:
            return False
        return f'"{token}"'.encode() not in bytes(raw)

    # --- mode and model -------------------------------------------------------------------------------

    async def configure(self, token: Token, answer: SessionAnswer) -> tuple[str, ...]:
        """What a person should know about it."""
        await self._mode(token, answer)
        if self._session.model:
            await self._model(token, answer, self._session.model)
        return tuple(self._notes)

    async def _mode(self, token: Token, answer: SessionAnswer) -> None:
        wanted = self._session.mode
        option = _option(answer, "mode")
        if answer.modes is not None:
            offered = [mode.id for mode in answer.modes.available_modes]
            now = answer.modes.current_mode_id
        else:
            offered = _values(option) if option else []
            now = str(option.current_value) if option else ""
        found = modes.choose_mode(wanted, offered, self._profile.modes)
        if isinstance(found, modes.NoMode):
            raise Unfit(ErrorClass.UNKNOWN, found.why)
        if found.note:
            self._notes.append(found.note)
        if found.mode is None or found.mode == now:
            return
        try:
            if answer.modes is not None:
                await self._set("session/set_mode", token, modeId=found.mode)
            elif option is not None:
                await self._option(token, option, found.mode)
        except RpcFailed as failed:
            if wanted in modes.RESTRICTIVE:
                why = f"The agent could not be put into mode {wanted!r} again, so it gets no prompt"
                raise Unfit(ErrorClass.UNKNOWN, f"{why}: {failed}") from failed
            self._notes.append(f"The agent could not be put into mode {wanted!r}: {failed}")

    async def _model(self, token: Token, answer: SessionAnswer, wanted: str) -> None:
        option, models = _option(answer, "model"), answer.models
        offered = [m.model_id for m in models.available_models] if models else []
        offered = offered or (_values(option) if option else [])
        if not offered:
            self._notes.append(f"The agent lets nobody choose its model: {wanted!r} is not used.")
            return
        if wanted not in offered:
            has = ", ".join(offered)
            raise Unfit(ErrorClass.UNKNOWN, f"The agent has no model {wanted!r}. It offers: {has}.")
        if option is not None:
            await self._option(token, option, wanted)
        elif models is not None and models.current_model_id != wanted:
            await self._set("session/set_model", token, modelId=wanted)

    async def _option(self, token: Token, option: ConfigOption, value: str) -> None:
        await self._set("session/set_config_option", token, configId=option.id, value=value)

    async def _set(self, method: str, token: Token, **what: str) -> None:
        await self._ask(method, {"sessionId": token, **what})

    async def _ask(self, method: str, params: Any) -> msgspec.Raw:
        return await self._connection.request(method, params, limit=self._limit)


OWN = (Strategy.ACP_RESUME, Strategy.ACP_LOAD, Strategy.NATIVE)


def explained(failed: RpcFailed, profile: AcpProfile, now: Millis) -> Unfit:
    """What an error of the handshake means to a person."""
    trouble = classify(str(failed), code=failed.code, now=now)
    hint = (
        f" Log in: {profile.login}." if trouble.error is ErrorClass.AUTH and profile.login else ""
    )
    return Unfit(trouble.error, f"The agent refused to start: {failed}.{hint}")


def _option(answer: SessionAnswer, category: str) -> ConfigOption | None:
    options = answer.config_options or []
    return next((o for o in options if category in (o.category, o.id)), None)


def _values(option: ConfigOption) -> list[str]:
    """Options may stand in groups."""
    found: list[str] = []
    for value in decoded(option.options, list[ConfigValue]) or []:
        found += [inner.value for inner in value.options] if value.options else [value.value]
    return found
