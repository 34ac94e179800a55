"""Writes docs/reference/states.md from the core's own tables: never drawn by hand.

python tools/diagram.py          write it
python tools/diagram.py --check  exit 1 if it is not what would be written
"""

import sys
from pathlib import Path

from holdfast.core.decide import ALLOWS
from holdfast.core.session import State

TARGET = Path(__file__).resolve().parent.parent / "docs" / "reference" / "states.md"

OPEN = (State.CREATED, State.STARTING, State.RUNNING, State.WAITING_FOR_INPUT)

# What moves a session from one state to another. A test walks them all and finds no other.
MOVES: tuple[tuple[State, State, str], ...] = (
    (State.CREATED, State.STARTING, "a prompt"),
    (State.STARTING, State.RUNNING, "the agent is ready"),
    (State.STARTING, State.WAITING_FOR_INPUT, "called off, failed, or brought back idle"),
    (State.RUNNING, State.WAITING_FOR_INPUT, "the run stops, for any reason"),
    (State.WAITING_FOR_INPUT, State.STARTING, "a prompt, continue, reattach"),
    (State.WAITING_FOR_INPUT, State.RUNNING, "a prompt to an agent that is up"),
    *((s, State.COMPLETED, "close") for s in OPEN),
    *((s, State.CANCELLED, "close --cancelled") for s in OPEN),
    (State.CREATED, State.FAILED, "cannot start at all"),
    (State.STARTING, State.FAILED, "cannot start at all"),
    (State.FAILED, State.CREATED, "reopen"),
    (State.CANCELLED, State.WAITING_FOR_INPUT, "reopen"),
)


def text() -> str:
    lines = [
        "# States of a session",
        "",
        "Written by `tools/diagram.py` from the tables in `core/decide.py`; do not edit.",
        "",
        "```mermaid",
        "stateDiagram-v2",
        "    [*] --> CREATED: open",
        *(f"    {a} --> {b}: {why}" for a, b, why in MOVES),
        "```",
        "",
        "What a person may do in each state:",
        "",
        "| command | " + " | ".join(state.value for state in State) + " |",
        "|---|" + "---|" * len(State),
    ]
    commands = sorted({command.__name__ for allowed in ALLOWS.values() for command in allowed})
    for name in commands:
        marks = ("yes" if name in {c.__name__ for c in ALLOWS[s]} else "" for s in State)
        lines.append(f"| {name} | " + " | ".join(marks) + " |")
    return "\n".join(lines) + "\n"


def main() -> int:
    if "--check" in sys.argv:
        return 0 if TARGET.exists() and TARGET.read_text() == text() else 1
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text(text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
