"""Each refusal as providers have been seen to send it, and what it means."""
# spec: B7

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from holdfast.core.provider_errors import SHOWN, classify
from holdfast.core.session import ErrorClass as E

HTML = "<!DOCTYPE html><html><body>502 Bad Gateway</body></html>"


def anthropic(kind: str, message: str = "") -> str:
    return json.dumps({"type": "error", "error": {"type": kind, "message": message}})


def openai(code: str | None, message: str = "", kind: str = "invalid_request_error") -> str:
    return json.dumps({"error": {"message": message, "type": kind, "param": None, "code": code}})


def gemini(code: int, status: str, message: str = "", *details: dict) -> str:
    error = {"code": code, "message": message, "status": status, "details": list(details)}
    return json.dumps({"error": error})


CASES = [
    (401, anthropic("authentication_error", "invalid x-api-key"), E.AUTH),
    (403, anthropic("permission_error", "no access"), E.AUTH),
    (401, openai("invalid_api_key", "Incorrect API key provided"), E.AUTH),
    (
        400,
        gemini(400, "INVALID_ARGUMENT", "API key not valid.", {"reason": "API_KEY_INVALID"}),
        E.AUTH,
    ),
    (402, "{}", E.QUOTA),
    (400, anthropic("invalid_request_error", "Your credit balance is too low to access"), E.QUOTA),
    (429, openai("insufficient_quota", "You exceeded your current quota"), E.QUOTA),
    (429, openai("rate_limit_exceeded", "Rate limit reached for gpt"), E.RATE_LIMITED),
    (429, anthropic("rate_limit_error", "slow down"), E.RATE_LIMITED),
    (429, gemini(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota"), E.RATE_LIMITED),
    (529, anthropic("overloaded_error", "Overloaded"), E.OVERLOADED),
    (200, anthropic("overloaded_error", "Overloaded"), E.OVERLOADED),
    (500, "", E.OVERLOADED),
    (503, gemini(503, "UNAVAILABLE", "The model is overloaded."), E.OVERLOADED),
    (409, "{}", E.OVERLOADED),
    (408, "", E.NETWORK),
    (None, "", E.NETWORK),
    (
        400,
        anthropic("invalid_request_error", "prompt is too long: 210 tokens > 200"),
        E.CONTEXT_OVERFLOW,
    ),
    (
        400,
        openai("context_length_exceeded", "This model's maximum context length"),
        E.CONTEXT_OVERFLOW,
    ),
    (413, anthropic("request_too_large", "Request exceeds the maximum size"), E.CONTEXT_OVERFLOW),
    (
        400,
        gemini(
            400,
            "INVALID_ARGUMENT",
            "The input token count (2) exceeds the maximum number of tokens",
        ),
        E.CONTEXT_OVERFLOW,
    ),
    (
        400,
        anthropic(
            "invalid_request_error", "messages.1.content.0: Invalid `signature` in `thinking` block"
        ),
        E.CORRUPT_REASONING,
    ),
    (
        400,
        anthropic(
            "invalid_request_error",
            "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified",
        ),
        E.CORRUPT_REASONING,
    ),
    (400, openai("invalid_encrypted_content", "could not be verified"), E.CORRUPT_REASONING),
    (400, gemini(400, "INVALID_ARGUMENT", "Thought signature is not valid."), E.CORRUPT_REASONING),
    (400, openai("content_policy_violation", "no"), E.REFUSAL),
    (
        400,
        anthropic("invalid_request_error", "Output blocked by content filtering policy"),
        E.REFUSAL,
    ),
    (404, anthropic("not_found_error", "model: claude-nope"), E.BAD_REQUEST),
    (422, openai(None, "tools: bad"), E.BAD_REQUEST),
    (200, HTML, E.NETWORK),
    (502, HTML, E.OVERLOADED),
    (403, HTML, E.AUTH),
    (404, HTML, E.BAD_REQUEST),
    (302, "", E.UNKNOWN),
    (400, "[" * 5000, E.BAD_REQUEST),
    (400, "[]", E.BAD_REQUEST),
    (500, '{"error": "boom"}', E.OVERLOADED),
    (500, '{"error": 7}', E.OVERLOADED),
]


@pytest.mark.parametrize(("status", "body", "error"), CASES)
def test_a_refusal_has_its_class(status, body, error):
    assert classify(status, headers={}, body=body).error is error


def test_a_page_is_told_by_its_header_as_well():
    found = classify(200, headers={"Content-Type": "text/html; charset=utf-8"}, body="Sign in")
    assert (found.error, found.message) == (E.NETWORK, "a web page, not an answer of a model")


NOW = datetime(2026, 2, 28, 23, 59, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "body", "wait"),
    [
        ({"Retry-After": "30"}, "", 30_000),
        ({"retry-after": "0.5"}, "", 500),
        ({"retry-after-ms": "1500", "retry-after": "1"}, "", 1500),
        ({"retry-after": format_datetime(NOW + timedelta(seconds=90), usegmt=True)}, "", 90_000),
        ({"retry-after": format_datetime(NOW - timedelta(hours=1), usegmt=True)}, "", 0),
        ({"retry-after": "Sunday, 01-Mar-2026 00:00:00 GMT"}, "", 30_000),
        ({"retry-after": "nan"}, "", None),
        ({"retry-after": "-3"}, "", None),
        ({"retry-after": "1e300"}, "", None),
        ({"retry-after": "soon"}, "", None),
        ({}, "", None),
        ({}, gemini(429, "RESOURCE_EXHAUSTED", "", {"retryDelay": "34.5s"}), 34_500),
    ],
)
def test_the_wait_that_is_asked_for_is_read(headers, body, wait):
    now = int(NOW.timestamp() * 1000)
    assert classify(429, headers=headers, body=body, now_ms=now).retry_after_ms == wait


@pytest.mark.parametrize("days", [0, 1, 58, 59, 60, 365, 789, 1095, 10_957, 11_016, 20_000, 47_540])
def test_a_date_is_counted_as_the_calendar_counts_it(days):
    at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=days, seconds=59)
    start = (days * 86_400 + 59) * 1000 - 7000
    headers = {"retry-after": format_datetime(at, usegmt=True)}
    assert classify(429, headers=headers, body="", now_ms=start).retry_after_ms == 7000


def test_a_long_message_is_cut_and_put_on_one_line():
    message = classify(400, headers={}, body=openai(None, "bad\n" * 1000)).message
    assert len(message) <= SHOWN + 4 and "\n" not in message
