"""Questions of an agent: each bound to the process that asked and the call it is about (SPEC B11, P9).

An answer goes to the very request it answers. A question whose turn or process is over is withdrawn; what
nobody can answer any more is told the agent as cancelled.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from holdfast.agents.acp import content
from holdfast.agents.acp.frames import Id, Message
from holdfast.agents.acp.translate import Translator
from holdfast.agents.acp.transport import CANCELLED, Connection
from holdfast.agents.acp.updates import PermissionAsked, Update, decoded
from holdfast.core import events as e
from holdfast.core import modes
from holdfast.core.ids import CallId, DecisionId, LaunchNumber
from holdfast.core.inputs import Reportable
from holdfast.core.session import Decision

INVALID = -32602
INPUT_SHOWN = 400  # characters of a call's arguments


class Cancelling(msgspec.Struct, rename="camel"):
    request_id: int | str = ""


class _Question(NamedTuple):
    request: Id
    options: tuple[modes.Offered, ...]


class Questions:
    def __init__(self, launch: LaunchNumber, mode: str, connection: Connection) -> None:
        self._launch, self._mode, self._connection = launch, mode, connection
        self._open: dict[DecisionId, _Question] = {}
        self._count = 0

    @property
    def open(self) -> bool:
        return bool(self._open)

    def ask(self, message: Message, translator: Translator) -> list[Reportable]:
        """What is to be written down. Nothing: it is answered already."""
        assert message.id is not None
        asked = decoded(message.params, PermissionAsked)
        about = decoded(asked.tool_call, Update) if asked else None
        if asked is None or about is None:
            self._connection.refuse(message.id, INVALID, "A question needs a call and options.")
            return []
        options = tuple(
            modes.Offered(id=o.option_id, name=o.name, kind=o.kind) for o in asked.options
        )
        id = about.tool_call_id
        told = translator.ask(id, about) if id else []
        verdict = modes.verdict(self._mode, translator.kind(id))
        if verdict is not modes.Verdict.ASK:
            self._reply(message.id, modes.by_verdict(verdict, options))
            if verdict is modes.Verdict.DENY:
                why = f"Denied by mode {self._mode!r}: {translator.title(id)}"
                told.append(e.Notice(kind="denied", text=why))
            return told
        self._count += 1
        decision = Decision(
            id=DecisionId(f"{self._launch}-{self._count}-{message.id}"),
            kind="permission",
            text=_text(translator.title(id), about),
            options=modes.words(options),
            call=CallId(id) if id else None,
            launch=self._launch,
        )
        self._open[decision.id] = _Question(message.id, options)
        return [*told, e.DecisionAsked(decision=decision)]

    def unless_written(self, written: Iterable[e.Event]) -> None:
        """What the journal did not take is asked of nobody."""
        known = {event.decision.id for event in written if isinstance(event, e.DecisionAsked)}
        last = next(reversed(self._open), None)
        if last is not None and last not in known and self._is_newest(last):
            self._reply(self._open.pop(last).request, None)

    def _is_newest(self, id: DecisionId) -> bool:
        return id.startswith(f"{self._launch}-{self._count}-")

    def answer(self, id: DecisionId, answer: str) -> None:
        question = self._open.pop(id, None)
        if question is not None:
            self._reply(question.request, modes.chosen(answer, question.options))

    def refuse(self, message: Message) -> None:
        if message.id is not None:
            self._reply(message.id, None)

    def cancel_all(self) -> None:
        """Told the agent at once; the journal hears of it when the turn is over."""
        for question in self._open.values():
            self._reply(question.request, None)

    def drop_all(self, why: str) -> list[Reportable]:
        dropped, self._open = list(self._open), {}
        return [e.DecisionDismissed(decision=id, why=why) for id in dropped]

    def withdrawn(self, params: msgspec.Raw) -> Sequence[Reportable]:
        """The agent itself does not want to know any more."""
        given = decoded(params, Cancelling)
        for id, question in self._open.items():
            if given is not None and str(question.request) == str(given.request_id):
                del self._open[id]
                self._connection.refuse(question.request, CANCELLED, "Request cancelled")
                return [e.DecisionDismissed(decision=id, why="the agent withdrew it")]
        return []

    def _reply(self, request: Id, option: str | None) -> None:
        outcome = {"outcome": "cancelled"}
        if option is not None:
            outcome = {"outcome": "selected", "optionId": option}
        self._connection.answer(request, {"outcome": outcome})


def _text(title: str, about: Update) -> str:
    shown = content.compact(about.raw_input) if about.raw_input else ""
    shown = shown if len(shown) <= INPUT_SHOWN else shown[:INPUT_SHOWN] + "..."
    return f"{title or 'The agent asks for permission'} {shown}".strip()
