"""One line per stop, for people."""

# spec: K2 I5

import pytest

from holdfast.core.session import ErrorClass, Evidence, Stop, StopReason
from holdfast.views.stops import stop_out
from holdfast.views.words import beyond, explained

R = StopReason
SAID = {
    "a limit is said once": (
        Stop(reason=R.ROUND_LIMIT, message="Round limit reached: 1 of 1 rounds (100%)."),
        "Round limit reached: 1 of 1 rounds (100%).",
    ),
    "with how much of it": (
        Stop(
            reason=R.BUDGET_EXCEEDED, percent=120, message="Token limit reached: 12 of 10 tokens."
        ),
        "Budget limit reached (120% used): Token limit reached: 12 of 10 tokens.",
    ),
    "an error with its class": (
        Stop(reason=R.ERROR, error=ErrorClass.AUTH, message="There is no key."),
        "Something went wrong: The key or login was refused. There is no key.",
    ),
    "a question ends as one": (
        Stop(reason=R.INTERRUPTED, evidence=Evidence(daemon_stopping=True)),
        "Session was interrupted. Resume where you left off? The daemon was stopped.",
    ),
    "nothing more is known": (Stop(reason=R.CANCELLED), "Agent stopped by user"),
}


@pytest.mark.parametrize(("stop", "expected"), SAID.values(), ids=SAID)
def test_what_is_said_of_a_stop(stop, expected):
    assert expected == explained(stop_out(stop))


def test_a_banner_does_not_say_its_title_twice():
    stop, _ = SAID["a limit is said once"]

    assert "1 of 1 rounds (100%)." == beyond(stop_out(stop))
