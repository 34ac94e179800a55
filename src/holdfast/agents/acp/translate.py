"""An agent's updates in the journal's words (SPEC E11): a value in, events out; nothing is awaited here.

Rule 1: a round is one response and the calls it asked for. An agent does not say where one ends; it ends
        when something else begins: a call after words, words after calls, a call after all were done.
Rule 2: words are handed on at least every 250 ms or 2 KB (SPEC C3). The clock is asked by whoever ticks.
Rule 3: a call is told when its arguments are known: some agents name it first and say later what it is.
        It is not held back longer than a tick, and never after it began. (`bare`: an agent that names its
        calls while the model is still writing the arguments; then until it begins.)
Rule 4: what cannot be read is left out. Nothing that an agent says can end the session.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import msgspec

from holdfast.agents.acp import content
from holdfast.agents.acp.updates import (
    Cost,
    Entry,
    Meta,
    TokensUsed,
    TurnEnded,
    Update,
    decoded,
    present,
)
from holdfast.core import events as e
from holdfast.core.budget import Usage, add
from holdfast.core.ids import CallId, LaunchNumber, RoundNumber
from holdfast.core.inputs import Reportable
from holdfast.core.session import Call, EffectClass
from holdfast.core.value import replace

SAVE_CHARACTERS, SAVE_MS = 2048, 250
TEXT, THOUGHT = "agent_message_chunk", "agent_thought_chunk"
OVER = {"completed": False, "failed": True}  # a call's status: whether it failed
NOTHING_USED = Usage()
PLAN = "update_plan"  # as the built-in agent's tool is called: one word for one thing
PLAN_STATES = {"completed": "done", "in_progress": "in_progress"}


class Tool:
    """A call as far as it was heard of."""

    def __init__(self, id: str) -> None:
        self.id, self.title, self.kind = CallId(id), "", ""
        self.input = "{}"
        self.files: tuple[str, ...] = ()
        self.output = ""
        self.status = "pending"
        self.told = self.ended = False
        self.begun = 0

    def learn(self, update: Update) -> None:
        self.title = update.title or self.title
        self.kind = update.kind or self.kind
        self.status = update.status or self.status
        if present(update.raw_input) and bytes(update.raw_input) != b"{}":
            self.input = content.compact(update.raw_input)
        self.files = content.paths(update) or self.files
        self.output = content.output(update) or self.output

    def call(self, part: int) -> Call:
        changes = self.kind in content.CHANGING
        return Call(
            id=self.id,
            name=content.one_line(self.title or self.kind or "tool"),
            arguments=self.input,
            effect=EffectClass.PURE if self.kind in content.PURE else EffectClass.UNSAFE,
            part=part,
            files=self.files if changes else (),
        )


class _Open(NamedTuple):
    """The words that are coming in."""

    kind: str
    part: int
    offset: int


class Translator:
    """Of one launch. `begin` starts a turn."""

    def __init__(self, launch: LaunchNumber, now: Callable[[], int], *, bare: bool = False) -> None:
        self._launch, self._now, self._bare = launch, now, bare
        self._round = RoundNumber(0)
        self._open: _Open | None = None
        self._words: list[str] = []
        self._size, self._since = 0, 0
        self._tools: dict[str, Tool] = {}
        self._calls: list[Tool] = []  # of this round
        self._started = False  # a round of this turn
        self._message_id: str | None = None
        self._plan, self._plans, self._shown_plan = "", 0, ""
        self._cost, self._paid = 0, 0  # micros: as the agent counts, and as we told
        self._used, self._counts = NOTHING_USED, False  # tokens that it told of in this turn

    def begin(self, round: RoundNumber) -> None:
        """`round` is the session's last."""
        self._round, self._open, self._started = round, None, False
        self._words, self._size, self._calls = [], 0, []
        self._used, self._counts = NOTHING_USED, False
        self._tools = {}

    def take(self, update: Update) -> list[Reportable]:
        match update.session_update:
            case "agent_message_chunk" | "agent_thought_chunk":
                self._count_tokens(update)
                return self._speak(update)
            case "tool_call" | "tool_call_update":
                return self._call(update)
            case "plan":
                self._plan = _plan(update)
            case "usage_update":
                self.count(update)
            case _:
                pass  # state of the agent's own, or of a later version
        return []

    def count(self, update: Update) -> None:
        """What the session has cost so far, as the agent says. After a load it is where it was."""
        cost = decoded(update.cost, Cost)
        if cost is not None and cost.currency.upper() in ("", "USD"):
            self._cost = max(self._cost, round(cost.amount * 1_000_000))

    def _count_tokens(self, update: Update) -> None:
        """Some say with a response what it used; most only at the end of the turn."""
        meta = decoded(update.meta, Meta) if present(update.meta) else None
        if meta is not None and meta.usage is not None:
            self._used, self._counts = add(self._used, _tokens(meta.usage)), True

    def settle_cost(self) -> None:
        """What was spent before this launch was counted then."""
        self._paid = self._cost

    def ask(self, id: str, update: Update) -> list[Reportable]:
        """The agent asks about this call: it is told before the question."""
        tool = self._tool(id)
        tool.learn(update)
        return [] if tool.told else self._tell(tool)

    def words(self, update: Update) -> str:
        return content.text(update.content)

    def kind(self, id: str) -> str | None:
        return self._tools[id].kind if id in self._tools else None

    def title(self, id: str) -> str:
        tool = self._tools.get(id)
        return content.one_line(tool.title or tool.kind) if tool else ""

    def tick(self) -> list[Reportable]:
        """What must not wait any longer."""
        return [*self._save(), *self._tell_all(self._due())]

    @property
    def waiting(self) -> bool:
        return bool(self._words) or bool(self._due())

    def _due(self) -> list[Tool]:
        untold = [tool for tool in self._tools.values() if not tool.told]
        return [tool for tool in untold if not self._bare or tool.status != "pending"]

    def _tell_all(self, tools: Iterable[Tool]) -> list[Reportable]:
        return [event for tool in tools for event in self._tell(tool)]

    def end(self, ended: TurnEnded | None = None) -> list[Reportable]:
        """The turn is over: everything that was heard."""
        untold = [tool for tool in self._tools.values() if not tool.told]
        events = [*self._save(), *self._tell_all(untold)]
        usage = self._usage(ended)
        if self._open is not None:
            events += self._close(usage)
        return [*events, *self._note_plan()]

    # --- words ------------------------------------------------------------------------------------

    def _speak(self, update: Update) -> list[Reportable]:
        text = content.text(update.content)
        if not text:
            return []
        kind = update.session_update
        events: list[Reportable] = []
        if self._open is None:
            events += self._start()
            self._open = _Open(kind, 0, 0)
        elif self._open.kind != kind:
            events += self._save()
            self._open = _Open(kind, self._open.part + 1, 0)
        if kind == TEXT:
            self._message_id = update.message_id or self._message_id
        if not self._words:
            self._since = self._now()
        self._words.append(text)
        self._size += len(text)
        due = self._size >= SAVE_CHARACTERS or self._now() - self._since >= SAVE_MS
        return [*events, *self._save()] if due else events

    def _start(self) -> list[Reportable]:
        self._round = RoundNumber(self._round + 1)
        self._calls, self._started = [], True
        return [e.RoundStarted(round=self._round)]

    def _save(self) -> list[Reportable]:
        if not self._words or self._open is None:
            return []
        text = "".join(self._words)
        self._words, self._size = [], 0
        kind, part, offset = self._open
        self._open = _Open(kind, part, offset + len(text))
        saved = e.TextSaved if kind == TEXT else e.ThinkingSaved
        return [saved(round=self._round, text=text, offset=offset, part=part)]

    def _close(self, usage: Usage = NOTHING_USED) -> list[Reportable]:
        """No more words in this round."""
        events = self._save()
        self._open = None
        id, self._message_id = self._message_id, None
        return [*events, e.ResponseFinished(round=self._round, usage=usage, message_id=id)]

    # --- calls ------------------------------------------------------------------------------------

    def _call(self, update: Update) -> list[Reportable]:
        if not update.tool_call_id:
            return []
        tool = self._tool(update.tool_call_id)
        tool.learn(update)
        events: list[Reportable] = []
        known = tool.input != "{}" and not self._bare
        if not tool.told and (tool.status != "pending" or known):
            events += self._tell(tool)
        if tool.status in OVER and not tool.ended:
            tool.ended = True
            events.append(self._finished(tool))
        return events

    def _tool(self, id: str) -> Tool:
        found = self._tools.get(id)
        if found is None:
            found = self._tools[id] = Tool(id)
            found.begun = self._now()
        return found

    def _tell(self, tool: Tool) -> list[Reportable]:
        events: list[Reportable] = []
        if self._open is not None:
            events += self._close(self._usage(None))
        elif not self._started or all(call.ended for call in self._calls):
            events += [*self._start(), *self._close()]
        tool.told = True
        self._calls.append(tool)
        call = tool.call(part=len(self._calls))
        return [*events, e.CallObserved(round=self._round, call=call), *self._note_plan()]

    def _finished(self, tool: Tool) -> e.CallFinished:
        return e.CallFinished(
            call=tool.id,
            output=tool.output,
            failed=OVER[tool.status],
            files=tool.files if tool.kind in content.CHANGING else (),
            millis=self._now() - tool.begun,
        )

    # --- the rest ---------------------------------------------------------------------------------

    def _note_plan(self) -> list[Reportable]:
        """A plan is shown beside the calls of a round, as the built-in agent's is."""
        if not self._plan or self._plan == self._shown_plan or not self._started:
            return []
        self._shown_plan, self._plans = self._plan, self._plans + 1
        id = CallId(f"plan-{self._launch}-{self._plans}-{self._round}")
        call = Call(id=id, name=PLAN, arguments=self._plan, effect=EffectClass.PURE, part=99)
        return [
            e.CallObserved(round=self._round, call=call),
            e.CallFinished(call=id, output="Plan noted."),
        ]

    def _usage(self, ended: TurnEnded | None) -> Usage:
        told = ended.used if ended and not self._counts else None
        tokens, self._used = _tokens(told) if told else self._used, NOTHING_USED
        cost, self._paid = max(self._cost - self._paid, 0), max(self._cost, self._paid)
        return replace(tokens, cost_micros=cost)


def _tokens(used: TokensUsed) -> Usage:
    return Usage(
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        cache_read_tokens=used.cached_read_tokens or 0,
        cache_write_tokens=used.cached_write_tokens or 0,
    )


def _plan(update: Update) -> str:
    entries = decoded(update.entries, list[Entry]) or []
    items = [
        {"text": entry.content, "state": PLAN_STATES.get(entry.status, "pending")}
        for entry in entries
    ]
    return msgspec.json.encode({"items": items}).decode() if items else ""
