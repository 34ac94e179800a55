"""The built-in agent's loop: stream the model, run its tools, repeat (SPEC B2).

Rule 1: intent first. A tool is begun only after the journal has its intent, a round only after the
journal has its beginning. What the journal does not take is not done: then the run is over.
Rule 2: nothing is decided here about resuming. Calls that are pending when a run begins were decided
to be run; they come first.
Rule 3: a round changes nothing before the files are kept as those before it left them.
Rule 4: limits are looked at before each model call and each batch; a batch that has begun is finished.
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

from holdfast.agents.builtin.asking import Questions
from holdfast.agents.builtin.coder import Coder, Helper
from holdfast.agents.builtin.compacting import COMPACTING, shortened
from holdfast.agents.builtin.model import Model, ModelFailed, Request
from holdfast.agents.builtin.request import Mender
from holdfast.agents.builtin.retry import Retry
from holdfast.agents.builtin.round import respond
from holdfast.agents.builtin.seam import Ask, Delegation, Deny, Keep, Question, Ran, Toolbox
from holdfast.core import events as e
from holdfast.core import halt
from holdfast.core import inputs as i
from holdfast.core.budget import Exceeded, uncounted
from holdfast.core.compaction import SHORT_TAIL, TAIL, due, place
from holdfast.core.conversation import Conversation
from holdfast.core.ids import CallId, DecisionId, LaunchNumber, Millis, RoundNumber, Seq
from holdfast.core.messages import Message
from holdfast.core.session import (
    GRANTS,
    PERMISSION,
    QUESTION,
    Call,
    CallStatus,
    Decision,
    EffectClass,
    ErrorClass,
    Evidence,
    OpenCall,
    Session,
    StopReason,
)
from holdfast.core.value import replace
from holdfast.ports import Clock

Written = Callable[[], Awaitable[Conversation]]  # the conversation as the journal has it


Submit = Callable[[i.Input], Awaitable[tuple[Session, tuple[e.Event, ...]]]]


SPENDING = (e.ResponseFinished, e.CallFinished, e.CoderNoted, e.ConversationCompacted)


class Loop:
    def __init__(
        self,
        session: Session,
        conversation: Conversation,
        *,
        submit: Submit,
        model: Model,
        tools: Toolbox,
        system: str,
        coder: Helper,
        window: int,
        written: Written,
        keep: Keep,
        clock: Clock,
        secrets: frozenset[str] = frozenset(),
    ) -> None:
        assert session.launch is not None and session.run is not None
        self._session, self._conversation = session, conversation
        self._submit, self._model, self._tools = submit, model, tools
        self._system, self._clock, self._secrets = system, clock, secrets
        self._coder, self._window, self._written = coder, window, written
        self._keep = keep
        self._changed_at: Millis | None = None  # the last change of this run was over
        self._asked: dict[CallId, Call] = {}  # as the model wrote them; the journal has no secrets
        self._launch: LaunchNumber = session.launch.number
        self._run = session.run.number
        self._began = clock.now()
        self._mender = Mender(session.model, self.say)
        self._questions = Questions(clock)

    async def play(self) -> None:
        """Until the run is over, for whatever reason; the reason is reported."""
        try:
            await self._play()
        except ModelFailed as failed:
            await self._failed(failed)
        except asyncio.CancelledError:
            await self._report(StopReason.CANCELLED)
            raise

    async def _play(self) -> None:
        if not await self._calls():
            return
        while (over := self.exceeded()) is None:
            if due(self._session.context, window=self._window) and await self._compact():
                continue  # that was a model call, and may have been the last
            if not await self._round():
                return
            if not self._session.calls:
                await self._report(StopReason.COMPLETED)
                return
            if (over := self.exceeded(batch=True)) is not None:
                break
            if not await self._calls():
                return
        await self._halt(over)

    # --- one round --------------------------------------------------------------------------------

    async def _round(self) -> bool:
        retry = Retry(self._clock)
        number = RoundNumber(self._session.round + 1)
        while True:
            request = self._request(await self._mender.messages(self._conversation))
            if not await self.say(e.RoundStarted(round=number, attempt=retry.attempt)):
                return False
            try:
                calls = await respond(
                    self._model,
                    request,
                    number,
                    say=self.say,
                    now=self._clock.now,
                    effect=self._tools.effect,
                    files=self._tools.files,
                    secrets=self._secrets,
                )
            except ModelFailed as failed:
                dropped = e.ResponseDropped(round=number, why=str(failed))
                if await self._made_room(retry, failed, dropped):
                    continue
                if self._mender.gives_up_signatures(failed.error):
                    retry.attempt += 1
                    await self.say(dropped)
                else:
                    await self.patience(retry, failed, dropped)
                continue
            self._asked = {call.id: call for call in calls or ()}
            return calls is not None

    async def _made_room(
        self, retry: Retry, failed: ModelFailed, dropped: e.ResponseDropped
    ) -> bool:
        """A request that was too long is worth one more try once the past is shorter."""
        if failed.error is not ErrorClass.CONTEXT_OVERFLOW or retry.attempt > 1:
            return False
        retry.attempt += 1
        await self.say(dropped)
        return await self._compact(tail=SHORT_TAIL)

    async def _compact(self, *, tail: int = TAIL) -> bool:
        """Asked for, then written down: killed in between, nothing has changed (SPEC B9)."""
        cut = place(self._conversation, tail=tail)
        if cut is None:
            return False
        await self.say(e.Notice(kind="compacting", text=COMPACTING))
        compacted = await shortened(
            self._conversation,
            cut,
            self._request(),
            model=self._model,
            mender=self._mender,
            window=self._window,
            patience=partial(self.patience, Retry(self._clock)),
        )
        return await self.say(replace(compacted, tail=await self._tail(cut)))

    def _request(self, messages: tuple[Message, ...] = ()) -> Request:
        return Request(
            system=self._system,
            messages=messages,
            tools=self._tools.schemas(),
            finished=self._session.responses,
        )

    async def _tail(self, cut: int) -> Seq:
        """Others write to the journal too: which event it is, only the journal knows."""
        written = await self._written()
        same = len(written.messages()) == len(self._conversation.messages())
        return written.tail_of(cut) if same else Seq(0)

    async def patience(self, retry: Retry, failed: ModelFailed, *events: i.Reportable) -> None:
        """Waits, visibly, until it may be tried again; raises the failure if that is no use."""
        wait = retry.wait(failed)
        if wait is None:
            raise failed
        until = Millis(self._clock.now() + wait)
        text = f"{failed.message} Trying again in {wait / 1000:.0f} s."
        await self.say(*events, e.Notice(kind="retry", text=text, until=until))
        await self._clock.sleep_until(until)

    # --- tools ------------------------------------------------------------------------------------

    async def _calls(self) -> bool:
        """Reads of one batch side by side, everything else one after another, in order."""
        pending = [c for c in self._session.calls if c.status is CallStatus.PENDING]
        reads = [c for c in pending if c.call.effect is EffectClass.PURE]
        if reads and not all(await asyncio.gather(*(self._call(c) for c in reads))):
            return False
        for opened in pending:
            if opened.call.effect is not EffectClass.PURE and not await self._call(opened):
                return False
        return True

    async def _call(self, opened: OpenCall) -> bool:
        call, attempt = self._asked.get(opened.call.id, opened.call), opened.attempt + 1
        asked = self._tools.inner(call)
        if isinstance(asked, Question):
            return await self._question(call, asked)
        refused = await self.permission(call, self._tools)
        if refused is not None:
            return await self.say(e.CallClosed(call=call.id, how=e.Closing.DENIED, output=refused))
        changes = call.effect is not EffectClass.PURE
        if changes and self._session.changed < self._session.round:
            await self._keep(self._session, since=self._changed_at)
        if not await self.say(e.CallIntended(call=call.id, attempt=attempt)):
            return False
        begun = self._clock.now()
        over: list[i.Reportable] = []
        if isinstance(asked, Delegation):
            ran = await self._delegate(call, asked)
            over.append(e.DelegationFinished(call=call.id))
        else:
            ran = await self._tools.run(call)
        if changes:
            self._changed_at = self._clock.now()
        return await self.say(
            *over,
            e.CallFinished(
                call=call.id,
                attempt=attempt,
                output=ran.output,
                failed=ran.failed,
                files=ran.files,
                millis=self._clock.now() - begun,
            ),
        )

    async def _delegate(self, call: Call, asked: Delegation) -> Ran:
        await self.say(e.DelegationStarted(call=call.id, task=asked.task))
        coder = Coder(
            self,
            call,
            model=self._model,
            name=self._session.model,
            helper=self._coder,
            window=self._window,
            clock=self._clock,
        )
        return await coder.work(asked)

    async def permission(
        self, call: Call, tools: Toolbox, *, within: Call | None = None
    ) -> str | None:
        """None: it may begin. Otherwise what the model is told. A coder's call is asked about as a
        part of the call that it works on, and goes when that one does."""
        if within is None and call.id in self._session.granted:
            return None
        match tools.verdict(call, self._session.always):
            case None:
                return None
            case Deny(text=text):
                return text
            case Ask(text=text, program=program):
                about = within or call
                part = f"-{self._clock.now()}-{call.id}" if within else ""
                answer = await self._ask(
                    Decision(
                        id=self._name_of(about, part),
                        kind=PERMISSION,
                        text=text,
                        options=("yes", "no", "always") if program else ("yes", "no"),
                        call=about.id,
                        program=program,
                    )
                )
                return None if answer in GRANTS else f"The user said no to this call: {answer}"

    def _name_of(self, about: Call, part: str = "") -> DecisionId:
        """A question is known by its name for ever, and a provider may use a call's id again."""
        return DecisionId(f"{self._run}-{self._session.round}-{about.id}{part}")

    async def _ask(self, asked: Decision) -> str:
        await self.say(e.DecisionAsked(decision=asked))
        return await self._questions.answer(asked.id)

    async def _question(self, call: Call, asked: Question) -> bool:
        """The core writes the result with the answer (decide.py), so that it is there whoever lives
        to see it. A question that an earlier run asked is not asked twice."""
        known = next((d for d in self._session.decisions if d.call == call.id), None)
        answer = await self._ask(
            known
            or Decision(
                id=self._name_of(call),
                kind=QUESTION,
                text=asked.text,
                options=asked.options,
                call=call.id,
            )
        )
        self._conversation.add(e.CallFinished(call=call.id, output=answer))
        return True

    def answered(self, id: DecisionId, answer: str, session: Session) -> None:
        self._session = session if session.seq > self._session.seq else self._session
        self._questions.answered(id, answer)

    # --- the end ----------------------------------------------------------------------------------

    def exceeded(self, *, batch: bool = False) -> Exceeded | None:
        return halt.reached(self._session, elapsed_ms=self._elapsed(), batch=batch)

    async def _warn(self) -> None:
        near = halt.near(self._session, elapsed_ms=self._elapsed())
        if near is not None:
            await self.say(e.BudgetWarned(run=self._run, limit=near[0], percent=near[1]))

    async def _say_uncounted(self, finished: e.ResponseFinished) -> None:
        run = self._session.run
        if run is None:
            return
        text = uncounted(
            run.limits,
            run.spent,
            cap=self._session.cap,
            last=finished.usage,
            model=finished.model,
        )
        if text is not None:
            await self.say(e.Notice(kind="price", text=text))

    def _elapsed(self) -> int:
        return self._clock.now() - self._began - self._questions.waited

    async def _halt(self, over: Exceeded) -> None:
        await self._submit(halt.halted(self._session, self._launch, over))

    async def _failed(self, failed: ModelFailed) -> None:
        limited = failed.error is ErrorClass.RATE_LIMITED
        at = None
        if limited and failed.retry_after_ms is not None:
            at = Millis(self._clock.now() + failed.retry_after_ms)
        await self._report(
            StopReason.RATE_LIMITED if limited else StopReason.ERROR,
            error=failed.error,
            message=failed.message,
            resumes_at=at,
            evidence=Evidence(status=failed.status),
        )

    async def _report(self, reason: StopReason, **details: object) -> None:
        finished = i.RunFinished(launch=self._launch, run=self._run, reason=reason, **details)  # type: ignore[arg-type]
        await self._submit(finished)

    async def say(self, *events: i.Reportable) -> bool:
        """True if all of it was written down. Nothing is done that was not."""
        heard = i.Heard(launch=self._launch, events=events)
        self._session, written = await self._submit(heard)
        self._conversation.extend(written)
        for event in written:
            if isinstance(event, e.ResponseFinished):
                await self._say_uncounted(event)
        if any(isinstance(event, SPENDING) for event in written):
            await self._warn()
        return len(written) >= len(events)
