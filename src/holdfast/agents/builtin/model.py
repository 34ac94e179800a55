"""What the loop asks of a model, and how a model answers: pieces as they come, then the end.

A failure is data with a class (`ModelFailed`), so that the loop has one shape: the response ended, or
this went wrong with it.
"""

from collections.abc import AsyncGenerator
from typing import Protocol

from holdfast.core.budget import Usage
from holdfast.core.events import Signature
from holdfast.core.messages import Message
from holdfast.core.session import ErrorClass
from holdfast.core.value import Value


class ToolSchema(Value):
    name: str
    description: str
    schema: dict[str, object]


class Request(Value):
    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSchema, ...] = ()
    finished: int = 0  # responses that the session's journal holds: which one is asked for
    summary: bool = False  # a summary of the conversation is wanted: no response of the session's
    coder: str = ""  # the call whose coder asks; `finished` are that coder's own


class TextPiece(Value):
    text: str
    part: int = 0


class ThinkingPiece(Value):
    text: str
    part: int = 0


class CallAsked(Value):
    id: str
    name: str
    arguments: str
    part: int = 0


class Ended(Value):
    usage: Usage = Usage()
    model: str = ""
    provider: str = ""
    signatures: tuple[Signature, ...] = ()
    message_id: str | None = None


Piece = TextPiece | ThinkingPiece | CallAsked | Ended


class ModelFailed(Exception):
    """The provider said no, or said nothing."""

    def __init__(
        self,
        error: ErrorClass,
        message: str,
        *,
        status: int | None = None,
        retry_after_ms: int | None = None,
    ) -> None:
        super().__init__(message)
        self.error, self.message = error, message
        self.status, self.retry_after_ms = status, retry_after_ms


class Model(Protocol):
    def stream(self, request: Request) -> AsyncGenerator[Piece, None]:
        """Ends with `Ended`, or raises `ModelFailed`. Closing it ends the request."""
