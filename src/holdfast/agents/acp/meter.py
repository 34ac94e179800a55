"""A turn held against its limits: whether one is reached is the core's to say (core/halt.py)."""

from collections.abc import Callable

from holdfast.core import halt
from holdfast.core.budget import Exceeded
from holdfast.core.session import Session


class Meter:
    def __init__(self, session: Session, now: Callable[[], int]) -> None:
        self.session, self._now = session, now
        self.over: Exceeded | None = None  # why the turn is being ended
        self._began, self._waited, self._asked = now(), 0, 0

    def begin(self, session: Session) -> None:
        self.session, self.over = session, None
        self._began, self._waited, self._asked = self._now(), 0, 0

    def asking(self, *, open: bool) -> None:
        """Whether a person is being waited for: that time is not the agent's."""
        if open and not self._asked:
            self._asked = self._now()
        elif not open and self._asked:
            self._waited += self._now() - self._asked
            self._asked = 0

    @property
    def elapsed(self) -> int:
        until = self._asked or self._now()
        return until - self._began - self._waited

    @property
    def left(self) -> float | None:
        """Seconds. None: it has all the time."""
        run = self.session.run
        limit = run.limits.wall_ms if run else None
        return (limit - self.elapsed) / 1000 if limit else None

    def reached(self) -> Exceeded | None:
        return halt.reached(self.session, elapsed_ms=self.elapsed)

    def near(self) -> tuple[str, int] | None:
        return halt.near(self.session, elapsed_ms=self.elapsed)
