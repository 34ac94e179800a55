"""Child processes: start one, read its JSON lines, say plainly when it failed."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.measure import Load, median

ROOT = Path(__file__).resolve().parent.parent
LOAD_RUNS = 7
LOAD_SECONDS = 20.0
"""No more repeats of a slow load after this long; one is always run."""


class ChildFailed(Exception):
    """A child gave no answer; the text says why, in one line."""


def lines(python: Path, *arguments: str, timeout: float = 300.0) -> list[dict[str, Any]]:
    """Run `python -m ...` and read what it said."""
    command = [str(python), "-m", *arguments]
    try:
        child = subprocess.run(
            command,
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=timeout,
            env=_environment(),
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ChildFailed(f"no answer in {timeout:.0f} s") from None
    except OSError as error:
        raise ChildFailed(str(error)) from None
    if child.returncode != 0:
        said = child.stderr.strip().splitlines() or [f"exit code {child.returncode}"]
        raise ChildFailed(said[-1])
    said_lines = [json.loads(line) for line in child.stdout.splitlines() if line.startswith("{")]
    if not said_lines:
        raise ChildFailed("it printed no result")
    return said_lines


def ours(*arguments: str, timeout: float = 300.0) -> dict[str, Any]:
    """Run one of our own modules, in this Python, for its one line."""
    return lines(Path(sys.executable), *arguments, timeout=timeout)[-1]


def cold_loads(python: Path, *commands: Sequence[str]) -> list[tuple[Load, int]]:
    """Each command's median load and how often it ran; in turn, so all see the same machine."""
    answers: list[list[Load]] = [[] for _ in commands]
    started = time.monotonic()
    for _ in range(LOAD_RUNS):
        for command, loads in zip(commands, answers, strict=True):
            said = lines(python, *command)[-1]
            loads.append(Load(**{name: said[name] for name in Load.__slots__}))
        if time.monotonic() - started > LOAD_SECONDS * len(commands):
            break
    return [(_middle(loads), len(loads)) for loads in answers]


def _middle(loads: list[Load]) -> Load:
    return Load(
        import_cpu=median([load.import_cpu for load in loads]),
        load_wall=median([load.load_wall for load in loads]),
        load_cpu=median([load.load_cpu for load in loads]),
        # The least: one load that came back short is one too many.
        messages=min(load.messages for load in loads),
    )


def _environment() -> dict[str, str]:
    # A library that cannot write its bytecode would be compiled anew in every cold start.
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
