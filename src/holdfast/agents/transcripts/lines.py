"""What every reader of a transcript does alike.

Rule 1: a transcript is hostile text of another program's. A line that cannot be read is skipped and
counted, never guessed at; nothing of it is run, opened or followed.
Rule 2: `feed` gives what this line adds, so a file can be followed as it grows; `turns` is the whole
as it stands, with branches that were left and rewritten parts resolved.
"""

from typing import Any, Protocol

import msgspec

from holdfast.core.adoption import Turn
from holdfast.core.value import Value

MOST = 64 << 20  # bytes of one line
UNREADABLE = (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError, RecursionError)


class About(Value):
    """What the record says of itself."""

    id: str = ""
    folder: str = ""
    branch: str = ""


class Follower(Protocol):
    about: About

    def feed(self, line: bytes) -> list[Turn]:
        """The turns that this line adds. May raise one of UNREADABLE."""


class Reader(Follower, Protocol):
    def turns(self) -> list[Turn]: ...

    @staticmethod
    def may_ask(line: bytes) -> bool:
        """Whether a prompt can be in this line: looked for, not decoded. Nearly all of a transcript's
        weight is what tools printed. A quote within a text is escaped, so `"user"` is never said."""


def as_json(value: object) -> str:
    """Arguments as they were; a text is taken for JSON already."""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def text_of(content: object) -> str:
    """Of a message whose content is a text, or parts of which some are texts."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    found = [part if isinstance(part, str) else _text(part) for part in content]
    return "\n".join(text for text in found if text)


def _text(part: Any) -> str:
    text = part.get("text") if isinstance(part, dict) else None
    return text if isinstance(text, str) else ""
