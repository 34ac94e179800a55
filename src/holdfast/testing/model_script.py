"""What a scripted model server answers: the rows of `scripted:` (SPEC B1), and how a wire breaks.

1. A row with `match` answers a request whose last user message contains it; rows without one
   answer the others. Both in order, each row once, whether or not the answer came through.
2. A row with `fail` first fails that many times, then answers.
3. Past the end the answer is "done".
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from holdfast.agents.builtin.scripted import Row
from holdfast.core.value import Value


class Reply(Row, forbid_unknown_fields=True):
    match: str = ""  # only for a last user message that contains this
    cut: int | None = None  # drop the connection after so many pieces
    hang: bool = False  # take the request and never answer
    html: bool = False  # answer with a page, as a proxy or a login wall does


class Failure(Value):
    status: int
    retry_after: float | None
    message: str
    html: bool


_reply = msgspec.json.Decoder(Reply)


class ScriptMistake(Exception):
    pass


def read_replies(path: Path) -> list[Reply]:
    """Every line, or the first mistake with its line."""
    replies = []
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        if line.strip():
            try:
                replies.append(_reply.decode(line))
            except msgspec.DecodeError as error:
                raise ScriptMistake(f"{path}, line {number}: {error}") from error
    return replies


def as_reply(row: "Reply | dict[str, object]") -> Reply:
    return row if isinstance(row, Reply) else msgspec.convert(row, Reply)


class Script:
    def __init__(self, replies: Iterable[Reply] = ()) -> None:
        self._left = list(replies)
        self._failures: dict[int, int] = {}  # by identity of the row: how often it has failed

    def add(self, replies: Iterable[Reply]) -> None:
        self._left.extend(replies)

    @property
    def left(self) -> Sequence[Reply]:
        return tuple(self._left)

    def next(self, last_user: str) -> Reply | Failure:
        chosen = [r for r in self._left if r.match and r.match in last_user]
        chosen = chosen or [r for r in self._left if not r.match]
        if not chosen:
            return Reply(text="done")
        reply = chosen[0]
        failing = reply.fail
        if failing is not None and self._failures.get(id(reply), 0) < failing.times:
            self._failures[id(reply)] = self._failures.get(id(reply), 0) + 1
            return Failure(
                status=failing.status,
                retry_after=failing.retry_after,
                message=failing.message or f"The scripted server answered {failing.status}.",
                html=reply.html,
            )
        self._left = [r for r in self._left if r is not reply]
        return reply
