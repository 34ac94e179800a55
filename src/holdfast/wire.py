"""What crosses the socket: the source of the OpenAPI schema and of the page's types.

So far the values that a client of the journal sees: an event with its place in history, the answer
to "what came after my cursor", an error. Requests come with the daemon.
"""

from holdfast.core.value import Value


class EventOut(Value, omit_defaults=False):
    seq: int
    type: str  # snake case of the journal's word
    at: str  # RFC 3339, UTC
    data: dict[str, object]


class EventsOut(Value, omit_defaults=False):
    """From a cursor (epoch, seq): exactly what was missed. Another epoch means: start again."""

    epoch: str
    head: int
    events: tuple[EventOut, ...] = ()


class ErrorBody(Value, omit_defaults=False):
    code: str
    message: str
    hint: str = ""


class ErrorOut(Value, omit_defaults=False):
    error: ErrorBody
