"""`ls`: the command that is given most often, so nothing is loaded for it that it can do without.

The daemon makes the columns (views/table.py); here they are printed.
"""

import os
import sys

import click

from holdfast.cli.output import coloured, connect, json_option

MOST = 1000


STATES = ["CREATED", "STARTING", "RUNNING", "WAITING_FOR_INPUT", "COMPLETED", "FAILED", "CANCELLED"]


@click.command()
@click.option("--all", "everything", is_flag=True, help="Archived ones too.")
@click.option("--archived", is_flag=True, help="Only archived ones.")
@click.option("--trash", is_flag=True, help="Only what is in the trash.")
@click.option("--tag", help="Only those with this tag.")
@click.option(
    "--state", type=click.Choice(STATES, case_sensitive=False), help="Only in this state."
)
@click.option("-n", "--limit", type=click.IntRange(1, MOST), default=MOST, help="The newest N.")
@json_option
def ls(
    *,
    everything: bool,
    archived: bool,
    trash: bool,
    tag: str | None,
    state: str | None,
    limit: int,
    as_json: bool,
) -> int:
    """Every session, pinned ones first, then the one that changed last."""
    if archived and trash:
        raise click.UsageError("--archived or --trash: one of them.")
    query = f"?limit={limit}" + ("&archived=true" if everything else "")
    query += "&only=archived" if archived else "&only=trash" if trash else ""
    query += f"&state={state.upper()}" if state else ""
    query += f"&tag={_quoted(tag)}" if tag else ""
    if as_json:
        sys.stdout.write(connect().call("GET", f"/api/sessions{query}").decode() + "\n")
        return 0
    if coloured():
        query += "&colour=true"
    if sys.stdout.isatty():
        query += f"&width={os.get_terminal_size().columns}"
    sys.stdout.write(connect().call("GET", f"/api/table{query}").decode())
    return 0


def _quoted(text: str) -> str:
    from urllib.parse import quote

    return quote(text, safe="")
