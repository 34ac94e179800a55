"""What a screen tells: that an agent works, asks, waits, or has failed."""

import pytest

from holdfast.agents.terminal.ending import complaint
from holdfast.agents.terminal.screen import LOWEST, Screen

# spec: H1

WORDS = {"busy": ["esc to cancel"], "asks": ["Allow execution"], "idle": ["Type your message"]}
INPUT = "*  Type your message or @path"


class Shown:
    """A terminal that shows one thing."""

    def __init__(self, text):
        self.text = text

    async def screen(self, _name):
        return self.text


@pytest.mark.parametrize(
    ("rows", "idle", "asking"),
    [
        (["Answer.", INPUT], True, False),
        (["Answer.", "Thinking (ESC to cancel, 3s)", INPUT], False, False),
        (["Allow execution of [Shell]?", "1. Allow once"], False, True),
        (["A dialog that nobody knows"], False, False),
        (["", "esc to cancel", *["words"] * LOWEST, "", INPUT], True, False),
    ],
)
async def test_idle_is_still_and_waits_for_words(rows, idle, asking):
    screen = Screen(Shown("\n".join(rows)), "name", **WORDS)
    assert await screen.idle_for(0.0) is idle
    assert screen.asking is asking


def test_a_complaint_is_the_last_row_that_begins_like_one_and_what_is_below():
    shown = "✕ an earlier one\nwords\n✕ [API Error: 429\n  slow down]\n"
    assert complaint(shown, ["✕ "]) == "✕ [API Error: 429\nslow down]"
    assert complaint("words", ["✕ "]) == ""
