"""What a provider's refusal means: its class, and how long it asks us to wait (SPEC B7).

Rule 1: what the provider says in words beats the status it says them with: they send an empty
        account as 400 or 429, a bad key as 400, and an overload in the middle of a 200.
Rule 2: a page of HTML was not written by a model's provider: something on the way answered. Only its
        status counts, and where that is a success, the network is to blame.
Rule 3: a wait is what the answer says, in a header or in its body; the longest counts. What cannot be
        read is no wait.
Rule 4: nothing seen, nothing claimed: without a status it is the network, without a rule it is unknown.
"""

import re
from collections.abc import Mapping

import msgspec

from holdfast.core.session import ErrorClass
from holdfast.core.value import Value

SHOWN = 300  # characters of a provider's own words


class Refusal(Value):
    error: ErrorClass
    message: str = ""  # the provider's own words, shortened
    retry_after_ms: int | None = None


def classify(
    status: int | None, *, headers: Mapping[str, str], body: str, now_ms: int = 0
) -> Refusal:
    """`now_ms` is only needed for a wait that is given as a date."""
    names = {name.lower(): value for name, value in headers.items()}
    page = _is_page(names, body)
    said = _Said() if page else _read(body)
    return Refusal(
        error=_class(status, said, page=page),
        message=_shortened("a web page, not an answer of a model" if page else said.message),
        retry_after_ms=_wait(names, said, now_ms),
    )


# --- what the body says ---------------------------------------------------------------------------


class _Said(Value):
    codes: frozenset[str] = frozenset()  # types, codes and states, in small letters
    message: str = ""
    delay: str = ""  # Gemini: "34s"


def _is_page(headers: Mapping[str, str], body: str) -> bool:
    start = body[:200].lstrip().lower()
    return start.startswith(("<!doctype html", "<html")) or (
        "text/html" in headers.get("content-type", "").lower() and not start.startswith(("{", "["))
    )


def _read(body: str) -> _Said:
    try:
        found = msgspec.json.decode(body)
    except (ValueError, RecursionError):
        return _Said(message=body)
    if isinstance(found, list):  # Gemini, sometimes
        found = found[0] if found else {}
    if not isinstance(found, dict):
        return _Said(message=body)
    inner = found.get("error", found)
    if isinstance(inner, str):
        return _Said(message=inner)
    if not isinstance(inner, dict):
        return _Said(message=body)
    details = inner.get("details")
    delay, reasons = _details(details if isinstance(details, list) else [])
    codes = [inner.get(name) for name in ("type", "code", "status")]
    message = inner.get("message")
    return _Said(
        codes=frozenset(code.lower() for code in [*codes, *reasons] if isinstance(code, str)),
        message=message if isinstance(message, str) else body,
        delay=delay,
    )


def _details(details: list[object]) -> tuple[str, list[object]]:
    delay, reasons = "", []
    for detail in details:
        if isinstance(detail, dict):
            reasons.append(detail.get("reason"))
            found = detail.get("retryDelay")
            delay = found if isinstance(found, str) else delay
    return delay, reasons


def _shortened(message: str) -> str:
    line = " ".join(message.split())
    return line if len(line) <= SHOWN else f"{line[:SHOWN]} ..."


# --- its class ------------------------------------------------------------------------------------

# The first row that has a word of the message or a code wins.
_WORDS: tuple[tuple[ErrorClass, frozenset[str], re.Pattern[str]], ...] = (
    (
        ErrorClass.CORRUPT_REASONING,
        frozenset({"invalid_encrypted_content"}),
        re.compile(
            r"signature.{0,40}thinking|thinking.{0,80}(signature|cannot be modified|must start)"
            r"|thought.?signature|encrypted content.{0,60}(could not be|not be verified|invalid)"
            r"|reasoning.{0,40}without its required",
            re.IGNORECASE | re.DOTALL,
        ),
    ),
    (
        ErrorClass.CONTEXT_OVERFLOW,
        frozenset({"context_length_exceeded", "request_too_large"}),
        re.compile(
            r"prompt is too long|maximum context length|context.?(window|length).{0,40}exce"
            r"|exceed.{0,60}context.?(window|length|limit)|input is too long|too many input tokens"
            r"|input token count.{0,40}exceeds|exceeds the maximum number of tokens",
            re.IGNORECASE | re.DOTALL,
        ),
    ),
    (
        ErrorClass.QUOTA,
        frozenset({"insufficient_quota", "billing_error", "billing_hard_limit_reached"}),
        re.compile(r"credit balance is too low|insufficient (balance|credit|funds)", re.IGNORECASE),
    ),
    (
        ErrorClass.AUTH,
        frozenset(
            {
                "authentication_error",
                "permission_error",
                "invalid_api_key",
                "api_key_invalid",
                "unauthenticated",
                "permission_denied",
            }
        ),
        re.compile(r"api key not valid|invalid api key|incorrect api key", re.IGNORECASE),
    ),
    (
        ErrorClass.REFUSAL,
        frozenset({"content_policy_violation", "content_filter", "refusal"}),
        re.compile(r"blocked by content filter|content management policy", re.IGNORECASE),
    ),
    (
        ErrorClass.RATE_LIMITED,
        frozenset({"rate_limit_error", "rate_limit_exceeded", "resource_exhausted"}),
        re.compile(r"rate limit (reached|exceeded)", re.IGNORECASE),
    ),
    (
        ErrorClass.OVERLOADED,
        frozenset(
            {"overloaded_error", "api_error", "server_error", "timeout_error", "unavailable"}
        ),
        re.compile(r"\boverloaded\b", re.IGNORECASE),
    ),
)
_STATUS = {
    401: ErrorClass.AUTH,
    402: ErrorClass.QUOTA,
    403: ErrorClass.AUTH,
    407: ErrorClass.AUTH,
    408: ErrorClass.NETWORK,
    409: ErrorClass.OVERLOADED,  # so do providers report a lock that was not to be had
    413: ErrorClass.CONTEXT_OVERFLOW,
    425: ErrorClass.OVERLOADED,
    429: ErrorClass.RATE_LIMITED,
}
_REQUEST, _SERVER = range(400, 500), range(500, 600)


def _class(status: int | None, said: _Said, *, page: bool) -> ErrorClass:
    if page:
        answered = status is not None and status >= _REQUEST.start
        return _by_status(status) if answered else ErrorClass.NETWORK
    for error, codes, words in _WORDS:
        if codes & said.codes or words.search(said.message):
            return error
    return _by_status(status)


def _by_status(status: int | None) -> ErrorClass:
    if status is None:
        return ErrorClass.NETWORK
    if status in _STATUS:
        return _STATUS[status]
    if status in _REQUEST:
        return ErrorClass.BAD_REQUEST
    return ErrorClass.OVERLOADED if status in _SERVER else ErrorClass.UNKNOWN


# --- how long -------------------------------------------------------------------------------------

_DATE = re.compile(
    r"(?:[A-Z][a-z]{2,8}, )?(\d{1,2})[ -]([A-Z][a-z]{2})[ -](\d{4}) (\d\d):(\d\d):(\d\d)(?: GMT)?"
)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_LONGEST = 366 * 24 * 3_600_000  # ms: what is longer was not meant


def _wait(headers: Mapping[str, str], said: _Said, now_ms: int) -> int | None:
    after = headers.get("retry-after", "")
    waits = [
        _number(headers.get("retry-after-ms", ""), 1),
        _number(after, 1000),
        _until(after, now_ms),
        _number(said.delay.removesuffix("s"), 1000),
    ]
    return max((wait for wait in waits if wait is not None), default=None)


def _number(text: str, unit: int) -> int | None:
    try:
        wait = float(text) * unit
    except ValueError:
        return None
    return round(wait) if 0 <= wait <= _LONGEST else None  # not a number fails this as well


def _until(text: str, now_ms: int) -> int | None:
    found = _DATE.fullmatch(text.strip())
    if found is None or found[2] not in _MONTHS:
        return None
    day, year = int(found[1]), int(found[3])
    month = _MONTHS.index(found[2]) + 1
    hours, minutes, seconds = int(found[4]), int(found[5]), int(found[6])
    at = ((_days(year, month, day) * 24 + hours) * 60 + minutes) * 60 + seconds
    return min(max(0, at * 1000 - now_ms), _LONGEST)


def _days(year: int, month: int, day: int) -> int:
    """Since 1970-01-01, by counting years from March, so that the leap day comes last."""
    year -= month <= 2  # noqa: PLR2004  February
    day_of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return year * 365 + year // 4 - year // 100 + year // 400 + day_of_year - 719_468
