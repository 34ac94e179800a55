"""Random kill -9: three processes drive the same sessions on one database and are killed at any time."""

import os
import random
import signal
import time
from pathlib import Path

from holdfast.core.ids import SessionId
from tests.faults.boundaries import Tally
from tests.faults.killing import MakeJournal, live, place, sqlite_in, start, verdict
from tests.faults.scenario import session_ids

PROCESSES = 3
SESSIONS = 4  # for each kill, so that there is always work left


def one_round(
    seed: int, kills: int, *, make: MakeJournal = sqlite_in, real_disk: bool = False
) -> Tally:
    rng = random.Random(seed)
    ids = session_ids("c", SESSIONS * kills)
    with place(real_disk=real_disk) as folder:
        assert not live(make, folder, ids[:1], None)  # the tables are there; one session is old
        done = 0
        running = {_begin(make, folder, ids) for _ in range(PROCESSES)}
        try:
            while done < kills and running:
                time.sleep(rng.uniform(0.005, 0.08))
                victim = rng.choice(sorted(running))
                running.discard(victim)
                done += _kill(victim)
                running.add(_begin(make, folder, ids))
        finally:
            for pid in running:
                _kill(pid)
        assert not live(make, folder, ids, None)
        found = verdict(make, folder, ids)
    return Tally("random, three processes").plus(done, found)


def _begin(make: MakeJournal, folder: Path, ids: list[SessionId]) -> int:
    return start(make, folder, ids, kill_at=None, shared=True)


def _kill(pid: int) -> bool:
    """True if it was still at work."""
    os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) != 0:
        raise AssertionError(pid)
    return os.WIFSIGNALED(status)
