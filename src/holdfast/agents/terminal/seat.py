"""One life of an agent in a terminal, and whoever listens to it.

Rule 1: what it does is read from its own record as it grows; a turn's end from what it says of itself
(hooks.py), from the record, and last from a screen on which nothing moves any more.
Rule 2: the first prompt in the record after our mark is ours: evidence that it arrived, no input (A9).
Any other was typed by whoever sits at the terminal, and is an input like any other.
Rule 3: to stop listening ends nothing: the agent lives on, and the next listener begins at the mark.
Rule 4: it is gone when its whole tree is. Only then is its end told.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable

from holdfast.agents.terminal import ending
from holdfast.agents.terminal.account import Account
from holdfast.agents.terminal.ending import Ending, last_words, over_report
from holdfast.agents.terminal.following import Following
from holdfast.agents.terminal.hooks import Moment, moment
from holdfast.agents.terminal.manner import Manner, Waits
from holdfast.agents.terminal.place import Mark, Marks
from holdfast.agents.terminal.record import About, Over, Sign
from holdfast.agents.terminal.screen import Still
from holdfast.agents.terminal.seam import Pane, Submit, Terminals
from holdfast.agents.terminal.tail import Bell, Tail
from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.adoption import AgentSaid, UserSaid
from holdfast.core.ids import (
    DecisionId,
    InputId,
    LaunchNumber,
    Millis,
    RoundNumber,
    RunNumber,
    Token,
)
from holdfast.core.resume import not_back
from holdfast.core.session import GRANTS, PERMISSION, Decision, Session
from holdfast.ports import JournalError

LOG = logging.getLogger(__name__)


class Seat:
    def __init__(
        self,
        session: Session,
        launch: LaunchNumber,
        *,
        manner: Manner,
        terminals: Terminals,
        marks: Marks,
        submit: Submit,
        now: Callable[[], Millis],
        waits: Waits,
        asked: Token | None = None,
    ) -> None:
        self.launch, self.name = launch, f"{session.id}-{launch}"
        self.cookie = f"{session.id}:{launch}"
        self._id, self._token, self._asked = session.id, session.token, asked
        self._manner, self._terminals, self._marks = manner, terminals, marks
        self._submit, self._now, self._waits = submit, now, waits
        self._bell = Bell()
        self._record = Following(manner, self._bell, since=time.time() - 1)
        self._moments = Tail(marks.moments(self.name))
        self.run: RunNumber | None = None
        self.pid = 0
        self._account: Account | None = None
        self._arrived = True
        self._words: list[i.Reportable] = []
        self._asking: DecisionId | None = None
        self._questions = 0
        self._spoken_of_itself = False
        self._stop: Moment | None = None
        self._still = Still(terminals, self.name)
        self._soft_at = self._stop_at = self._heard_at = _clock()
        self._soft = self._quiet_said = False
        self._ready = asyncio.Event()
        self._run_over = asyncio.Event()
        self.interrupting = False
        self.task: asyncio.Task[None] | None = None

    # --- runs -------------------------------------------------------------------------------------

    def mark(self, run: RunNumber, round: RoundNumber, *, argument: bool = False) -> None:
        """Before the prompt is handed over."""
        mark = Mark(run=run, round=round, offset=self._record.offset, argument=argument)
        self._marks.write(self.name, mark)
        self.begin(run, round, known=round)

    def begin(self, run: RunNumber, round: RoundNumber, *, known: RoundNumber) -> None:
        self.run, self._account = run, Account(round, known=known)
        self._arrived = self._soft = self._quiet_said = self.interrupting = False
        self._stop, self._heard_at = None, _clock()
        self._run_over.clear()

    def read_from(self, offset: int) -> None:
        self._record.start_at = offset

    def listen(self, pid: int) -> None:
        self.pid = pid
        self.task = asyncio.create_task(self._follow())

    async def _follow(self) -> None:
        """The journal may fail or be another's: then nobody here listens any more."""
        try:
            while True:
                gone = self._terminals.ended(self.name, self.pid)
                await self._hear_all()
                if gone and await self._left():
                    return
                await self._settle()
                self._bell.watch(self._terminals.folder)
                self._bell.watch(self._marks.folder)
                await self._bell.wait(self._waits.soft / 2, blind=self._searching())
        except JournalError as error:
            LOG.warning("session %s: nobody listens to its agent: %s", self._id, error)
        except Exception:
            LOG.exception("session %s: its agent cannot be followed", self._id)
        finally:
            await self._bell.close()

    def _searching(self) -> bool:
        """A record is about to appear, nobody knows where."""
        soon = self.run is not None and _clock() - self._heard_at < self._waits.arrive
        return self._record.readable and not self._record.found and soon

    async def _hear_all(self) -> None:
        for line, _ in await self._moments.read():
            found = moment(line) if line is not None else None
            if found is not None:
                await self._of_itself(found)
        await self._locate()
        for signs, end in await self._record.read():
            for sign in signs:
                await self._sign(sign, end)
        await self._flush()

    async def _locate(self) -> None:
        """Under the id that we know, or under another that it took silently."""
        if not self._record.found and self._token is not None:
            self._record.look_for(self._token)
        late = not self._arrived and _clock() - self._heard_at > self._waits.arrive
        if self._token is None or (late and not self._spoken_of_itself):
            token = self._record.look_for_another(than=self._token)
            if token is not None:
                await self._named(token)

    # --- signs ------------------------------------------------------------------------------------

    async def _sign(self, sign: Sign | e.Notice, end: int) -> None:
        if isinstance(sign, e.Notice):
            self._words.append(sign)
        elif isinstance(sign, About):
            if self._account is not None:
                self._account.about = sign
        elif isinstance(sign, Over):
            await self._flush()
            if sign.soft:
                self._soft, self._soft_at = True, _clock()
            else:
                await self._finish(sign)
        elif isinstance(sign, UserSaid):
            await self._flush()
            await self._prompted(sign.text, end)
        elif self._account is not None:
            self._soft = self._quiet_said = False
            self._arrived, self._heard_at = True, _clock()
            self._words += self._account.hear(sign)

    async def _prompted(self, text: str, end: int) -> None:
        if not self._arrived:
            self._arrived, self._heard_at = True, _clock()
        elif self.run is None:
            typed = i.PromptTyped(
                launch=self.launch, input=InputId(f"typed-{self.launch}-{end}"), text=text
            )
            session: Session = (await self._submit(typed)).session
            if session.run is not None:
                self._marks.write(
                    self.name, Mark(run=session.run.number, round=session.round, offset=end)
                )
                self.begin(session.run.number, session.round, known=session.round)
                self._arrived = True
        else:
            self._words.append(e.Notice(kind="typed", text=f"Typed in the terminal: {text}"))

    async def _named(self, token: Token) -> None:
        """SPEC E5: several agents silently begin another conversation than the one asked for."""
        if not token or token == self._token:
            return
        if why := not_back(self._asked, token, fork=False):
            self._words.append(e.ContextLost(launch=self.launch, why=why))
        self._token = token
        self._words.append(e.TokenLearned(launch=self.launch, token=token))
        await self._flush()

    async def _of_itself(self, said: Moment) -> None:
        self._spoken_of_itself = True
        self._ready.set()
        if said.name == "SessionStart":
            if said.id != self._token:
                self._record.forget()
            await self._named(Token(said.id))
        elif said.name in ("Stop", "StopFailure"):
            self._stop, self._stop_at = said, _clock()
        elif said.name == "Notification" and "permission" in (said.kind or said.message):
            await self._question(said.message)

    async def _question(self, text: str) -> None:
        self._questions += 1
        id = DecisionId(f"{self.name}-{self._questions}-{self._moments.offset}")
        asked = Decision(
            id=id, kind=PERMISSION, text=text, options=("yes", "no"), launch=self.launch
        )
        self._asking = id
        self._words.append(e.DecisionAsked(decision=asked))
        await self._flush()

    async def answer(self, decision: DecisionId, answer: str) -> None:
        if decision == self._asking:
            self._asking = None
            await self._terminals.press(self.name, *(("1",) if answer in GRANTS else ("Escape",)))

    # --- the end of a turn ------------------------------------------------------------------------

    async def _settle(self) -> None:
        account, now = self._account, _clock()
        if self.run is None or account is None:
            return
        if self._stop is not None:
            whole = (self._stop.last or "").strip() in ("", account.last.strip())
            if whole or now - self._stop_at > self._waits.last_line:
                await self._stopped(self._stop, whole=whole)
        elif self._soft:
            if now - self._soft_at > self._waits.soft:
                await self._finish(Over())
        elif self._may_be_done(account) and now - self._heard_at > self._waits.settle / 2:
            if await self._still.for_seconds(self._waits.settle / 2):
                await self._seen_to_be_done(account)
        elif not self._arrived and now - self._heard_at > self._waits.lost:
            await self._ask_to_look()
        elif now - self._heard_at > self._waits.quiet and not self._quiet_said:
            self._quiet_said = True
            minutes = round(self._waits.quiet / 60)
            await self._notice(
                "agent_quiet", f"Nothing was heard from the agent for {minutes} minutes."
            )

    async def _ask_to_look(self) -> None:
        """It shows something that we do not know: a question about trust, a login."""
        if self._record.readable and not self._quiet_said:
            self._quiet_said = True
            shown = ending.last_line(await self._terminals.screen(self.name))
            text = (
                f"The agent has not taken the prompt yet: hold attach {self._id}. It shows: {shown}"
            )
            await self._notice("agent_waits", text)

    def _may_be_done(self, account: Account) -> bool:
        """By the screen alone: only where nothing better is to be had."""
        return not self._spoken_of_itself and (account.answered or not self._record.readable)

    async def _seen_to_be_done(self, account: Account) -> None:
        if not self._record.readable:
            self._words += account.hear(AgentSaid(text=await self._terminals.screen(self.name)))
        await self._finish(Over())

    async def _stopped(self, stop: Moment, *, whole: bool) -> None:
        """It said so itself. What it said last may never get into its record."""
        assert self._account is not None
        self._stop = None
        failed = stop.name == "StopFailure"
        if not whole and stop.last and not failed:
            self._words += self._account.hear(AgentSaid(text=stop.last))
        message = stop.last or str(stop.error or "") if failed else ""
        await self._finish(Over(failed=failed, message=message))

    async def _finish(self, over: Over) -> None:
        if self.run is None or self._account is None:
            return
        self._words += self._account.close()
        if self._asking is not None:
            why = "it was answered in the terminal"
            self._words.append(e.DecisionDismissed(decision=self._asking, why=why))
            self._asking = None
        await self._flush()
        run, self.run, self._account, self._soft = self.run, None, None, False
        self._run_over.set()
        over = Over(cancelled=True) if self.interrupting else over
        await self._submit(over_report(over, launch=self.launch, run=run, now=self._now()))

    async def _left(self) -> bool:
        """The program is gone: what it left in its record was read. False: nobody can tell yet."""
        try:
            pane = await self._terminals.find(self.name)
            screen = await self._terminals.screen(self.name)
            await self._terminals.end(self.name, self.cookie)
        except OSError as error:
            LOG.warning("session %s: whether its agent is gone is unclear: %s", self._id, error)
            return False
        self._run_over.set()
        await self._tell_end(pane, screen)
        self._marks.forget(self.name)
        return True

    async def _tell_end(self, pane: Pane | None, screen: str) -> None:
        if pane is None:  # nobody saw how: the machine went down, or its tmux
            await self._submit(i.OwnerLost(alive=False))
            return
        left = Ending(code=pane.code, signal=pane.signal, screen=screen)
        refused = last_words(screen, self._manner.unknown) if self._asked else ""
        if refused and not self._arrived:
            await self._submit(i.TokenRefused(launch=self.launch, why=refused))
        else:
            await self._submit(left.report(self.launch, now=self._now()))

    # --- what is done to it -------------------------------------------------------------------------

    async def come_up(self) -> str:
        """Why it did not; empty: it is ready."""
        until = _clock() + self._waits.ready
        while _clock() < until:
            if self.task is None or self.task.done():
                return "gone"
            still = await self._still.for_seconds(self._waits.still)
            asks = self._manner.hooks and _clock() < until - self._waits.ready + self._waits.hooks
            if self._ready.is_set() or (still and not asks):
                return ""
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(0.1):
                    await self._ready.wait()
        return f"The agent did not come up within {self._waits.ready:.0f} s."

    @property
    def token(self) -> Token | None:
        return self._token

    async def say(self, text: str) -> None:
        """Pasted, then sent. If it is not in the record after a while, the key was lost: once more."""
        await self._terminals.paste(self.name, text)
        await self._still.for_change(self._waits.paste)
        await self._terminals.press(self.name, "Enter")
        run = self.run
        until = _clock() + self._waits.arrive
        while self._record.readable and self.run == run and not self._arrived:
            if _clock() > until:
                await self._terminals.press(self.name, "Enter")
                return
            await asyncio.sleep(0.05)

    async def again(self, text: str) -> None:
        """Handed over already, perhaps. Only where its record proves that it never arrived, once more."""
        mark = self._marks.read(self.name)
        if mark is not None and mark.argument:
            return
        until = _clock() + self._waits.lost
        while not self._arrived and self._record.readable:
            if _clock() > until and await self._still.for_seconds(self._waits.still):
                await self.say(text)
                return
            await asyncio.sleep(0.05)

    async def interrupt(self) -> bool:
        """As a person would. False: it did not listen."""
        self.interrupting = True
        await self._terminals.press(self.name, *self._manner.interrupt)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._waits.interrupt):
                await self._run_over.wait()
        return self._run_over.is_set()

    async def leave(self) -> None:
        """Nobody listens any more; the agent lives on."""
        if self.task is not None:
            self.task.cancel()
            await asyncio.gather(self.task, return_exceptions=True)

    async def _flush(self) -> None:
        words, self._words = self._words, []
        if words:
            await self._submit(i.Heard(launch=self.launch, events=tuple(words)))

    async def _notice(self, kind: str, text: str) -> None:
        self._words.append(e.Notice(kind=kind, text=text))
        await self._flush()


def _clock() -> float:
    return time.monotonic()
