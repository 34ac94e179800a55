"""What an agent's complaint means: its words, and the code that came with them, to one of our classes.

Rule 1: the first row that matches, read top to bottom; nothing that matches is `unknown`.
Rule 2: a limit that says when it resets says it in many ways: a moment, a span, a time of day. What
        cannot be read is not guessed.
Rule 3: "I do not know that conversation" comes with every code there is, so its words go before codes.
"""

import re
from enum import StrEnum

from holdfast.core.ids import Millis
from holdfast.core.session import ErrorClass, StopReason
from holdfast.core.value import Value

SECOND, MINUTE, HOUR, DAY = 1_000, 60_000, 3_600_000, 86_400_000
LONGEST = 8 * DAY  # a reset further away is a misread number
EPOCH_SECONDS, EPOCH_MILLIS = 1_000_000_000, 1_000_000_000_000  # smaller ones are no moments
NOON = 12


class Trouble(Value):
    error: ErrorClass
    rule: str | None = None  # the words that matched, as evidence
    status: int | None = None
    resumes_at: Millis | None = None

    @property
    def reason(self) -> StopReason:
        limited = self.error is ErrorClass.RATE_LIMITED
        return StopReason.RATE_LIMITED if limited else StopReason.ERROR


AUTH_REQUIRED, NOT_FOUND, NO_METHOD, BAD_REQUEST = -32000, -32002, -32601, -32600

_E = ErrorClass
# class, what its words look like, status codes
ROWS: tuple[tuple[ErrorClass, str, tuple[int, ...]], ...] = (
    (_E.CORRUPT_REASONING, r"thinking`? blocks? .{0,80}cannot be modified|invalid .{0,20}signature.{0,20} in `?thinking", ()),
    (_E.CONTEXT_OVERFLOW, r"prompt is too long|context.{0,3}(length|window)|maximum context|input is too long|too many tokens", (413,)),
    (_E.QUOTA, r"credit balance|insufficient.{0,3}(quota|credit|balance)|out of credits|payment required|billing", (402,)),
    (_E.RATE_LIMITED, r"rate.?limit|too many requests|(usage|session|weekly|daily|hour) limit|limit reached|hit your limit|resource.?exhausted|exceeded your .{0,20}quota|quota exceeded", (429,)),
    (_E.AUTH, r"unauthori[sz]ed|authenticat|not logged in|log ?in (first|again|required)|/login|invalid.{0,10}(api.?key|token|credential)|(api.?key|credential)s?.{0,20}(missing|required|not (set|found|configured)|invalid|expired)|token.{0,10}expired", (401, 403)),
    (_E.OVERLOADED, r"overloaded|over capacity|service.?unavailable|bad gateway|internal server error", (500, 502, 503, 504, 529)),
    (_E.NETWORK, r"enotfound|econnrefused|econnreset|etimedout|eai_again|getaddrinfo|socket hang up|fetch failed|could ?n.t resolve|could not resolve|waiting for network|connection (error|failed|refused|reset|closed|lost)|(could not|could ?n.t|cannot|unable to) connect|network (error|is unreachable)|no internet|dns", ()),
    (_E.REFUSAL, r"content (policy|filter)|refus(ed|al)|safety", ()),
    (_E.BAD_REQUEST, r"invalid.?request|unknown model|model .{0,60}(not found|does not exist|not supported|not available)", (400, 404, 422)),
)  # fmt: skip
_ROWS = tuple((error, re.compile(words, re.IGNORECASE), codes) for error, words, codes in ROWS)
_STATUS = re.compile(
    r"\b(?:status|http|error|code)\W{0,4}(?:code\W{0,4})?([45]\d\d)\b", re.IGNORECASE
)


def classify(
    message: str,
    *,
    now: Millis,
    code: int | None = None,
    status: int | None = None,
    utc_offset_ms: int = 0,
) -> Trouble:
    """`code` is JSON-RPC's, `status` HTTP's, where there is one; `utc_offset_ms` is this machine's."""
    if status is None and (found := _STATUS.search(message)):
        status = int(found[1])
    at = resets_at(message, now=now, utc_offset_ms=utc_offset_ms)
    if code == AUTH_REQUIRED:
        return Trouble(error=_E.AUTH, rule="auth required", status=status)
    for error, words, codes in _ROWS:
        matched = words.search(message)
        if matched or status in codes:
            rule = matched[0] if matched else f"status {status}"
            back = error is _E.QUOTA and at is not None  # it comes back by itself
            if error is _E.RATE_LIMITED or back:
                return Trouble(error=_E.RATE_LIMITED, rule=rule, status=status, resumes_at=at)
            return Trouble(error=error, rule=rule, status=status)
    return Trouble(error=_E.UNKNOWN, status=status)


_UNFIT = re.compile(
    r"(unknown|unrecogni[sz]ed|unexpected|no such|invalid) (option|argument|flag|subcommand|command)"
    r"|unknown arguments?:",
    re.IGNORECASE,
)


def unfit(complaints: str) -> bool:
    """A program that does not know what it was told is of another version."""
    return _UNFIT.search(complaints) is not None


# --- when a limit resets -------------------------------------------------------------------------

_MOMENT = re.compile(
    r"(?P<year>20\d\d)-(?P<month>\d\d)-(?P<day>\d\d)[T ](?P<hour>\d\d):(?P<minute>\d\d)(?::(?P<second>\d\d))?"
    r"(?:\.\d+)?\s?(?P<zone>Z|UTC|[+-]\d\d:?\d\d)?"
)
_EPOCH = re.compile(r"(?:\||reset\w*\W{1,4}(?:at\W{1,2})?)(\d{10}|\d{13})\b", re.IGNORECASE)
_SPAN = re.compile(
    r"(?:retry.?after|again in|wait|resets? in|reset after)\W{0,4}(?P<spans>(?:\d+(?:\.\d+)?\s?"
    r"(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)?(?![a-z])[\s,]*(?:and )?)+)",
    re.IGNORECASE,
)
_PIECE = re.compile(r"(\d+(?:\.\d+)?)\s?([a-z]*)", re.IGNORECASE)
_CLOCK = re.compile(
    r"(?:resets?|again|until)\W{1,2}(?:at\W)?(\d{1,2})(?::(\d\d))?\s?(am|pm)?\b(?:\s?\((utc)\)|\s(utc)\b)?", re.IGNORECASE
)  # fmt: skip


def resets_at(message: str, *, now: Millis, utc_offset_ms: int = 0) -> Millis | None:
    for at in (
        _moment(message, utc_offset_ms),
        _epoch(message),
        _span(message, now),
        _clock(message, now, utc_offset_ms),
    ):
        if at is not None:
            return Millis(at) if now < at <= now + LONGEST else None
    return None


def _moment(message: str, utc_offset_ms: int) -> int | None:
    found = _MOMENT.search(message)
    if found is None:
        return None
    at = _days(int(found["year"]), int(found["month"]), int(found["day"])) * DAY
    at += int(found["hour"]) * HOUR + int(found["minute"]) * MINUTE
    at += int(found["second"] or 0) * SECOND
    zone = found["zone"]
    if zone is None:
        return at - utc_offset_ms
    if zone in ("Z", "UTC"):
        return at
    offset = int(zone[1:3]) * HOUR + int(zone[-2:]) * MINUTE
    return at - (offset if zone[0] == "+" else -offset)


def _days(year: int, month: int, day: int) -> int:
    """Since 1970, by the Gregorian calendar, with March as the first month."""
    year -= month <= 2  # noqa: PLR2004
    era, of_era = divmod(year, 400)
    of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468


def _epoch(message: str) -> int | None:
    found = _EPOCH.search(message)
    if found is None:
        return None
    number = int(found[1])
    return number if number >= EPOCH_MILLIS else number * SECOND


def _span(message: str, now: Millis) -> int | None:
    found = _SPAN.search(message)
    if found is None:
        return None
    total = 0.0
    for number, unit in _PIECE.findall(found["spans"]):
        total += float(number) * _unit(unit.lower())
    return now + int(total)


def _unit(name: str) -> int:
    if name.startswith(("ms", "milli")):
        return 1
    return {"m": MINUTE, "h": HOUR, "d": DAY}.get(name[:1], SECOND)


def _clock(message: str, now: Millis, utc_offset_ms: int) -> int | None:
    """The next time that the clock on the wall shows this."""
    found = _CLOCK.search(message)
    if found is None or not (found[2] or found[3]):
        return None
    hour, half = int(found[1]), (found[3] or "").lower()
    if half:
        hour = hour % NOON + (NOON if half == "pm" else 0)
    offset = 0 if found[4] or found[5] else utc_offset_ms
    local = now + offset
    at = local - local % DAY + hour * HOUR + int(found[2] or 0) * MINUTE
    return (at if at > local else at + DAY) - offset


# --- why a conversation does not come back (SPEC E3, E6) -------------------------------------------


class Refusal(StrEnum):
    NOT_FOUND = "not_found"  # the agent itself says that it does not know it
    UNSUPPORTED = "unsupported"
    AUTH = "auth"
    BUSY = "busy"  # another process has it
    OTHER = "other"


_UNKNOWN_SESSION = re.compile(
    r"(session|resource|thread|conversation|fork point).{0,80}(not found|does ?n.t exist|does not exist|unknown)"
    r"|(unknown|invalid|no such|no previous|no) (session|thread|conversation)s?\b(?!.{0,20}active)",
    re.IGNORECASE,
)
_BUSY = re.compile(r"active.?writer|already (loaded|in use|open)|in use by", re.IGNORECASE)


def refusal(code: int, message: str) -> Refusal:
    """`message` with whatever data came along."""
    if _BUSY.search(message):
        return Refusal.BUSY
    if code in (NOT_FOUND, -32001) or _UNKNOWN_SESSION.search(message):
        return Refusal.NOT_FOUND
    if code == NO_METHOD:
        return Refusal.UNSUPPORTED
    if code == AUTH_REQUIRED or classify(message, now=Millis(0)).error is ErrorClass.AUTH:
        return Refusal.AUTH
    return Refusal.OTHER
