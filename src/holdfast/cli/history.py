"""`search` and `export`: what was said, found again and taken along."""

import contextlib
import os
import sys
import time
from pathlib import Path

import click

from holdfast.cli.output import connect, json_option, note, paint, say_json
from holdfast.views.moments import age, from_rfc3339
from holdfast.views.search import SearchOut
from holdfast.views.timeline import clean

NONE = 1  # as with grep: nothing was found
SHORT = 8  # digits of an id


@click.command()
@click.argument("text", nargs=-1, required=True)
@click.option("-n", "--limit", type=click.IntRange(1, 200), default=20, help="Default: 20.")
@json_option
def search(*, text: tuple[str, ...], limit: int, as_json: bool) -> int:
    """Find TEXT in titles and conversations, the session that changed last first.

    Exits 1 if it is nowhere.
    """
    from urllib.parse import quote

    query = quote(" ".join(text))
    found = connect().get(f"/api/search?q={query}&limit={limit}", SearchOut)
    if as_json:
        say_json(found)
    else:
        _print(found)
    return 0 if found.hits else NONE


def _print(found: SearchOut) -> None:
    if not found.hits:
        note(f"It is in none of {found.sessions} sessions.")
        return
    now, session = time.time_ns() // 1_000_000, ""
    for hit in found.hits:
        if hit.session != session:
            session = hit.session
            title = " ".join(clean(hit.title).split())[:60]
            print(f"{paint(hit.session[:SHORT], 'bold')}  {title}")
        words = [hit.snippet[: hit.begin], hit.snippet[hit.begin : hit.end], hit.snippet[hit.end :]]
        before, match, after = (clean(part) for part in words)
        when = age(from_rfc3339(hit.at), now)
        where = f"{hit.who}, {when}" + (f", #{hit.seq}" if hit.seq else "")
        print(f"  {before}{paint(match, 'yellow')}{after}  {paint(f'({where})', 'grey')}")
    if found.truncated:
        note("There is more: --limit shows it.")


@click.command()
@click.argument("id")
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="A file.")
@click.option("--json", "_as_json", is_flag=True, help="It is JSON Lines in any case.")
def export(*, id: str, output: Path | None, _as_json: bool) -> int:
    """Session ID as JSON Lines: every event, and every output too large for one.

    With -o into a file that only you can read, whole or not at all.
    """
    lines = connect().stream("GET", f"/api/sessions/{id}/export")
    if output is None:
        for line in lines:
            sys.stdout.buffer.write(line)
        return 0
    draft = output.with_name(f".{output.name}.{os.getpid()}")
    file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(file, "wb") as out:
            count = sum(bool(out.write(line)) for line in lines)
        draft.replace(output)
    finally:
        with contextlib.suppress(FileNotFoundError):
            draft.unlink()
    note(f"{count} lines in {output}")
    return 0
