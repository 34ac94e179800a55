"""`ls`: the command that is given most often, so nothing is loaded for it that it can do without.

The daemon makes the columns (views/table.py); here they are printed.
"""

import os
import sys

import click

from holdfast.cli.output import coloured, connect, json_option

MOST = 1000


@click.command()
@click.option("--all", "everything", is_flag=True, help="Archived ones too.")
@click.option("-n", "--limit", type=click.IntRange(1, MOST), default=MOST, help="The newest N.")
@json_option
def ls(*, everything: bool, limit: int, as_json: bool) -> int:
    """Every session, the one that changed last first."""
    query = f"?limit={limit}" + ("&archived=true" if everything else "")
    if as_json:
        sys.stdout.write(connect().call("GET", f"/api/sessions{query}").decode() + "\n")
        return 0
    if coloured():
        query += "&colour=true"
    if sys.stdout.isatty():
        query += f"&width={os.get_terminal_size().columns}"
    sys.stdout.write(connect().call("GET", f"/api/table{query}").decode())
    return 0
