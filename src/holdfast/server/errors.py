"""Every failure in one shape: `{error: {code, message, hint}}`, the same by route and by socket."""

import logging
from typing import Any

from litestar import Request, Response
from litestar.exceptions import HTTPException, ValidationException

from holdfast.core.errors import Refused
from holdfast.ports import Damaged, Held, JournalError, StoreFull
from holdfast.server.desk import Failure, Unfit
from holdfast.wire import CODES, ErrorBody, ErrorOut

LOG = logging.getLogger(__name__)
Asking = Request[Any, Any, Any]

# The first that fits.
OF_THE_JOURNAL: tuple[tuple[type[JournalError], str, str], ...] = (
    (Held, "held", "Try again in a moment."),
    (StoreFull, "store_full", "Make room on the disk."),
    (Damaged, "unavailable", "It is put aside; the others are not touched."),
    (JournalError, "unavailable", "Try again."),
)
OF_HTTP = {401: "unauthorized", 403: "forbidden", 404: "not_found", 405: "not_found"}
OF_HTTP |= {413: "too_large", 429: "too_many"}
SERVER_FAULT = 500


def body_of(error: Exception) -> ErrorBody:
    match error:
        case Failure(code=code, message=message, hint=hint, candidates=candidates):
            return ErrorBody(code=code, message=message, hint=hint, candidates=candidates)
        case Refused(code=code, why=why, hint=hint, about=about):
            return ErrorBody(code=code, message=why, hint=hint, candidates=about)
        case Unfit(why=why, hint=hint):
            return ErrorBody(code="invalid", message=why, hint=hint)
        case JournalError():
            code, hint = next((c, h) for kind, c, h in OF_THE_JOURNAL if isinstance(error, kind))
            return ErrorBody(code=code, message=str(error), hint=hint)
        case HTTPException():
            return _http(error)
        case _:
            LOG.error("a request failed", exc_info=error)
            hint = "The daemon's log says more."
            return ErrorBody(code="internal", message=f"{type(error).__name__}: {error}", hint=hint)


def _http(error: HTTPException) -> ErrorBody:
    """The framework's own: a route that is not there, a body that does not fit."""
    if isinstance(error, ValidationException):
        found = error.extra if isinstance(error.extra, list) else []
        wrong = [f"{w.get('key', 'body')}: {w.get('message', '')}" for w in found]
        message = "; ".join(wrong) or error.detail
        return ErrorBody(code="invalid", message=message, hint="See /api/schema.")
    status = error.status_code
    code = OF_HTTP.get(status, "internal" if status >= SERVER_FAULT else "invalid")
    return ErrorBody(code=code, message=error.detail)


def answer(_request: Asking, error: Exception) -> Response[ErrorOut]:
    body = body_of(error)
    return Response(ErrorOut(error=body), status_code=CODES[body.code])


HANDLERS: dict[int | type[Exception], Any] = {HTTPException: answer, Exception: answer}
