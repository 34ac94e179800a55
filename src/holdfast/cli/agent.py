"""`agent ls`: which agents there are, and what they can do here; it needs no daemon. `agent resume`:
agents that are dead are brought back, idle."""

import asyncio
import os

import click

from holdfast.cli.output import FAILED, columns, connect, json_option, say_bulk, say_json
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
        unknown = f"no login known: {row.login}" if row.login and not row.logged_in else ""
        note = f"{row.problem}: {row.hint}" if row.problem else flags or unknown
        via, modes = ", ".join(row.via) or "-", ", ".join(row.modes) or "-"
        table.append((row.name, row.version or "-", via, modes, clean(note)))
    columns(table)
    return 0


@agent.command()
@click.argument("id", required=False)
@click.option("--kill", is_flag=True, help="If it lives, end it first, and its run.")
@click.option("--all", "everything", is_flag=True, help="Every agent that is dead.")
@json_option
def resume(*, id: str | None, kill: bool, everything: bool, as_json: bool) -> int:
    """Bring a dead agent back, idle: no run begins. ID is the session's or the agent's own."""
    if id is None and not everything:
        raise click.UsageError("Either provide an agent ID or use --all")
    if id is not None and everything:
        raise click.UsageError("Give an ID or --all: one of them.")
    from holdfast.client import MANY, keys
    from holdfast.wire import AgentsIn, BulkOut

    wanted = AgentsIn(id=id or "", kill=kill, all=everything, environ=keys(os.environ))
    found = connect().post("/api/agents/resume", wanted, BulkOut, MANY)
    code = say_bulk(found, as_json=as_json)
    return FAILED if id is not None and not found.resumed else code
