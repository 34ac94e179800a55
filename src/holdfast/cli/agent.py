"""`agent ls`: which agents there are, and what they can do here. Needs no daemon."""

import asyncio
import os

import click

from holdfast.cli.output import columns, json_option, say_json
from holdfast.views.timeline import clean


@click.group()
def agent() -> None:
    """Other people's agents: what is installed, and what each can do."""


@agent.command()
@json_option
def ls(*, as_json: bool) -> int:
    """Every agent that has a profile, its version and its ways."""
    from holdfast.checkup import agent_rows
    from holdfast.config import load

    rows = asyncio.run(agent_rows(load(os.environ)))
    if as_json:
        say_json({"agents": rows})
        return 0
    table = [("AGENT", "VERSION", "VIA", "MODES", "NOTE")]
    for row in rows:
        flags = (
            f"flags not in its help: {', '.join(row.missing_flags)}" if row.missing_flags else ""
        )
        note = f"{row.problem}: {row.hint}" if row.problem else flags
        via, modes = ", ".join(row.via) or "-", ", ".join(row.modes) or "-"
        table.append((row.name, row.version or "-", via, modes, clean(note)))
    columns(table)
    return 0
