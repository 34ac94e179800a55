"""`doctor`: the machine, looked over. Starts nothing, and needs no daemon."""

import asyncio
import os
import sys
from itertools import groupby

import click

from holdfast.cli.output import FAILED, json_option, paint, say_json
from holdfast.config import VERSION, state_folder
from holdfast.views.checkup import BAD, NOTE, OK, WARN, Check, CheckupOut, verdict
from holdfast.views.timeline import clean

SIGNS = {OK: "✓", NOTE: "·", WARN: "!", BAD: "✗"}
PLAIN_SIGNS = {OK: "ok", NOTE: "--", WARN: "!!", BAD: "XX"}
PAINTS = {OK: "green", NOTE: "grey", WARN: "yellow", BAD: "red"}


@click.command()
@json_option
def doctor(*, as_json: bool) -> int:
    """What is installed here, whether it works, and what is missing.

    Exits 1 if something that is needed is broken.
    """
    from holdfast.checkup import examine

    home = state_folder(os.environ)
    checks = tuple(asyncio.run(examine(home, os.environ)))
    found = CheckupOut(ok=verdict(checks), version=VERSION, home=str(home), checks=checks)
    if as_json:
        say_json(found)
    else:
        _print(checks)
    return 0 if found.ok else FAILED


def _print(checks: tuple[Check, ...]) -> None:
    rich = "utf" in (sys.stdout.encoding or "").lower()
    signs = SIGNS if rich else PLAIN_SIGNS
    wide = max(len(check.name) for check in checks)
    print(f"Holdfast {VERSION}")
    for section, rows in groupby(checks, key=lambda check: check.section):
        print(f"\n{paint(section, 'bold')}")
        for check in rows:
            sign = paint(signs[check.state], PAINTS[check.state])
            print(f"  {sign} {check.name:<{wide}}  {clean(check.told)}")
            if check.hint:
                print(f"    {'':<{wide}}  {paint(clean(check.hint), 'grey')}")
    bad = sum(check.state == BAD for check in checks)
    told = "All that is needed works." if not bad else f"{bad} of these must be put right."
    print(f"\n{paint(told, 'red' if bad else 'green')}")
