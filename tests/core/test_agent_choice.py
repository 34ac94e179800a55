"""Which way an agent is run: the wish, or the first that is possible; else a refusal that helps."""

import pytest

from holdfast.core.agent_choice import Candidate, choose_way
from holdfast.core.errors import Refused

# spec: E1
CLAUDE = Candidate(
    name="claude",
    ways=("acp", "oneshot", "terminal"),
    possible=frozenset({"oneshot", "terminal"}),
    modes={"oneshot": frozenset({"edits", "full"}), "terminal": frozenset({"ask", "edits"})},
    install="npm install -g claude",
)


@pytest.mark.parametrize(
    ("wanted", "mode", "way"),
    [
        (None, "edits", "oneshot"),
        ("", "full", "oneshot"),
        (None, "ask", "terminal"),  # the first that can be told
        ("terminal", "edits", "terminal"),
    ],
)
def test_the_first_way_that_is_possible_and_can_be_told_the_mode(wanted, mode, way):
    assert choose_way(CLAUDE, wanted=wanted, mode=mode) == way


@pytest.mark.parametrize(
    ("wanted", "mode", "why", "hint"),
    [
        ("smoke", "edits", "cannot be run via 'smoke'", "acp, oneshot, terminal"),
        ("acp", "edits", "via acp: its program is not installed", "npm install -g claude"),
        ("oneshot", "ask", "via oneshot cannot be told the mode 'ask'", "edits, full"),
        (None, "read-only", "cannot be told the mode 'read-only'", "edits, full"),
    ],
)
def test_a_wish_is_granted_or_refused_never_replaced(wanted, mode, why, hint):
    with pytest.raises(Refused) as refused:
        choose_way(CLAUDE, wanted=wanted, mode=mode)
    assert why in refused.value.why
    assert hint in refused.value.hint
