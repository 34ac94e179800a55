"""What it costs to begin: a command, the daemon, and 1,000 sessions that do nothing (SPEC I4).

python bench/start.py: makes a state folder with 1,000 sessions, then times `--help`, `ls`, `status`, a
daemon's way to its first answer, and its memory at rest. Each is put beside bare Python, in one run.
CPU is the honest number on a busy machine; bytecode is kept, as after any first start.
"""

import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from holdfast.client import Client

BIN = Path(sys.executable).parent
RUNS, SESSIONS, STARTS = 15, 1000, 5
LIMITS = {"--help": 100, "ls": 150}  # ms over bare Python
READY = 1000  # ms until a daemon answers
PATIENCE = 30.0


def cpu(command, environ):
    """Milliseconds of CPU, and of waiting: medians."""
    spent, waited = [], []
    for _ in range(RUNS):
        before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        subprocess.run(command, env=environ, capture_output=True, check=False)
        waited.append((time.monotonic() - begun) * 1000)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        spent.append(used * 1000)
    return statistics.median(spent), statistics.median(waited)


def start(folder, environ):
    """A daemon, from nothing to its first answer: (process, waited ms, CPU ms)."""
    begun, client = time.monotonic(), Client(folder)
    command = [BIN / "hold", "up", "--foreground", "--port", "0"]
    process = subprocess.Popen(command, env=environ, stderr=subprocess.DEVNULL)
    while not client.answers():
        if process.poll() is not None or time.monotonic() > begun + PATIENCE:
            raise SystemExit("the daemon did not start")
        time.sleep(0.005)
    waited = (time.monotonic() - begun) * 1000
    return process, waited, _cpu_of(process.pid)


def _cpu_of(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def _memory(pid):
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024


def fill(folder):
    for n in range(SESSIONS):
        if n % 100 == 0:
            client = Client(folder)  # a client may give 120 commands a minute
        body = {"folder": str(folder), "here": True, "git": False, "title": f"session {n}"}
        client.call("POST", "/api/sessions", {**body, "model": "scripted:/dev/null"})


def commands(environ):
    bare, bare_wait = cpu([sys.executable, "-c", "pass"], environ)
    print(f"{'bare python':14} {bare:5.0f} ms CPU {bare_wait:6.0f} ms")
    for name in ("--help", "ls", "ls --json", "status"):
        spent, waited = cpu([BIN / "hold", *name.split()], environ)
        limit = LIMITS.get(name)
        verdict = f"  at most +{limit}: {'ok' if spent - bare <= limit else 'NO'}" if limit else ""
        print(
            f"{name:14} {spent:5.0f} ms CPU {waited:6.0f} ms"
            f"  +{spent - bare:.0f} ms, {spent / bare:.1f} x bare{verdict}"
        )


def main():
    environ = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environ["HOLDFAST_HOME"] = name
        process, *_ = start(folder, environ)  # compiles, if it has to; its time does not count
        fill(folder)
        commands(environ)
        spent, waited = [], []
        for _ in range(STARTS):
            process.terminate()
            process.wait()
            process, wait, used = start(folder, environ)
            waited.append(wait)
            spent.append(used)
        ready, used = statistics.median(waited), statistics.median(spent)
        verdict = "ok" if ready <= READY else "NO"
        print(f"{'daemon ready':14} {used:5.0f} ms CPU {ready:6.0f} ms  at most {READY}: {verdict}")
        print(f"{'idle daemon':14} {_memory(process.pid):5.0f} MB with {SESSIONS} sessions")
        process.terminate()
        process.wait()


if __name__ == "__main__":
    main()
