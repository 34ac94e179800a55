"""For agents that say what they do but not where a response begins and ends: that is told from order.

Text after a result, or at the start, begins a response; a call, or the turn's end, ends it.
"""

from holdfast.agents.oneshot import signs as g
from holdfast.core.budget import Usage

NOTHING = Usage()


class Responses:
    def __init__(self) -> None:
        self._open = False
        self._calling = False  # its calls are coming

    def speak(self, text: str, *, part: int = 0, thinking: bool = False) -> list[g.Sign]:
        begin: list[g.Sign] = [] if self._open else [g.Began()]
        self._open, self._calling = True, False
        return [*begin, g.Spoke(text=text, part=part, thinking=thinking)]

    def call(self, call: str, name: str, arguments: str) -> list[g.Sign]:
        """Told at once: the agent is already running it."""
        asked = g.Asked(call=call, name=name, arguments=arguments)
        if self._calling:
            return [asked]
        begin: list[g.Sign] = [] if self._open else [g.Began()]
        self._open, self._calling = False, True
        return [*begin, g.Done(), asked]

    def result(self, call: str, output: str, *, failed: bool) -> list[g.Sign]:
        self._calling = False
        return [g.Result(call=call, output=output, failed=failed)]

    def end(self, usage: Usage = NOTHING, model: str = "") -> list[g.Sign]:
        was_open, self._open, self._calling = self._open, False, False
        return [g.Done(usage=usage, model=model)] if was_open else []
