"""From what an agent's record says to the journal's words: rounds, saved text, calls, results.

Rule 1: the same lines give the same words, whoever reads them and however often: so a reader that begins
again after a crash says what was said before, and the core knows what is still news.
Rule 2: rounds that the journal has gone past are not said again: of a result alone nobody could tell.
Rule 3: a call is journaled when we hear of it. The agent ran it by itself: no intent of ours came first,
so one without a result is unknown.
Rule 4: what is said while a call is open waits for its result: it belongs to the next round.
"""

from typing import assert_never

from holdfast.agents.oneshot.teller import PURE
from holdfast.agents.terminal.beside import About
from holdfast.core import events as e
from holdfast.core import inputs as i
from holdfast.core.adoption import AgentSaid, CallDone, CallMade, Turn, UserSaid
from holdfast.core.budget import Usage, add
from holdfast.core.ids import CallId, RoundNumber
from holdfast.core.session import Call, EffectClass


class Account:
    """Of one run. `round` is the last one before it, `known` the last that the journal has."""

    def __init__(self, round: RoundNumber, *, known: RoundNumber) -> None:
        self._round, self._known = round, known
        self._speaking = False
        self._part = 0
        self._open: set[str] = set()
        self._held: list[AgentSaid] = []
        self._spent, self._model = Usage(), ""
        self._message_id: str | None = None
        self._counted: set[str] = set()
        self.last = ""  # the last words

    @property
    def answered(self) -> bool:
        """It has said something and waits for nothing."""
        return self._speaking and not self._open

    def know(self, about: About) -> None:
        """What a response cost comes with its words, or after them: then the next one has it."""
        self._model = about.model or self._model
        self._message_id = about.message_id or self._message_id
        if not about.key:
            self._spent = self._spent if about.usage == Usage() else about.usage
        elif about.key not in self._counted:
            self._counted.add(about.key)
            self._spent = add(self._spent, about.usage)

    def hear(self, turn: Turn) -> list[i.Reportable]:
        said = self._hear(turn)
        return said if self._round >= self._known else []

    def close(self) -> list[i.Reportable]:
        """The turn is over: what it said last is whole."""
        held, self._held = self._held, []
        self._open.clear()
        said = [word for turn in held for word in self._spoke(turn)]
        return [*said, *self._finished()] if self._round >= self._known else []

    def _hear(self, turn: Turn) -> list[i.Reportable]:
        match turn:
            case UserSaid():
                return []
            case AgentSaid():
                if self._open:
                    self._held.append(turn)
                    return []
                return self._spoke(turn)
            case CallMade():
                return self._called(turn)
            case CallDone():
                return self._done(turn)
            case _:
                assert_never(turn)

    def _spoke(self, turn: AgentSaid) -> list[i.Reportable]:
        words: list[i.Reportable] = [] if self._speaking else self._begun()
        for kind, text in ((e.ThinkingSaved, turn.thinking), (e.TextSaved, turn.text)):
            if text:
                words.append(kind(round=self._round, text=text, part=self._part))
                self._part += 1
        self.last = turn.text or self.last
        return words

    def _called(self, turn: CallMade) -> list[i.Reportable]:
        before = [] if self._speaking or self._open else self._begun()
        ended = self._finished()
        self._open.add(turn.id)
        effect = EffectClass.PURE if turn.name in PURE else EffectClass.UNSAFE
        call = Call(id=CallId(turn.id), name=turn.name, arguments=turn.arguments, effect=effect)
        return [*before, *ended, e.CallObserved(round=self._round, call=call)]

    def _done(self, turn: CallDone) -> list[i.Reportable]:
        if turn.id not in self._open:
            return []
        self._open.discard(turn.id)
        done = e.CallFinished(call=CallId(turn.id), output=turn.output, failed=turn.failed)
        held, self._held = ([], self._held) if self._open else (self._held, [])
        return [done, *(word for turn_ in held for word in self._spoke(turn_))]

    def _begun(self) -> list[i.Reportable]:
        self._round = RoundNumber(self._round + 1)
        self._speaking, self._part = True, 0
        return [e.RoundStarted(round=self._round)]

    def _finished(self) -> list[i.Reportable]:
        if not self._speaking:
            return []
        self._speaking = False
        spent, self._spent = self._spent, Usage()
        done = e.ResponseFinished(
            round=self._round, usage=spent, model=self._model, message_id=self._message_id
        )
        return [done]
