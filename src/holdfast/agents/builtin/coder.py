"""The coder: a loop within a call of the loop, with a memory of its own (SPEC B8).

Rule 1: it has no coder and no user. What it may do without asking is what its parent may.
Rule 2: its conversation is its own and is gone with it. What it has found out is in its notes, which
are journaled with every change; after a crash they are all that is left, and its call is unknown.
Rule 3: what it spends is its parent's, and its parent's limits are looked at before each of its
model calls and each batch.
"""

import asyncio
from functools import partial
from typing import NamedTuple, Protocol

from holdfast.agents.builtin.compacting import COMPACTING, shortened
from holdfast.agents.builtin.model import Model, ModelFailed, Request
from holdfast.agents.builtin.request import Mender
from holdfast.agents.builtin.retry import Retry
from holdfast.agents.builtin.round import respond
from holdfast.agents.builtin.seam import Delegation, Note, Ran, Toolbox
from holdfast.core import events as e
from holdfast.core.budget import NOTHING, Exceeded, Limits, Usage
from holdfast.core.compaction import SHORT_TAIL, TAIL, due, place
from holdfast.core.conversation import Conversation
from holdfast.core.ids import RoundNumber, RunNumber
from holdfast.core.messages import Message
from holdfast.core.session import Call, Cause, CoderState, EffectClass, ErrorClass
from holdfast.core.value import replace
from holdfast.ports import Clock

ROUNDS = 50  # a coder that needs more has lost its way
ERRORS_KEPT = 20
SAID = 500  # characters of what it says that people are shown


class Parent(Protocol):
    """The loop that delegated."""

    async def say(self, *events: e.CoderNoted | e.Notice | e.ConversationRepaired) -> bool: ...
    def exceeded(self, *, batch: bool = False) -> Exceeded | None: ...
    async def permission(self, call: Call, tools: Toolbox, *, within: Call) -> str | None:
        """None: it may begin. Otherwise what the model is told."""

    async def patience(self, retry: Retry, failed: ModelFailed) -> None:
        """Waits until it may be tried again; raises what it was given if that is no use."""


class Helper(NamedTuple):
    """What a coder is given."""

    system: str
    tools: Toolbox


class Coder:
    def __init__(
        self,
        parent: Parent,
        call: Call,
        *,
        model: Model,
        name: str,
        helper: Helper,
        window: int,
        clock: Clock,
    ) -> None:
        self._parent, self._call, self._model = parent, call, model
        self._system, self._tools = helper
        self._window, self._clock = window, clock
        self._conversation = Conversation()
        self._mender = Mender(name, parent.say, who="coder: ")
        self._state = CoderState()
        self._finished = 0  # responses
        self._context = 0  # tokens of the last request and its response

    async def work(self, asked: Delegation) -> Ran:
        """Until it has nothing more to ask for, or may not go on."""
        words = f"{asked.task}\n\n{asked.context}" if asked.context else asked.task
        began = e.RunStarted(run=RunNumber(1), cause=Cause.PROMPT, limits=Limits(), text=words)
        self._conversation.add(began)
        try:
            for number in range(1, ROUNDS + 1):
                if due(self._context, window=self._window):
                    await self._compact()
                over = self._parent.exceeded()
                if over is not None:
                    return self._left(over.text)
                calls = await self._round(RoundNumber(number))
                if not calls:
                    return self._done()
                over = self._parent.exceeded(batch=True)
                if over is not None:
                    return self._left(over.text)
                await self._batch(calls)
        except ModelFailed as failed:
            return self._left(failed.message)
        return self._left(f"It had not come to an end after {ROUNDS} rounds.")

    def _done(self) -> Ran:
        messages = self._conversation.messages()
        text = getattr(messages[-1], "text", "") or "The coder is done and said nothing."
        return Ran(output=text, files=self._state.files_touched)

    def _left(self, why: str) -> Ran:
        state = self._state
        open_tasks = "".join(f"\n- {task}" for task in state.open_tasks) or " none noted"
        files = ", ".join(state.files_touched) or "none"
        text = f"The coder stopped: {why}\nFiles touched: {files}\nOpen tasks:{open_tasks}"
        return Ran(output=text, failed=True, files=state.files_touched)

    # --- one round --------------------------------------------------------------------------------

    async def _round(self, number: RoundNumber) -> tuple[Call, ...]:
        retry = Retry(self._clock)
        while True:
            request = self._request(await self._mender.messages(self._conversation))
            self._conversation.add(e.RoundStarted(round=number, attempt=retry.attempt))
            try:
                calls = await respond(
                    self._model,
                    request,
                    number,
                    say=self._hear,
                    now=self._clock.now,
                    effect=self._tools.effect,
                    files=self._tools.files,
                )
            except ModelFailed as failed:
                self._conversation.add(e.ResponseDropped(round=number))
                too_long = failed.error is ErrorClass.CONTEXT_OVERFLOW and retry.attempt == 1
                retry.attempt += too_long  # worth one more try once the past is shorter
                if not (too_long and await self._compact(tail=SHORT_TAIL)):
                    await self._parent.patience(retry, failed)
                continue
            return calls or ()

    async def _compact(self, *, tail: int = TAIL) -> bool:
        """In its own conversation, which nobody else has; what it cost is its parent's (SPEC B9)."""
        cut = place(self._conversation, tail=tail)
        if cut is None:
            return False
        await self._note(shown=f"coder: {COMPACTING}")
        compacted = await shortened(
            self._conversation,
            cut,
            self._request(),
            model=self._model,
            mender=self._mender,
            window=self._window,
            patience=partial(self._parent.patience, Retry(self._clock)),
        )
        self._conversation.add(compacted)
        self._context = 0  # the next response says
        await self._note(usage=compacted.usage)
        return True

    def _request(self, messages: tuple[Message, ...] = ()) -> Request:
        return Request(
            system=self._system,
            messages=messages,
            tools=self._tools.schemas(),
            finished=self._finished,
            coder=self._call.id,
        )

    async def _hear(self, *events: e.Event) -> bool:
        """Its words are remembered here; what they cost, and a line for people, is journaled."""
        self._conversation.extend(events)
        for event in events:
            if isinstance(event, e.ResponseFinished):
                self._finished += 1
                self._context = event.usage.tokens
                await self._note(usage=event.usage, shown=self._line(event))
        return True

    def _line(self, event: e.ResponseFinished) -> str:
        said = getattr(self._conversation.messages()[-1], "text", "").strip()
        names = ", ".join(" ".join((c.name, *c.files)) for c in event.calls)
        return ": ".join(["coder", *([said[:SAID]] if said else []), *([names] if names else [])])

    # --- tools ------------------------------------------------------------------------------------

    async def _batch(self, calls: tuple[Call, ...]) -> None:
        """Reads side by side, everything else one after another, in order: as its parent does it."""
        reads = [c for c in calls if c.effect is EffectClass.PURE]
        for call, ran in zip(
            reads, await asyncio.gather(*(self._run(c) for c in reads)), strict=True
        ):
            await self._settle(call, ran)
        for call in calls:
            if call.effect is not EffectClass.PURE:
                await self._settle(call, await self._run(call))

    async def _run(self, call: Call) -> Ran:
        asked = self._tools.inner(call)
        if isinstance(asked, Note):
            known = {n: v for n in asked.__struct_fields__ if (v := getattr(asked, n)) is not None}
            self._state = replace(self._state, **known)
            return Ran(output="Noted.")
        refused = await self._parent.permission(call, self._tools, within=self._call)
        return await self._tools.run(call) if refused is None else Ran(output=refused, failed=True)

    async def _settle(self, call: Call, ran: Ran) -> None:
        self._conversation.add(
            e.CallFinished(call=call.id, output=ran.output, failed=ran.failed, files=ran.files)
        )
        state = self._state
        touched = tuple(dict.fromkeys((*state.files_touched, *ran.files)))
        errors = state.errors
        if ran.failed:
            why = ran.output.strip().partition("\n")[0][:SAID]
            errors = (*errors, f"{call.name}: {why}")[-ERRORS_KEPT:]
        self._state = replace(state, files_touched=touched, errors=errors)
        await self._note(tool_calls=1)

    async def _note(self, *, usage: Usage = NOTHING, tool_calls: int = 0, shown: str = "") -> None:
        noted = e.CoderNoted(
            call=self._call.id, state=self._state, usage=usage, tool_calls=tool_calls
        )
        notices = [e.Notice(kind="coder", text=shown)] if shown else []
        await self._parent.say(noted, *notices)
