"""Which failures of a provider are worth another try, and when (SPEC B7)."""

import random

from holdfast.agents.builtin.model import ModelFailed
from holdfast.core.session import ErrorClass
from holdfast.ports import Clock

WAITS = (5_000, 10_000, 20_000, 40_000, 60_000)  # ms
LONGEST = 60_000  # a wait that is longer is not waited: the run stops and says when it may go on
WORTH_IT = frozenset({ErrorClass.RATE_LIMITED, ErrorClass.OVERLOADED, ErrorClass.NETWORK})


class Retry:
    def __init__(self, clock: Clock) -> None:
        self.attempt = 1
        self._random = random.Random(clock.now())  # noqa: S311  spreads herds, guards nothing

    def wait(self, failed: ModelFailed) -> int | None:
        """Milliseconds until the next try; None: it is no use, or too long."""
        if failed.error not in WORTH_IT or self.attempt > len(WAITS):
            return None
        floor = failed.retry_after_ms or 0
        if floor > LONGEST:
            return None
        usual = WAITS[self.attempt - 1]
        self.attempt += 1
        return int(max(floor, usual) * self._random.uniform(1.0, 1.2))
