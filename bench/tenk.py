"""10,000 sessions of 100 events: what a start costs when much has been before.

    python -m bench.tenk build FOLDER   make the store
    python -m bench.tenk open FOLDER    open it, find the live sessions, know what each needs

Each prints one JSON line. `open` is a new process, so its peak memory is its own.
"""

import sys
from pathlib import Path

SESSIONS = 10_000
EVENTS_EACH = 100
LIVE = 200


def build(folder: Path) -> dict[str, float]:
    """Keys: sessions, live."""
    raise NotImplementedError("bench.tenk build is not written yet")


def open_store(folder: Path) -> dict[str, float]:
    """Keys: sessions, live, wall, peak_rss_mb; and events_read when the store can count it."""
    raise NotImplementedError("bench.tenk open is not written yet")


def main() -> None:
    """Do what the command line says."""
    from bench.measure import say

    match sys.argv[1:]:
        case ["build", folder]:
            say(**build(Path(folder)))
        case ["open", folder]:
            say(**open_store(Path(folder)))
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main()
