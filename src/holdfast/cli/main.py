"""The command line's entry, for now a stub: `up` says plainly what is there and what is not."""

import sys

USAGE = "usage: holdfast [--version] up"

COMING = """\
Holdfast is being built. There is no daemon, no command line and no page yet.

What there is:
  the core      what happens to a session, decided by three pure functions
  the journal   events and errands on disk, in SQLite or PostgreSQL
  the proof     make test     every test
                make faults   killed again and again, each promise checked after each kill
                make bench    side by side with peers
"""


def main() -> int:
    """Run one command; the result is the exit code."""
    match sys.argv[1:]:
        case ["--version"]:
            print(f"holdfast {_version()}")
        case ["up"]:
            print(COMING, end="")
        case _:
            print(USAGE, file=sys.stderr)
            return 2
    return 0


def _version() -> str:
    from importlib.metadata import version  # only --version pays for it

    return version("holdfast")
