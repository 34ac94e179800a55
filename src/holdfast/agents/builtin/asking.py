"""The questions that a run puts to its user, and their answers, in whichever order they come.

An answer may be here before anybody waits for it: a question survives the run that asked it, and is
answered while the next one is still being put together.
"""

import asyncio

from holdfast.core.ids import DecisionId
from holdfast.ports import Clock


class Questions:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._answers: dict[DecisionId, asyncio.Future[str]] = {}
        self.waited = 0  # ms; the wall-clock limit stands still meanwhile (SPEC B11)

    def answered(self, id: DecisionId, answer: str) -> None:
        future = self._future(id)
        if not future.done():
            future.set_result(answer)

    async def answer(self, id: DecisionId) -> str:
        begun = self._clock.now()
        try:
            return await self._future(id)
        finally:
            self.waited += self._clock.now() - begun

    def _future(self, id: DecisionId) -> asyncio.Future[str]:
        future = self._answers.get(id)
        if future is None:
            future = self._answers[id] = asyncio.get_running_loop().create_future()
        return future
