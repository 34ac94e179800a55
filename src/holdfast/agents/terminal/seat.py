"""One life of an agent in a terminal, and whoever listens to it.

Rule 1: what it does is read from its own record as it grows; a turn's end from what it says of itself
(hooks.py), from the record, and last from a screen on which nothing moves and nothing says that it works.
Rule 2: the first prompt in the record after our mark is ours: evidence that it arrived, no input (A9).
Any other was typed by whoever sits at the terminal, and is an input like any other.
Rule 3: to stop listening ends nothing: the agent lives on, and the next listener begins at the mark.
Rule 4: it is gone when its whole tree is. Only then is its end told.
"""

import asyncio
import logging
import time
from collections.abc import Callable

from holdfast.agents.terminal import ending
from holdfast.agents.terminal.account import Account
from holdfast.agents.terminal.asking import Asking
from holdfast.agents.terminal.beside import About, Over
from holdfast.agents.terminal.ending import Ending, complaint, last_words, over_report
from holdfast.agents.terminal.following import Following
from holdfast.agents.terminal.hooks import Moment, moment
from holdfast.agents.terminal.manner import Manner, Waits
from holdfast.agents.terminal.place import Mark, Marks, gist
from holdfast.agents.terminal.record import Sign
from holdfast.agents.terminal.screen import Screen
from holdfast.agents.terminal.seam import Pane, Submit, Terminals
from holdfast.agents.terminal.tail import Bell, Tail
from holdfast.agents.terminal.turn import Turn, clock
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
from holdfast.core.session import Session
from holdfast.core.value import replace
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
        token: Token | None,
        asked: Token | None = None,
    ) -> None:
        self.launch, self.name = launch, f"{session.id}-{launch}"
        self.cookie = f"{session.id}:{launch}"
        self.manner, self.terminals, self.marks, self.waits = manner, terminals, marks, waits
        self.token, self._other = token, session.token if session.token != token else None
        self._id, self._asked, self._submit, self._now = session.id, asked, submit, now
        self._bell = Bell()
        self.record = Following(manner, self._bell, since=time.time() - 1)
        words = {"busy": manner.busy, "asks": manner.asks, "idle": manner.idle}
        self.screen = Screen(terminals, self.name, **words)
        self._moments = Tail(marks.moments(self.name))
        self._asking = Asking(self.name, launch, manner)
        self._asking.pending = next((d.id for d in session.decisions if d.launch == launch), None)
        self._words: list[i.Reportable] = []
        self._spoken_of_itself = self._proved = self._caught_up = False
        self.unseen: set[str] = set()  # prompts of ours that its record may still tell of
        self._looked_at = clock()
        self.turn: Turn | None = None
        self.pid = 0
        self.ready, self.run_over = asyncio.Event(), asyncio.Event()
        self.task: asyncio.Task[None] | None = None

    # --- runs -------------------------------------------------------------------------------------

    @property
    def run(self) -> RunNumber | None:
        return self.turn.run if self.turn is not None else None

    def mark(self, run: RunNumber, round: RoundNumber, words: str, *, given: bool = False) -> None:
        """Before the prompt is handed over. `given`: as an argument of its program."""
        other = self._other if self.token is None else None
        mark = Mark(run=run, round=round, argument=given, other=other, words=gist(words))
        mark = replace(mark, offset=self.record.offset, at=self.record.since)
        self.marks.write(self.name, mark)
        self.begin(mark, known=round)

    def begin(self, mark: Mark, *, known: RoundNumber) -> None:
        account = Account(RoundNumber(mark.round), known=known)
        self.turn = Turn(RunNumber(mark.run), account, words=mark.words, arrived=mark.typed)
        self.run_over.clear()

    def read_from(self, offset: int) -> None:
        self.record.start_at = offset

    def listen(self, pid: int) -> None:
        self.pid = pid
        self.task = asyncio.create_task(self._follow())

    async def leave(self) -> None:
        """Nobody listens any more; the agent lives on."""
        if self.task is not None:
            self.task.cancel()
            await asyncio.gather(self.task, return_exceptions=True)

    async def _follow(self) -> None:
        """The journal may fail or be another's: then nobody here listens any more."""
        try:
            while True:
                gone = self.terminals.ended(self.name, self.pid)
                await self._hear_all()
                if gone and await self._left():
                    return
                await self._settle()
                self._bell.watch(self.terminals.folder)
                self._bell.watch(self.marks.folder)
                await self._bell.wait(self.waits.soft / 2, blind=self._searching())
        except JournalError as error:
            LOG.warning("session %s: nobody listens to its agent: %s", self._id, error)
        except Exception:
            LOG.exception("session %s: its agent cannot be followed", self._id)
        finally:
            await self._bell.close()

    def _searching(self) -> bool:
        """A record is about to appear, nobody knows where."""
        soon = self.turn is not None and not self.turn.silent_for(self.waits.arrive)
        return self.record.readable and not self.record.found and soon

    async def _hear_all(self) -> None:
        """Its moments are read first and, all but its name, heard last: what it wrote down before them is
        then known."""
        found = [(moment(line), end) for line, end in await self._moments.read() if line]
        said = [(what, end) for what, end in found if what is not None]
        for what, _ in said:
            await self._named_itself(what)
        await self._locate()
        for signs, end in await self.record.read():
            for sign in signs:
                await self._sign(sign, end)
        await self._flush()
        for what, end in said:
            await self._of_itself(what, end)
        self._caught_up = True

    async def _locate(self) -> None:
        """Under the id that we know, or under another that it took silently."""
        if not self.record.found and self.token is not None:
            self.record.look_for(self.token)
        turn = self.turn
        late = turn is not None and not turn.arrived and turn.silent_for(self.waits.arrive)
        if self.token is None or (late and not self._spoken_of_itself):
            token = self.record.look_for_another(than=self.token)
            if token is not None:
                await self._named(token)

    # --- signs ------------------------------------------------------------------------------------

    async def _sign(self, sign: Sign | e.Notice, end: int) -> None:
        turn = self.turn
        if isinstance(sign, e.Notice):
            self._words.append(sign)
        elif isinstance(sign, UserSaid):
            await self._flush()
            await self._prompted(sign.text, end)
        elif turn is None:
            pass
        elif isinstance(sign, About):
            turn.account.know(sign)
        elif not turn.arrived:
            turn.early.append(sign)
        elif isinstance(sign, Over):
            await self._flush()
            if sign.soft:
                turn.soft_at = clock()
            else:
                await self._finish(sign)
        else:
            turn.heard()
            self._words += turn.account.hear(sign)

    async def _take_early(self, turn: Turn) -> None:
        """Its record never says that the prompt arrived; but whoever answers has heard it."""
        early, turn.early = turn.early, []
        turn.heard()
        for sign in early:
            await self._sign(sign, 0)
        await self._flush()

    async def _prompted(self, text: str, end: int) -> None:
        self._proved = True
        if gist(text) in self.unseen:  # of a turn that is over: it was written late
            self.unseen.discard(gist(text))
        elif self.turn is not None and self.turn.arrived:
            self._words.append(e.Notice(kind="typed", text=f"Typed in the terminal: {text}"))
        elif self.turn is not None:
            self.turn.heard()
        else:
            typed = i.PromptTyped(
                launch=self.launch, input=InputId(f"typed-{self.launch}-{end}"), text=text
            )
            session: Session = (await self._submit(typed)).session
            if session.run is not None:
                run, round = session.run.number, session.round
                mark = Mark(run=run, round=round, offset=end, typed=True)
                self.marks.write(self.name, mark)
                self.begin(mark, known=round)

    async def _named(self, token: Token) -> None:
        """SPEC E5: several agents silently begin another conversation than the one asked for."""
        if not token or token == self.token:
            return
        if why := not_back(self._asked, token, fork=False):
            self._words.append(e.ContextLost(launch=self.launch, why=why))
        self.token = token
        self._words.append(e.TokenLearned(launch=self.launch, token=token))
        await self._flush()

    async def _named_itself(self, said: Moment) -> None:
        self._spoken_of_itself = True
        self.ready.set()
        if said.name == "SessionStart":
            if said.id != self.token:
                self.record.forget()
            await self._named(Token(said.id))

    async def _of_itself(self, said: Moment, end: int) -> None:
        if said.name == "UserPromptSubmit" and self.turn is not None:
            self.turn.stop = None  # that was an earlier turn's
        elif said.name in ("Stop", "StopFailure") and self.turn is not None:
            self.turn.stopped(said)
        elif said.name == "Notification" and "permission" in (said.kind or said.message):
            shown = await self.screen.look()
            if self._caught_up and (self.screen.asking or not self.manner.asks):
                await self._ask(said.message, shown, f"{end}")

    # --- questions --------------------------------------------------------------------------------

    async def _ask(self, said: str, shown: str, place: str) -> None:
        if self._asking.pending is None:
            self._words += self._asking.ask(said, shown, place)
            await self._flush()

    async def answer(self, decision: DecisionId, answer: str) -> None:
        keys = self._asking.keys(decision, answer)
        if keys:
            await self.terminals.press(self.name, *keys)

    async def _look_for_questions(self, turn: Turn) -> None:
        """Where the screen is known to say so. One that was answered there is no question any more."""
        quiet = turn.silent_for(self.waits.still) and clock() - self._looked_at > self.waits.still
        if not self.manner.asks or not quiet:
            return
        shown = await self.screen.look()
        self._looked_at = clock()
        if self.screen.asking:
            await self._ask("The agent asks on its screen:", shown, f"at-{self.record.offset}")
            self._asking.seen = True
        elif self._asking.seen:
            self._words += self._asking.gone("it was answered in the terminal")
            await self._flush()

    # --- the end of a turn ------------------------------------------------------------------------

    async def _settle(self) -> None:
        turn, waits = self.turn, self.waits
        if turn is None:
            return
        await self._look_for_questions(turn)
        if turn.early and turn.silent_for(waits.late):
            await self._take_early(turn)
        elif turn.stop is not None:
            whole = (turn.stop.last or "").strip() in ("", turn.account.last.strip())
            if whole or clock() - turn.stop_at > waits.last_line:
                await self._stopped(turn, turn.stop, whole=whole)
        elif turn.soft_at is not None:
            if clock() - turn.soft_at > waits.soft:
                await self._finish(Over())
        elif await self._shows_an_end(turn):
            await self._seen_to_be_done(turn)
        else:
            await self._wonder(turn)

    async def _wonder(self, turn: Turn) -> None:
        """It has been silent for long. Said once."""
        if turn.quiet_said:
            return
        if not turn.arrived and turn.silent_for(self.waits.lost):
            await self._ask_to_look(turn)
        elif turn.silent_for(self.waits.quiet):
            turn.quiet_said = True
            text = f"Nothing was heard from the agent for {round(self.waits.quiet / 60)} minutes."
            await self._notice("agent_quiet", text)

    async def _ask_to_look(self, turn: Turn) -> None:
        """It shows something that we do not know: a question about trust, a login."""
        if self.record.readable and self._asking.pending is None:
            turn.quiet_said = True
            shown = ending.last_line(await self.screen.look())
            text = (
                f"The agent has not taken the prompt yet: hold attach {self._id}. It shows: {shown}"
            )
            await self._notice("agent_waits", text)

    async def _shows_an_end(self, turn: Turn) -> bool:
        patience = self._patience(turn)
        silent = self._may_be_done(turn) and turn.silent_for(patience)
        return silent and await self.screen.idle_for(patience)

    def _may_be_done(self, turn: Turn) -> bool:
        """By the screen alone: where it shows that it waits for words, or nothing better is to be had."""
        if self.manner.idle:
            return turn.arrived
        return not self._spoken_of_itself and (turn.account.answered or not self.record.readable)

    def _patience(self, turn: Turn) -> float:
        sure = turn.account.answered and not self._spoken_of_itself
        if turn.interrupting:
            return self.waits.still
        return self.waits.settle / 2 if sure or not self.record.readable else 2 * self.waits.settle

    async def _seen_to_be_done(self, turn: Turn) -> None:
        if not self.record.readable:
            self._words += turn.account.hear(AgentSaid(text=self.screen.shown))
        elif not turn.account.answered:
            wrong = complaint(self.screen.shown, self.manner.errors)
            await self._finish(Over(failed=bool(wrong), cancelled=not wrong, message=wrong))
            return
        await self._finish(Over())

    async def _stopped(self, turn: Turn, stop: Moment, *, whole: bool) -> None:
        """It said so itself. What it said last may never get into its record."""
        turn.stop = None
        failed = stop.name == "StopFailure"
        if not whole and stop.last and not failed:
            self._words += turn.account.hear(AgentSaid(text=stop.last))
        message = stop.last or str(stop.error or "") if failed else ""
        await self._finish(Over(failed=failed, message=message))

    async def _finish(self, over: Over) -> None:
        turn = self.turn
        if turn is None:
            return
        self._words += turn.account.close()
        self._words += self._asking.gone("it was answered in the terminal")
        await self._flush()
        self.turn = None
        self.unseen |= set() if turn.arrived else {turn.words}
        self.run_over.set()
        over = Over(cancelled=True) if turn.interrupting else over
        await self._submit(over_report(over, launch=self.launch, run=turn.run, now=self._now()))
        if turn.arrived:
            self.marks.passed(self.name, self.record.offset)

    async def _left(self) -> bool:
        """The program is gone: what it left in its record was read. False: nobody can tell yet."""
        try:
            pane = await self.terminals.find(self.name)
            screen = await self.terminals.screen(self.name)
            await self.terminals.end(self.name, self.cookie)
        except OSError as error:
            LOG.warning("session %s: whether its agent is gone is unclear: %s", self._id, error)
            return False
        self.run_over.set()
        await self._tell_end(pane, screen)
        self.marks.forget(self.name)
        return True

    async def _tell_end(self, pane: Pane | None, screen: str) -> None:
        if pane is None:  # nobody saw how: the machine went down, or its tmux
            await self._submit(i.OwnerLost(alive=False))
            return
        left = Ending(code=pane.code, signal=pane.signal, screen=screen)
        refused = last_words(screen, self.manner.unknown) if self._asked else ""
        if refused and not self._proved:
            await self._submit(i.TokenRefused(launch=self.launch, why=refused))
        else:
            await self._submit(left.report(self.launch, now=self._now()))

    async def _flush(self) -> None:
        words, self._words = self._words, []
        if words:
            await self._submit(i.Heard(launch=self.launch, events=tuple(words)))

    async def _notice(self, kind: str, text: str) -> None:
        self._words.append(e.Notice(kind=kind, text=text))
        await self._flush()
