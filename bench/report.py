"""Tables a person can read, and a pipe too."""

import os
import sys
from collections.abc import Sequence

from bench.machine import fsync_is_real
from bench.measure import Load, Point, exponent
from bench.results import FLOOR, OURS, Results, Store, growth_span
from bench.targets import Judged, Verdict, reached

NONE = "-"
_COLOURS = {Verdict.PASS: "32", Verdict.FAIL: "31", Verdict.MISSING: "31", Verdict.SKIP: "33"}


def show(results: Results, judged: list[Judged]) -> None:
    """The whole report."""
    _machine(results)
    for section in (_steps, _bytes, _in_turn, _loads, _ratios_to_floor, _ratios_to_ours, _more):
        section(results)
    _missing(results)
    _must_reach(judged)


def table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]], note: str = "") -> None:
    """Columns as wide as their widest cell; the first one to the left, numbers to the right."""
    print(f"\n{title}")
    if note:
        print(f"  {note}")
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    for row in (head, ["-" * width for width in widths], *rows):
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        print("  " + "  ".join(cells).rstrip())


def _machine(results: Results) -> None:
    machine = results.machine
    print("The cost of a checkpoint: a conversation grows, every message durable before the next.")
    print("  " + ", ".join(f"{name} {value}" for name, value in machine.items()))
    last = results.lengths[-1]
    size = results.payload[last]
    print(
        f"  messages of {size / last:.0f} bytes on average; {size / 1e6:.1f} MB of text at {last}"
    )
    if not fsync_is_real(machine["filesystem"]):
        print("  WARNING: this file system is memory. Durable costs nothing here; use --folder.")
    for store in results.peers():
        versions = ", ".join(f"{name} {number}" for name, number in store.versions.items())
        print(f"  {store.name}: {versions}, journal {store.journal}")


def _steps(results: Results) -> None:
    lengths = [f"at {length}" for length in results.lengths]
    head = ["each alone", *lengths, "worst", "growth of p50", "over"]
    rows = [
        [
            store.name,
            *_step_cells(store, results.lengths),
            f"{store.points[-1].worst_us:,.0f}",
            *_growth(store.points, "p50_us"),
        ]
        for store in results.stores
    ]
    # A store that pays for everything each hundredth step keeps it out of its p99.
    note = "At a length: the last tenth of the steps up to it; worst: in the last of these."
    table("One step, microseconds, p50 / p99", head, rows, note)
    for store in results.stores:
        if store.stopped:
            print(f"  {store.name}: {store.stopped}, {_furthest(store.points[-1])}")


def _step_cells(store: Store, lengths: list[int]) -> list[str]:
    points = [store.at(length) for length in lengths]
    return [f"{point.p50_us:,.0f} / {point.p99_us:,.0f}" if point else NONE for point in points]


def _furthest(point: Point) -> str:
    return f"{point.length} messages reached: p50 {point.p50_us:,.0f}, {point.bytes / 1e6:,.0f} MB"


def _growth(points: list[Point], value: str) -> list[str]:
    span = growth_span(points)
    if span is None:
        return [NONE, NONE]
    first, last = span
    grown = exponent((first.length, getattr(first, value)), (last.length, getattr(last, value)))
    return [f"{grown:.2f}", f"{first.length} to {last.length}"]


def _bytes(results: Results) -> None:
    last = results.lengths[-1]
    head = [
        "each alone",
        *(f"at {length}" for length in results.lengths),
        f"x payload at {last}",
        "growth",
        "over",
    ]
    rows = []
    for store in results.stores:
        points = [store.at(length) for length in results.lengths]
        cells = [f"{point.bytes / 1e6:,.1f}" if point else NONE for point in points]
        share = f"{points[-1].bytes / results.payload[last]:,.2f}" if points[-1] else NONE
        rows.append([store.name, *cells, share, *_growth(store.points, "bytes")])
    payload = [f"{results.payload[length] / 1e6:,.1f}" for length in results.lengths]
    rows.insert(0, ["(the text itself)", *payload, "1.00", NONE, NONE])
    table("Bytes on disk, MB: database and log, live, before closing", head, rows)


def _in_turn(results: Results) -> None:
    turns = results.in_turn
    if turns is None:
        return
    lengths = turns.lengths()
    head = ["in turn", *(f"at {length}" for length in lengths)]
    rows = [
        [
            name,
            *(
                f"{turns.p50(side, length):,.0f} / {turns.p99(side, length):,.0f}"
                for length in lengths
            ),
        ]
        for name, side in ((OURS, "ours"), (FLOOR, "floor"))
    ]
    rows.append(["p50, x floor", *(f"{turns.ratio(length):.2f}" for length in lengths)])
    note = f"Medians of {len(turns.rounds)} rounds; the ratio is taken within each round."
    table("One step of ours, one of the floor, in turn, microseconds, p50 / p99", head, rows, note)


def _loads(results: Results) -> None:
    rows = [
        _load_row(store.name, store.load, store.load_of, store.load_runs)
        for store in results.stores
    ]
    if results.raw_load is not None:
        ours = results.store(OURS)
        rows.append(
            _load_row("our rows, by hand", results.raw_load, 0, ours.load_runs if ours else 0)
        )
    head = ["new process", "import CPU", "load", "load CPU", "messages", "runs"]
    note = "Medians. The files are in the page cache; closed cleanly, but for DBOS, which recovers."
    table("Cold load of the last state, milliseconds", head, rows, note)


def _load_row(name: str, load: Load | None, expected: int, runs: int) -> list[str]:
    if load is None:
        return [name, *[NONE] * 5]
    times = [load.import_cpu, load.load_wall, load.load_cpu]
    count = (
        f"{load.messages}"
        if load.messages == expected or not expected
        else f"{load.messages} of {expected}!"
    )
    return [name, *(f"{seconds * 1000:,.1f}" for seconds in times), count, f"{runs}"]


def _ratios_to_floor(results: Results) -> None:
    floor = results.store(FLOOR)
    if floor is not None:
        _ratios(results, floor, "How many times the floor", "x floor")


def _ratios_to_ours(results: Results) -> None:
    ours = results.store(OURS)
    if ours is not None:
        _ratios(
            results, ours, "How many times Holdfast (above 1: Holdfast is cheaper)", "x Holdfast"
        )


def _ratios(results: Results, base: Store, title: str, corner: str) -> None:
    rows = []
    for store in results.stores:
        common = [length for length in results.lengths if store.at(length) and base.at(length)]
        if store is base or not common:
            continue
        theirs, bases = store.at(common[-1]), base.at(common[-1])
        assert theirs is not None
        assert bases is not None
        rows.append(
            [
                store.name,
                f"{common[-1]}",
                f"{theirs.p50_us / bases.p50_us:,.2f}",
                f"{theirs.p99_us / bases.p99_us:,.2f}",
                f"{theirs.bytes / bases.bytes:,.2f}",
                _load_ratio(store, base),
            ]
        )
    note = "Each alone, at the longest length both reached; loads only where both load as much."
    table(title, [corner, "at", "p50", "p99", "bytes", "cold load"], rows, note)


def _load_ratio(store: Store, base: Store) -> str:
    if store.load is None or base.load is None or store.load_of != base.load_of:
        return NONE
    return f"{store.load.load_wall / base.load.load_wall:,.2f}"


def _more(results: Results) -> None:
    lines = []
    if results.fold is not None:
        fold = results.fold
        lines.append(
            f"folding {fold['events']:,.0f} events: {fold['wall']:.3f} s, CPU {fold['cpu']:.3f} s"
        )
    if results.tenk is not None:
        tenk = results.tenk
        lines.append(
            f"opening {tenk['sessions']:,.0f} sessions: {tenk['wall']:.3f} s,"
            f" {tenk['live']:.0f} live, peak {tenk['peak_rss_mb']:.0f} MB"
        )
    if lines:
        print("\nHoldfast alone")
        print("\n".join(f"  {line}" for line in lines))


def _missing(results: Results) -> None:
    if results.missing:
        print("\nNot measured")
        print("\n".join(f"  {line}" for line in results.missing))


def _must_reach(judged: list[Judged]) -> None:
    rows = [[one.name, one.asked, one.measured, one.verdict.value] for one in judged]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    print("\nMust reach")
    for one, row in zip(judged, rows, strict=True):
        cells = "  ".join(cell.ljust(width) for cell, width in zip(row[:3], widths, strict=True))
        print(f"  {_coloured(one.verdict)}  {cells.rstrip()}")
    counts = ", ".join(f"{sum(one.verdict is kind for one in judged)} {kind}" for kind in Verdict)
    print(
        f"  {counts}: {'all that was asked is reached' if reached(judged) else 'NOT all is reached'}"
    )


def _coloured(verdict: Verdict) -> str:
    word = verdict.value.ljust(7)
    if not sys.stdout.isatty() or "NO_COLOR" in os.environ:
        return word
    return f"\x1b[{_COLOURS[verdict]}m{word}\x1b[0m"
