"""No credential is stored. spec: C6."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.redact import (
    REDACTED,
    redact_arguments,
    redact_text,
    redact_value,
    secret_name,
)

KEY = "sk-live-0123456789"
KNOWN = frozenset({KEY})
NONE: frozenset[str] = frozenset()

SECRET_NAMES = [
    "secret",
    "client_secret",
    "password",
    "PASSWORD",
    "db-password",
    "passwd",
    "passphrase",
    "credential",
    "credentials",
    "bearer",
    "api key",
    "api_key",
    "api-key",
    "apikey",
    "apiKey",
    "OPENAI_API_KEY",
    "X-Api-Key",
    "access token",
    "accessToken",
    "refresh_token",
    "token",
    "authorization",
    "Authorization",
    "private key",
    "private_key",
    "Set-Cookie",
]
HARMLESS_NAMES = [
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "max_tokens",
    "budget_tokens",
    "total_tokens",
    "tokens",
    "token_count",
    "resume_token",
    "next_page_token",
    "path",
    "command",
    "author",
    "key",
    "keyboard",
    "pattern",
]


@pytest.mark.parametrize("name", SECRET_NAMES)
def test_a_value_under_such_a_name_is_redacted(name):
    given_ = json.dumps({"path": "a.py", name: "hunter2"})

    assert json.dumps({"path": "a.py", name: REDACTED}) == redact_arguments(given_, secrets=NONE)
    assert {name: REDACTED} == redact_value({name: "hunter2"}, secrets=NONE)


@pytest.mark.parametrize("name", HARMLESS_NAMES)
def test_a_value_under_another_name_is_not(name):
    given_ = json.dumps({name: 4096})

    assert given_ is redact_arguments(given_, secrets=KNOWN)
    assert False is secret_name(name)


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        ('[{"a": [{"password": "x"}]}]', '[{"a": [{"password": "[redacted]"}]}]'),
        (
            '{"credentials": {"user": "u", "pass": ["x"]}, "b": 1}',
            '{"credentials": "[redacted]", "b": 1}',
        ),
        ('{"password": 1234}', '{"password": "[redacted]"}'),
        ('{"password": "a\\"b}{", "b": 2}', '{"password": "[redacted]", "b": 2}'),
        ('{"password": "x", "password": ""}', '{"password": "[redacted]", "password": ""}'),
        ('{"pass\\u0077ord": "x"}', '{"pass\\u0077ord": "[redacted]"}'),
        (
            '{ "a" : 1.0,\n\t"secret" : [ 1 ] ,"z":1e5 }',
            '{ "a" : 1.0,\n\t"secret" : "[redacted]" ,"z":1e5 }',
        ),
        ('{"password": "line\nbreak"}', '{"password": "[redacted]"}'),
    ],
)
def test_only_the_secret_changes_at_any_depth_and_in_any_form(given_, expected):
    assert expected == redact_arguments(given_, secrets=NONE)


def test_no_depth_is_too_deep():
    deep = "[" * 5000 + '{"password": "x"}' + "]" * 5000

    assert deep.replace('"x"', '"[redacted]"') == redact_arguments(deep, secrets=NONE)


@pytest.mark.parametrize(
    "text",
    [
        '{"has_password": true, "secret": null, "token": "", "credentials": {}, "cookies": []}',
        '{ "b":1,\n "a" : [1.50, "\\u00e9"] }',
        '"just text"',
        "null",
        "",
        "not json {",
    ],
)
def test_where_nothing_is_to_be_redacted_the_very_same_text_comes_back(text):
    assert text is redact_arguments(text, secrets=KNOWN)


def test_a_known_secret_is_redacted_under_any_name():
    given_ = json.dumps({"command": f"curl -H 'x: {KEY}' example.com", KEY: 1})

    expected = {"command": "curl -H 'x: [redacted]' example.com", REDACTED: 1}
    assert expected == json.loads(redact_arguments(given_, secrets=KNOWN))


def test_in_what_is_not_json_known_secrets_are_redacted():
    assert (
        redact_arguments('{"password": "x", "k": "' + KEY, secrets=KNOWN)
        == '{"password": "x", "k": "[redacted]'
    )


def test_a_known_secret_is_redacted_in_text():
    assert redact_text(f"a {KEY} b {KEY}", secrets=KNOWN) == "a [redacted] b [redacted]"


def test_a_secret_of_five_characters_is_left_alone_and_one_of_six_is_not():
    assert redact_text("hello hello!", secrets=frozenset({"hello", "hello!"})) == "hello [redacted]"


def test_secrets_that_overlap_both_go():
    assert redact_text("abcdefghij.", secrets=frozenset({"abcdefg", "defghij"})) == "[redacted]."


def test_a_secret_of_several_lines_is_found_as_json_writes_it():
    several_lines = '-----BEGIN "KEY"-----\nabc'

    actual = redact_text(json.dumps({"out": several_lines}), secrets=frozenset({several_lines}))

    assert json.loads(actual) == {"out": REDACTED}


def test_a_nested_value_is_redacted_and_an_innocent_one_is_the_same_object():
    innocent = {"a": [1, {"b": ("c", None)}], "max_tokens": 5}
    assert innocent is redact_value(innocent, secrets=KNOWN)

    actual = redact_value({"a": [innocent, {"api_key": "x"}], "t": (KEY, 1)}, secrets=KNOWN)

    assert {"a": [innocent, {"api_key": REDACTED}], "t": (REDACTED, 1)} == actual
    assert innocent is actual["a"][0]


# --- for every value -------------------------------------------------------------------------

names = st.one_of(st.sampled_from([*SECRET_NAMES, *HARMLESS_NAMES, KEY]), st.text(max_size=5))
values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=9), st.just(f"my {KEY}!")),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(names, inner, max_size=3)),
    max_leaves=12,
)
HARMLESS = (None, True, False, "", [], {})


def leaks(value):
    if isinstance(value, dict):
        return any(
            (secret_name(k) and v not in (*HARMLESS, REDACTED)) or leaks(v) or KEY in k
            for k, v in value.items()
        )
    if isinstance(value, list):
        return any(map(leaks, value))
    return isinstance(value, str) and KEY in value


@given(values, st.sampled_from([None, 2]), st.booleans())
def test_text_and_value_are_redacted_alike_and_nothing_leaks(value, indent, ascii_only):
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)

    actual = redact_arguments(text, secrets=KNOWN)

    assert redact_value(value, secrets=KNOWN) == json.loads(actual)
    assert not leaks(json.loads(actual))
    assert actual == redact_arguments(actual, secrets=KNOWN)


@given(st.text(max_size=60))
def test_any_text_at_all_can_be_redacted(text):
    redact_arguments(text, secrets=frozenset({text[:6], text[3:12]}))
