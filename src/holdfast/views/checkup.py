"""What was found when the machine was looked over, row by row (`hold doctor`).

`ok`: it works, it was tried. `note`: worth knowing. `warn`: something is done without. `bad`: something
that is needed does not work; whoever asked a script gets exit code 1.
"""

from collections.abc import Sequence

from holdfast.core.value import Value

OK, NOTE, WARN, BAD = "ok", "note", "warn", "bad"


class Check(Value, omit_defaults=False):
    section: str
    name: str
    state: str
    told: str
    hint: str = ""  # what to do about it


class CheckupOut(Value, omit_defaults=False):
    ok: bool
    version: str
    home: str
    checks: tuple[Check, ...]


def verdict(checks: Sequence[Check]) -> bool:
    return all(check.state != BAD for check in checks)
