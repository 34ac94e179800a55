"""What is known of the turn that an agent in a terminal is at."""

import time

from holdfast.agents.terminal.account import Account
from holdfast.agents.terminal.hooks import Moment
from holdfast.agents.terminal.record import Sign
from holdfast.core.ids import RunNumber


def clock() -> float:
    return time.monotonic()


class Turn:
    def __init__(
        self, run: RunNumber, account: Account, *, words: str, arrived: bool = False
    ) -> None:
        self.run, self.account = run, account
        self.words = words  # the gist of its prompt
        self.arrived = arrived  # the prompt is in its record
        self.early: list[Sign] = []  # what came before that: an earlier turn's, most likely
        self.interrupting = False
        self.soft_at: float | None = None  # its record said words that may be the last
        self.stop: Moment | None = None  # it said itself that it is done
        self.stop_at = self.heard_at = clock()
        self.quiet_said = False

    def heard(self) -> None:
        self.soft_at, self.quiet_said = None, False
        self.arrived, self.heard_at = True, clock()
        self.early = []

    def stopped(self, said: Moment) -> None:
        self.stop, self.stop_at = said, clock()

    def silent_for(self, seconds: float) -> bool:
        return clock() - self.heard_at > seconds
