"""What a command costs before it does anything: CPU over bare Python (SPEC I4).

python bench/startup.py: makes a state folder with 1,000 sessions, then times `--help`, `ls`, `status`.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from holdfast.client import Client

BIN = Path(sys.executable).parent
RUNS, SESSIONS = 15, 1000
LIMITS = {"--help": 100, "ls": 150}  # ms over bare Python


def cpu(command, environ):
    """Milliseconds of CPU: (median, least)."""
    found = []
    for _ in range(RUNS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, env=environ, capture_output=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        found.append(spent * 1000)
    return statistics.median(found), min(found)


def main():
    with tempfile.TemporaryDirectory() as folder:
        environ = {**os.environ, "HOLDFAST_HOME": folder}
        begun = time.monotonic()
        subprocess.run([BIN / "hold", "up", "--no-open"], env=environ, check=True)
        print(f"up: {(time.monotonic() - begun) * 1000:.0f} ms until the link")
        for n in range(SESSIONS):
            if n % 100 == 0:
                client = Client(Path(folder))  # a client may give 120 commands a minute
            body = {"folder": folder, "here": True, "git": False, "title": f"session {n}"}
            client.call("POST", "/api/sessions", {**body, "model": "scripted:/dev/null"})
        bare = cpu([sys.executable, "-c", "pass"], environ)
        for name in ("--help", "ls", "ls --json", "status"):
            median, least = cpu([BIN / "hold", *name.split()], environ)
            limit = f"  (at most {LIMITS[name]})" if name in LIMITS else ""
            print(f"{name:10} +{median - bare[0]:.0f} ms, least +{least - bare[1]:.0f}{limit}")
        subprocess.run([BIN / "hold", "down"], env=environ, check=True)


if __name__ == "__main__":
    main()
