"""What agents complain about, as they really said it, and what it means."""

# spec: B7, E6, E7, F5

import pytest

from holdfast.core.agent_errors import Refusal, classify, refusal, resets_at, unfit
from holdfast.core.session import ErrorClass as E
from holdfast.core.session import StopReason

NOW = 1_794_787_200_000  # 2026-11-16T00:00:00Z
MINUTE, HOUR = 60_000, 3_600_000

COMPLAINTS = [
    ("Authentication required", -32000, E.AUTH),
    ("Invalid API key · Please run /login", None, E.AUTH),
    ('API Error: 401 {"type":"error"}', None, E.AUTH),
    ("OPENAI_API_KEY is missing: api key not set", None, E.AUTH),
    ("Claude AI usage limit reached|1794790800", None, E.RATE_LIMITED),
    ("You've hit your limit · resets 3am", None, E.RATE_LIMITED),
    ("status: 429 RESOURCE_EXHAUSTED", None, E.RATE_LIMITED),
    ("You exceeded your current quota. Please retry after 30s", None, E.RATE_LIMITED),
    ("Your credit balance is too low to access the API", None, E.QUOTA),
    ("insufficient_quota", None, E.QUOTA),
    ("Overloaded", None, E.OVERLOADED),
    ("HTTP 529", None, E.OVERLOADED),
    ("TypeError: fetch failed", None, E.NETWORK),
    ("getaddrinfo ENOTFOUND api.example.org", None, E.NETWORK),
    ("prompt is too long: 210000 tokens > 200000 maximum", None, E.CONTEXT_OVERFLOW),
    (
        "messages.3.content.0: `thinking` blocks in the latest assistant message cannot be modified",
        None,
        E.CORRUPT_REASONING,
    ),
    ("The model `nope-9` does not exist", None, E.BAD_REQUEST),
    ("Something else entirely", -32603, E.UNKNOWN),
]


@pytest.mark.parametrize(("message", "code", "expected"), COMPLAINTS)
def test_a_complaint_has_a_class(message, code, expected):
    assert expected is classify(message, code=code, now=NOW).error


def test_only_a_limit_stops_as_one():
    limited = classify("rate limit, retry after 10 seconds", now=NOW)
    assert (StopReason.RATE_LIMITED, NOW + 10_000) == (limited.reason, limited.resumes_at)
    other = classify("Overloaded, try again in 10 seconds", now=NOW)
    assert (StopReason.ERROR, None) == (other.reason, other.resumes_at)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("limit reached|1794790800", NOW + HOUR),
        ("resets at 2026-11-16T02:00:00Z", NOW + 2 * HOUR),
        ("resets at 2026-11-16 04:00 +02:00", NOW + 2 * HOUR),
        ("Please retry after 90", NOW + 90_000),
        ("try again in 1 hour and 5 minutes", NOW + HOUR + 5 * MINUTE),
        ("reset after 2h30m", NOW + 2 * HOUR + 30 * MINUTE),
        ("retryDelay: retry-after 1.5s", NOW + 1_500),
        ("resets 3am (UTC)", NOW + 3 * HOUR),
        ("resets at 11:30pm UTC", NOW + 23 * HOUR + 30 * MINUTE),
        ("resets 3am", NOW + 2 * HOUR),  # here it is an hour later than in Greenwich
        ("resets 12am (UTC)", NOW + 24 * HOUR),  # it is midnight: the next one
        ("try again later", None),
        ("resets 3 times", None),
        ("resets at 2019-01-01T00:00:00Z", None),
        ("limit reached|9999999999", None),
    ],
)
def test_when_a_limit_resets(message, expected):
    assert expected == resets_at(message, now=NOW, utc_offset_ms=HOUR)


@pytest.mark.parametrize(
    ("code", "message", "expected"),
    [
        (-32002, "Resource not found", Refusal.NOT_FOUND),
        (-32603, "Internal error: No previous sessions found for this project", Refusal.NOT_FOUND),
        (-32601, "Session not found", Refusal.NOT_FOUND),
        (-32602, "Unknown session 123", Refusal.NOT_FOUND),
        (-32601, "Method not found", Refusal.UNSUPPORTED),
        (-32000, "Authentication required", Refusal.AUTH),
        (-32600, "thread_active_writer", Refusal.BUSY),
        (-32602, "session already loaded", Refusal.BUSY),
        (-32603, '{"service":"session"}', Refusal.OTHER),
    ],
)
def test_why_a_conversation_does_not_come_back(code, message, expected):
    assert expected is refusal(code, message)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("error: unknown option '--session-id'", True),
        ("error: unexpected argument '--json' found", True),
        ("Unknown arguments: session-id, sessionId", True),
        ("error: unrecognized subcommand 'resume'", True),
        ("No conversation found with session ID: 1", False),
    ],
)
def test_a_program_of_another_version_does_not_know_its_arguments(said, expected):
    assert expected is unfit(said)
