"""The floor's cold load: python -m bench.floor_load FOLDER.

A module of its own with hardly an import, so that what is timed as import is all there is.
"""

# ruff: noqa: E402
import time

STARTED_CPU = time.process_time()

import json
import sqlite3
import sys

IMPORT_CPU = time.process_time() - STARTED_CPU


def main() -> None:
    """Read every row and parse it."""
    wall, cpu = time.perf_counter(), time.process_time()
    db = sqlite3.connect(f"{sys.argv[1]}/floor.db")
    history = [json.loads(body) for (body,) in db.execute("SELECT body FROM event ORDER BY id")]
    db.close()
    measured = {
        "import_cpu": IMPORT_CPU,
        "load_wall": time.perf_counter() - wall,
        "load_cpu": time.process_time() - cpu,
        "messages": len(history),
    }
    print(json.dumps(measured))


if __name__ == "__main__":
    main()
