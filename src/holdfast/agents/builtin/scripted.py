"""`scripted:FILE`: a model that needs no key and says what a file of JSON Lines tells it to.

Reply n is used when the session's journal holds n finished responses; half-streamed ones do not
count. Past the end it answers "done". Rows with `coder` are the coder's own script, counted for each
delegation from its beginning.
"""

import asyncio
import hashlib
from collections.abc import AsyncGenerator
from pathlib import Path

import msgspec

from holdfast.agents.builtin.model import (
    CallAsked,
    Ended,
    ModelFailed,
    Piece,
    Request,
    TextPiece,
    ThinkingPiece,
)
from holdfast.core.budget import Usage
from holdfast.core.provider_errors import classify
from holdfast.core.session import ErrorClass
from holdfast.core.value import Value


class ScriptedUsage(Value, forbid_unknown_fields=True):
    input: int = 0
    output: int = 0


class ScriptedFailure(Value, forbid_unknown_fields=True):
    status: int
    retry_after: float | None = None
    times: int = 1
    message: str = ""


class ScriptedTool(Value, forbid_unknown_fields=True):
    name: str
    input: dict[str, object] = msgspec.field(default_factory=dict)


class ScriptedPause(Value, forbid_unknown_fields=True):
    """In the middle of a text: whoever wrote the script says when it goes on, by making a file."""

    after: int  # words
    until: str  # a file


class Row(Value, forbid_unknown_fields=True):
    text: str = ""
    thinking: str = ""
    tool_calls: tuple[ScriptedTool, ...] = ()
    chunk_ms: float = 0  # per word
    pauses: tuple[ScriptedPause, ...] = ()
    usage: ScriptedUsage = ScriptedUsage()
    fail: ScriptedFailure | None = None
    coder: bool = False


LOOK = 0.02  # seconds between two looks for the file of a pause
SUMMARY = "Summary of the first {} messages."
_row = msgspec.json.Decoder(Row)


def read_script(path: Path) -> list[Row]:
    """Every line, or the first mistake with its line."""
    try:
        text = path.read_bytes()
    except OSError as error:
        raise ModelFailed(
            ErrorClass.BAD_REQUEST, f"The script {path} cannot be read: {error.strerror}."
        ) from error
    rows = []
    for number, line in enumerate(text.split(b"\n"), start=1):
        if line.strip():
            try:
                rows.append(_row.decode(line))
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                raise ModelFailed(
                    ErrorClass.BAD_REQUEST, f"The script {path}, line {number}: {error}."
                ) from error
    return rows


class ScriptedModel:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._failed: dict[tuple[str, int], int] = {}  # how often reply n has failed already

    async def stream(self, request: Request) -> AsyncGenerator[Piece, None]:
        rows = [row for row in read_script(self._path) if row.coder == bool(request.coder)]
        n = request.finished
        row = rows[n] if n < len(rows) else Row(text="done")
        if request.summary:  # no row of its own; as slow as the one that comes next
            text = SUMMARY.format(len(request.messages) - 1)
            row = Row(text=text, chunk_ms=row.chunk_ms, pauses=row.pauses)
        self._maybe_fail((request.coder, n), row)
        part = 0
        if row.thinking:
            yield ThinkingPiece(text=row.thinking, part=part)
            part += 1
        for said, word in enumerate(_words(row.text)):
            await _paused(row.pauses, said)
            yield TextPiece(text=word, part=part)
            await asyncio.sleep(row.chunk_ms / 1000)
        for k, call in enumerate(row.tool_calls, start=part + 1):
            arguments = msgspec.json.encode(call.input).decode()
            yield CallAsked(
                id=_call_id(n, k, arguments), name=call.name, arguments=arguments, part=k
            )
        usage = Usage(input_tokens=row.usage.input, output_tokens=row.usage.output)
        yield Ended(usage=usage, model=f"scripted:{self._path}", provider="scripted")

    def _maybe_fail(self, n: tuple[str, int], row: Row) -> None:
        failure = row.fail
        if failure is None or self._failed.get(n, 0) >= failure.times:
            return
        self._failed[n] = self._failed.get(n, 0) + 1
        error = classify(failure.status, headers={}, body="").error
        wait = failure.retry_after
        raise ModelFailed(
            error,
            failure.message or f"The scripted provider answered {failure.status}.",
            status=failure.status,
            retry_after_ms=None if wait is None else int(wait * 1000),
        )


async def _paused(pauses: tuple[ScriptedPause, ...], said: int) -> None:
    for pause in pauses:
        while pause.after == said and not Path(pause.until).exists():  # noqa: ASYNC110, ASYNC240  a file
            await asyncio.sleep(LOOK)


def _words(text: str) -> list[str]:
    """Cut after each space, so that the pieces add up to the text."""
    return [piece for piece in text.replace(" ", " \0").split("\0") if piece]


def _call_id(n: int, k: int, arguments: str) -> str:
    """The same in every life, as a provider's ids are for the same response."""
    return f"call_{n}_{k}_{hashlib.sha256(arguments.encode()).hexdigest()[:8]}"
