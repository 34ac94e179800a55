"""Moments and spans, as people and wires read them."""

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.views.moments import age, from_rfc3339, rfc3339, span

EVER = st.integers(0, 253_402_300_799_999)  # to the end of the year 9999


@given(EVER)
def test_a_moment_is_written_as_the_standard_library_writes_it(at):  # spec: I5
    moment = dt.datetime(1970, 1, 1) + dt.timedelta(milliseconds=at)  # noqa: DTZ001
    assert rfc3339(at) == moment.isoformat(timespec="milliseconds") + "Z"


@given(EVER)
def test_a_moment_is_read_as_it_was_written(at):
    assert from_rfc3339(rfc3339(at)) == at


@pytest.mark.parametrize("text", ["", "soon", "2026-11-15", "2026-11-15T20:00:00+01:00"])
def test_what_is_no_moment_is_said(text):
    with pytest.raises(ValueError, match="is not a moment"):
        from_rfc3339(text)


@pytest.mark.parametrize(
    ("millis", "words"),
    [(0, "0s"), (59_999, "59s"), (61_000, "1m1s"), (3_700_000, "1h1m"), (86_400_000 * 12, "12d")],
)
def test_a_span_is_said_in_its_largest_unit(millis, words):
    assert span(millis) == words


def test_an_age_is_never_of_the_future():
    assert (age(1000, 500), age(0, 60_000)) == ("just now", "1m ago")
