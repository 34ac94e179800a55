"""What an agent says of itself while it works, where its profile knows how to ask for it.

Claude Code runs commands of ours at certain moments and gives them one JSON object each. Ours append it
to a file that the seat follows: it knows a turn's end, a failure and a question without guessing.
"""

import json
import os
import shlex
from pathlib import Path
from typing import Any

import msgspec

from holdfast.core.value import Value

MOMENTS = ("SessionStart", "UserPromptSubmit", "Stop", "StopFailure", "Notification")


class Moment(Value):
    name: str = msgspec.field(default="", name="hook_event_name")
    id: str = msgspec.field(default="", name="session_id")
    record: str = msgspec.field(default="", name="transcript_path")
    last: str | None = msgspec.field(default=None, name="last_assistant_message")
    message: str = ""
    kind: str = msgspec.field(default="", name="notification_type")
    error: Any = None


_moment = msgspec.json.Decoder(Moment)


def write_settings(file: Path, said: Path) -> None:
    """A settings file, for the agent's flag, that has every moment appended to `said`."""
    path = shlex.quote(str(said))
    command = f"{{ cat; echo; }} >> {path}"  # run by the agent's own shell: it takes no list
    entry = [{"hooks": [{"type": "command", "command": command, "timeout": 10}]}]
    settings = {"hooks": dict.fromkeys(MOMENTS, entry)}
    said.touch(0o600)
    write_private(file, json.dumps(settings))


def write_private(file: Path, text: str) -> None:
    """Whole or not at all, and nobody else's to read."""
    draft = file.with_suffix(".draft")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as out:
        out.write(text)
    draft.replace(file)


def moment(line: bytes) -> Moment | None:
    """None: half a line, or not what we asked for."""
    try:
        found = _moment.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return found if found.name in MOMENTS else None
