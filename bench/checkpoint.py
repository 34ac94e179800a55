"""The cost of a checkpoint, side by side, in one run.

    python bench/checkpoint.py [--quick] [--no-peers] [--check] [--json FILE]

The peers need a Python that has them: HOLDFAST_BENCH_PYTHON, or .venv-bench. What cannot
be measured is named in the report, never filled in. The exit code is 0 even when a target
is missed, unless --check asks otherwise.
"""

import argparse
import asyncio
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
# Run as a file, Python looks beside it; the package is one folder up.
sys.path[:] = [str(ROOT), *(place for place in sys.path if place != str(ROOT / "bench"))]

from bench import children, local, machine, report, targets  # noqa: E402
from bench.children import ChildFailed  # noqa: E402
from bench.measure import Load, Point, median  # noqa: E402
from bench.results import FLOOR, OURS, InTurn, Results, Store  # noqa: E402
from bench.workload import LENGTHS, QUICK_LENGTHS, Message, conversation  # noqa: E402

ROUNDS, QUICK_ROUNDS = 5, 3
PEER_SECONDS = 60.0
PEER_BYTES = 4e9
FULL_COPY_QUICK_LIMIT = 200
REPEATS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """A product, and the script that runs it."""

    name: str
    module: str
    variant: str = ""
    full_copies: bool = False


PEERS = (
    Peer(
        name="LangGraph, add_messages", module="langgraph_saver", variant="full", full_copies=True
    ),
    Peer(name="LangGraph, DeltaChannel", module="langgraph_saver", variant="delta"),
    Peer(name="DBOS, one step each", module="dbos_steps"),
    Peer(name="OpenAI Agents session", module="openai_session"),
)


def main() -> int:
    """Measure, report, judge."""
    options = _options()
    # An exit, so that the folders are removed and a running child is ended.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    python = _peer_python()
    with _folder(options.folder) as scratch:
        bench = Bench(scratch, quick=options.quick)
        asyncio.run(bench.floor())
        asyncio.run(bench.ours())
        bench.children_of_ours()
        if options.no_peers:
            bench.miss("the peers", "--no-peers")
        elif python is None:
            bench.miss("the peers", "set HOLDFAST_BENCH_PYTHON to a Python that has them")
        else:
            for peer in PEERS:
                bench.peer(peer, python)
    judged = targets.judge(bench.results)
    report.show(bench.results, judged)
    print(f"\nTook {bench.seconds():.0f} s; load at the end {machine.load()}.")
    if options.json:
        whole = {"results": asdict(bench.results), "targets": [asdict(one) for one in judged]}
        options.json.write_text(json.dumps(whole, indent=1) + "\n")
    return 1 if options.check and not targets.reached(judged) else 0


class Bench:
    """One run: each part adds what it measured to the results."""

    def __init__(self, scratch: Path, *, quick: bool) -> None:
        self._scratch = scratch
        self._started = time.monotonic()
        self._rounds = QUICK_ROUNDS if quick else ROUNDS
        self._lengths = list(QUICK_LENGTHS if quick else LENGTHS)
        self._talk = conversation(self._lengths[-1])
        self.results = Results(
            machine=machine.describe(scratch),
            lengths=self._lengths,
            payload=_payloads(self._talk, self._lengths),
            quick=quick,
        )

    def seconds(self) -> float:
        """How long the run has taken so far."""
        return time.monotonic() - self._started

    def miss(self, what: str, why: str) -> None:
        """Say that something could not be measured."""
        self.results.missing.append(f"{what}: {why}")

    async def floor(self) -> None:
        """The floor, alone."""
        _progress(FLOOR)
        with _folder(self._scratch) as folder:
            points = await local.floor_alone(folder, self._talk, self._lengths)
            ((load, runs),) = children.cold_loads(
                Path(sys.executable), ["bench.floor_load", str(folder)]
            )
            self._add(Store(name=FLOOR, points=points), load, runs)

    async def ours(self) -> None:
        """Ours, alone, loaded again, and in turn with the floor."""
        _progress(OURS)
        try:
            with _folder(self._scratch) as folder:
                points = await local.ours_alone(folder, self._talk, self._lengths)
                self._load_ours(Store(name=OURS, points=points), folder)
            rounds = []
            for number in range(self._rounds):
                _progress(f"{OURS} in turn with the floor, round {number + 1} of {self._rounds}")
                with _folder(self._scratch) as folder:
                    rounds.append(await local.in_turn(folder, self._talk, self._lengths))
        except (NotImplementedError, ImportError) as error:
            self.miss(OURS, f"{type(error).__name__}: {error}")
            return
        self.results = replace(self.results, in_turn=InTurn(rounds=rounds))

    def _load_ours(self, store: Store, folder: Path) -> None:
        commands = [["bench.ours", mode, str(folder)] for mode in ("load", "raw")]
        try:
            (load, runs), (raw, _) = children.cold_loads(Path(sys.executable), *commands)
        except ChildFailed as error:
            self.miss(f"{OURS}, cold load", str(error))
            self.results.stores.append(store)
            return
        self._add(store, load, runs)
        self.results = replace(self.results, raw_load=raw)

    def children_of_ours(self) -> None:
        """The fold and the many sessions."""
        _progress("folding")
        try:
            runs = [children.ours("bench.ours", "fold") for _ in range(REPEATS)]
            self.results = replace(self.results, fold=_middle(runs))
        except ChildFailed as error:
            self.miss(f"{OURS}, fold", str(error))
        _progress("many sessions")
        try:
            with _folder(self._scratch) as folder:
                children.ours("bench.tenk", "build", str(folder))
                runs = [children.ours("bench.tenk", "open", str(folder)) for _ in range(REPEATS)]
            self.results = replace(self.results, tenk=_middle(runs))
        except ChildFailed as error:
            self.miss(f"{OURS}, many sessions", str(error))

    def peer(self, peer: Peer, python: Path) -> None:
        """One peer, alone; its files are gone before the next begins."""
        _progress(peer.name)
        lengths = self._lengths
        if self.results.quick and peer.full_copies:
            lengths = [length for length in lengths if length <= FULL_COPY_QUICK_LIMIT]
        module = f"bench.peers.{peer.module}"
        limit = min(PEER_BYTES, machine.free_bytes(self._scratch) / 2)
        given = ["--variant", peer.variant, "--lengths", ",".join(map(str, lengths))]
        given += ["--seconds", str(PEER_SECONDS), "--bytes", str(limit)]
        try:
            with _folder(self._scratch) as folder:
                said = children.lines(python, module, "run", str(folder), *given)
                store, steps = _heard(peer.name, said)
                loading = [
                    module,
                    "load",
                    str(folder),
                    "--variant",
                    peer.variant,
                    "--messages",
                    str(steps),
                ]
                ((load, runs),) = children.cold_loads(python, loading)
                self._add(store, load, runs, steps)
        except ChildFailed as error:
            self.miss(peer.name, str(error))

    def _add(self, store: Store, load: Load, runs: int, steps: int = 0) -> None:
        expected = steps or self._lengths[-1]
        self.results.stores.append(replace(store, load=load, load_runs=runs, load_of=expected))


def _heard(name: str, said: list[dict[str, Any]]) -> tuple[Store, int]:
    """A store from the lines of a peer, and how many messages it holds."""
    facts: dict[str, Any] = {}
    for line in said:
        facts.update(line)
    points = [Point(**line["point"]) for line in said if "point" in line]
    store = Store(
        name=name,
        points=points,
        stopped=facts["stopped"],
        versions=facts["versions"],
        journal=facts["journal"],
    )
    return store, facts["steps"]


def _payloads(talk: list[Message], lengths: list[int]) -> dict[int, int]:
    return {length: sum(message.payload for message in talk[:length]) for length in lengths}


def _middle(runs: list[dict[str, float]]) -> dict[str, float]:
    return {name: median([run[name] for run in runs]) for name in runs[0]}


@contextmanager
def _folder(parent: Path) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="holdfast-bench-", dir=parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _progress(what: str) -> None:
    # To the error stream, so that a pipe holds the report alone.
    print(f"measuring {what} ...", file=sys.stderr, flush=True)


def _peer_python() -> Path | None:
    named = os.environ.get("HOLDFAST_BENCH_PYTHON")
    usual = ROOT / ".venv-bench" / "bin" / "python"
    if named:
        # Not resolved: a virtual environment is known by the place of its link.
        return Path(named).absolute()
    return usual if usual.exists() else None


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="The cost of a checkpoint, side by side.")
    parser.add_argument("--quick", action="store_true", help="up to 1000 messages only")
    parser.add_argument("--no-peers", action="store_true", help="ours and the floor only")
    parser.add_argument(
        "--check", action="store_true", help="exit 1 unless every target is reached"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the results there")
    parser.add_argument(
        "--folder", type=Path, default=machine.scratch_parent(), help="where to put the stores"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
