"""From what an agent's output says to the journal's words: rounds, saved text, calls, results.

Rule 1: text is saved at least every 250 ms or 2 KB (SPEC C3): a run that is cut off can quote it.
Rule 2: a call is journaled when we hear of it. The agent ran it by itself: no intent of ours came
first, so a call without a result is unknown.
Rule 3: the end of a response without calls is kept back until what follows, since the turn's end,
which follows at once, says what it cost.
Rule 4: once the journal does not want what we say, the run is somebody else's: nothing more is said.
"""

from collections.abc import Awaitable, Callable
from typing import Any, assert_never

from holdfast.agents.oneshot import signs as g
from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.ids import CallId, LaunchNumber, Millis, RoundNumber, Token
from holdfast.core.resume import not_back
from holdfast.core.session import Call, EffectClass, Session
from holdfast.core.value import replace

SAVE_CHARACTERS, SAVE_MS = 2048, 250
Submit = Callable[[i.Input], Awaitable[Any]]

# Tools whose calls change nothing, by the names that agents give them. All others may.
PURE = frozenset(
    [
        "Read",
        "Glob",
        "Grep",
        "LS",
        "WebFetch",
        "WebSearch",
        "TodoRead",
        "NotebookRead",
        "read",
        "glob",
        "grep",
        "list",
        "ls",
        "view",
        "read_file",
        "read_many_files",
        "list_directory",
        "search_file_content",
        "grep_search",
        "web_fetch",
        "webfetch",
        "google_web_search",
        "web_search",
    ]
)


class Unwanted(Exception):
    """The journal does not take what we say any more."""


class Teller:
    def __init__(
        self,
        session: Session,
        *,
        launch: LaunchNumber,
        asked: Token | None,
        fork: bool,
        submit: Submit,
        now: Callable[[], Millis],
    ) -> None:
        self._launch, self._submit, self._now = launch, submit, now
        self._asked, self._fork = asked, fork
        self.session = session  # as the journal has it
        self._round = session.round
        self._token = session.token
        self._said = 0
        self._attempt = 1  # at the current round
        self._open = False  # a response is coming
        self._kept: g.Done | None = None  # complete, and not said yet
        self._texts: dict[tuple[int, bool], _Text] = {}
        self._calls: list[g.Asked] = []
        self.finished: g.Finished | None = None
        self.last = ""  # the last sign, as evidence

    async def tell(self, sign: g.Sign) -> None:
        self.last = type(sign).__name__.lower()
        match sign:
            case g.Named(token=token):
                await self._named(Token(token))
            case g.Began():
                await self._began()
            case g.Spoke():
                await self._spoke(sign)
            case g.Asked():
                await self._called(sign)
            case g.Done():
                await self._done(sign)
            case g.Dropped(why=why):
                await self._dropped(why)
            case g.Result():
                await self._result(sign)
            case g.Noted(text=text, wait_ms=wait):
                until = Millis(self._now() + wait) if wait else None
                await self._say(e.Notice(kind="agent_retry", text=text, until=until))
            case g.Finished():
                await self._end(sign)
            case _:
                assert_never(sign)

    def due(self) -> float | None:
        """Seconds until what was heard must be saved; None: all of it is."""
        waiting = [t.since for t in self._texts.values() if t.unsaved]
        return max(0, min(waiting) + SAVE_MS - self._now()) / 1000 if waiting else None

    async def save(self) -> None:
        await self._say(*self._unsaved())

    async def notice(self, kind: str, text: str) -> None:
        await self._say(e.Notice(kind=kind, text=text))

    async def warn(self, limit: str, percent: int) -> None:
        if self.session.run is not None:
            run = self.session.run.number
            await self._say(e.BudgetWarned(run=run, limit=limit, percent=percent))

    async def close(self, *, left_out: int) -> None:
        """Nothing more will come: what was heard is kept. `left_out`: lines too long to be read."""
        if left_out:
            text = f"Lines of the agent's that are longer than 32 MB were left out: {left_out}."
            await self.notice("too_long", text)
        if self._kept is not None:
            await self._flush(self._kept)
        await self.save()

    # --- one sign each ----------------------------------------------------------------------------

    async def _named(self, token: Token) -> None:
        """SPEC E5: several agents silently begin another conversation than the one asked for."""
        if not token or token == self._token:
            return
        told: list[i.Reportable] = []
        forked = token != self._asked
        if why := not_back(self._asked, token, fork=self._fork, forked=forked):
            told.append(e.ContextLost(launch=self._launch, why=why))
        self._token = token
        await self._say(*told, e.TokenLearned(launch=self._launch, token=token))

    async def _began(self) -> None:
        if self._open or self._kept:
            await self._flush(self._kept or g.Done())
        if self._attempt == 1:
            self._round = RoundNumber(self._round + 1)
        self._open = True
        outcome = await self._say(e.RoundStarted(round=self._round, attempt=self._attempt))
        if outcome is None or not outcome.events:
            raise Unwanted

    async def _spoke(self, sign: g.Spoke) -> None:
        if not self._open:
            await self._began()
        key = (sign.part, sign.thinking)
        piece = self._texts.get(key)
        if piece is None:
            piece = self._texts[key] = _Text(self._now())
        piece.add(sign.text, self._now())
        if piece.size >= SAVE_CHARACTERS or self._now() - piece.since >= SAVE_MS:
            await self.save()

    async def _called(self, sign: g.Asked) -> None:
        if self._open:
            self._calls.append(sign)  # the response that asks for it ends in a moment
            return
        if self._kept is not None:
            await self._flush(self._kept)
        if self._round:
            await self._say(self._observed(sign))

    async def _done(self, sign: g.Done) -> None:
        if not self._open:
            return
        self._open = False
        self._kept = sign
        if self._calls:
            await self._flush(sign)
        else:
            await self.save()

    async def _dropped(self, why: str) -> None:
        if self._open:
            self._open, self._texts, self._calls = False, {}, []
            self._attempt += 1
            await self._say(e.ResponseDropped(round=self._round, why=why))

    async def _result(self, sign: g.Result) -> None:
        if self._open or self._kept:
            self._open = False
            await self._flush(self._kept or g.Done())
        output, failed = sign.output, sign.failed
        await self._say(e.CallFinished(call=CallId(sign.call), output=output, failed=failed))

    async def _end(self, sign: g.Finished) -> None:
        kept = self._kept
        if kept is not None:
            priced = replace(kept.usage, cost_micros=kept.usage.cost_micros or sign.cost_micros)
            await self._flush(replace(kept, usage=priced))
        elif self._open and not sign.failed:
            await self._flush(g.Done())
        self.finished = sign

    # --- words --------------------------------------------------------------------------------------

    async def _flush(self, done: g.Done) -> None:
        """The response with all that belongs to it, at once."""
        self._open, self._kept, self._attempt = False, None, 1
        calls, self._calls = self._calls, []
        end = e.ResponseFinished(
            round=self._round, usage=done.usage, model=done.model, message_id=done.message_id
        )
        texts = self._unsaved()
        self._texts = {}
        await self._say(*texts, end, *(self._observed(call) for call in calls))

    def _observed(self, sign: g.Asked) -> e.CallObserved:
        effect = EffectClass.PURE if sign.name in PURE else EffectClass.UNSAFE
        call = Call(id=CallId(sign.call), name=sign.name, arguments=sign.arguments, effect=effect)
        return e.CallObserved(round=self._round, call=call)

    def _unsaved(self) -> list[i.Reportable]:
        saved: list[i.Reportable] = []
        for (part, thinking), piece in self._texts.items():
            if piece.unsaved:
                kind = e.ThinkingSaved if thinking else e.TextSaved
                offset, words = piece.take()
                saved.append(kind(round=self._round, text=words, offset=offset, part=part))
        return saved

    async def _say(self, *events: i.Reportable) -> Any:
        if not events:
            return None
        self._said += 1
        heard = i.Heard(launch=self._launch, events=events, n=self._said)
        outcome = await self._submit(heard)
        self.session = outcome.session
        return outcome


class _Text:
    """One part of a response, as far as it is not saved yet."""

    def __init__(self, now: Millis) -> None:
        self.unsaved: list[str] = []
        self.size, self.since, self._offset = 0, now, 0

    def add(self, text: str, now: Millis) -> None:
        if not self.unsaved:
            self.since = now
        self.unsaved.append(text)
        self.size += len(text)

    def take(self) -> tuple[int, str]:
        words, offset = "".join(self.unsaved), self._offset
        self._offset += len(words)
        self.unsaved, self.size = [], 0
        return offset, words
