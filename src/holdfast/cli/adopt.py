"""`adopt`: conversations that other agents had here without us, listed and taken in (SPEC E15)."""

import os
import time
from pathlib import Path

import click

from holdfast.cli.output import columns, connect, json_option, note, say_json
from holdfast.client import Client
from holdfast.views.adoption import AdoptIn, AdoptOut, RecordOut, RecordsIn, RecordsOut
from holdfast.views.moments import age, from_rfc3339
from holdfast.views.timeline import clean

# Where the agents keep their records.
PLACES = (
    "HOME",
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "COPILOT_HOME",
    "GEMINI_CLI_HOME",
    "XDG_DATA_HOME",
)
MOST = 40  # lines on a terminal
UNITS = ("B", "kB", "MB", "GB")
THOUSAND = 1000


@click.command()
@click.argument("ids", nargs=-1)
@click.option("--agent", help="Only of this agent: claude, codex, copilot, gemini, opencode, qwen.")
@click.option("--here", is_flag=True, help="Only what was had in this folder or below.")
@click.option("--all", "everything", is_flag=True, help="Not only the newest.")
@click.option(
    "--fork", is_flag=True, help="Go on in a copy: theirs stays as it is, also when it goes on."
)
@json_option
def adopt(
    *,
    ids: tuple[str, ...],
    agent: str | None,
    here: bool,
    everything: bool,
    fork: bool,
    as_json: bool,
) -> int:
    """List what other agents left on this machine; with IDS, take those in.

    Taking in only reads. To go on with one: hold resume, or hold send; what is said then is added to the
    agent's own record of it, unless it was taken in with --fork.
    """
    if fork and not ids:
        raise click.UsageError("--fork needs the ID of what is to be taken in.")
    client = connect()
    places = {name: os.environ[name] for name in PLACES if os.environ.get(name)}
    if ids:
        wishes = [AdoptIn(id=id, agent=agent, environ=places, fork=fork) for id in ids]
        return _take(client, wishes, as_json=as_json)
    wanted = RecordsIn(agent=agent, folder=str(Path.cwd()) if here else "", environ=places)
    found = client.post("/api/records", wanted, RecordsOut)
    if as_json:
        say_json(found)
        return 0
    _print(found.records, everything=everything)
    for what in found.unread:
        note(clean(what))
    return 0


def _take(client: Client, wishes: list[AdoptIn], *, as_json: bool) -> int:
    taken = []
    for wish in wishes:
        done = client.post("/api/adopt", wish, AdoptOut)
        taken.append(done)
        if as_json:
            continue
        said = (
            "Here already" if done.already else "Taken in, as a fork" if wish.fork else "Taken in"
        )
        print(f"{said}: {done.record.agent} {done.record.id} is session {done.session}")
        if done.torn:
            note(f"{done.torn} lines of it could not be read and were left out.")
        if done.in_use:
            note(
                "It was written to a moment ago. If its agent still has it open, do not go on with it in"
            )
            note(f"both places: hold adopt --fork {done.record.id[:13]} goes on in a copy.")
        print(f"Go on with it: hold resume {done.session}")
    if as_json:
        say_json({"adopted": taken})
    return 0


def _print(records: tuple[RecordOut, ...], *, everything: bool) -> None:
    if not records:
        print("No agent has left a conversation here.")
        return
    now = time.time_ns() // 1_000_000
    shown = records if everything else records[:MOST]
    rows: list[tuple[str, ...]] = [("AGENT", "ID", "AGE", "SIZE", "FOLDER", "TITLE, LAST PROMPT")]
    rows += [_row(r, now) for r in shown]
    columns(rows, [("bold",) * 6] + [("", "", "grey", "grey", "", "") for _ in shown])
    if len(shown) < len(records):
        print(f"... and {len(records) - len(shown)} older ones (--all).")
    print("Take one in with: hold adopt ID")


def _row(r: RecordOut, now: int) -> tuple[str, ...]:
    title = _line(r.title)
    last = f" | {_line(r.last_prompt)}" if r.last_prompt != r.title else ""
    ours = f"[{r.session}] " if r.session else ""
    folder = r.folder.replace(str(Path.home()), "~", 1)
    when = age(from_rfc3339(r.modified_at), now)
    return r.agent, r.id[:13], when, _size(r.size), folder, f"{ours}{title}{last}"


def _line(text: str) -> str:
    return clean(" ".join(text.split()))[:60]


def _size(count: float) -> str:
    for unit in UNITS:
        if count < THOUSAND or unit == UNITS[-1]:
            return f"{count:.0f} {unit}"
        count /= THOUSAND
    raise AssertionError
