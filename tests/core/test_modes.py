"""Which of an agent's modes is ours, and what its questions are answered with."""

# spec: E9, E1, B11

import pytest

from holdfast.core.modes import (
    NoMode,
    Offered,
    UseMode,
    Verdict,
    by_verdict,
    choose_mode,
    chosen,
    verdict,
    words,
)

CLAUDE = ("default", "acceptEdits", "plan", "bypassPermissions")
PROFILE = {"read-only": "plan", "ask": "default", "edits": "acceptEdits"}


@pytest.mark.parametrize(
    ("wanted", "offered", "known", "expected"),
    [
        ("read-only", CLAUDE, PROFILE, "plan"),
        ("edits", CLAUDE, PROFILE, "acceptEdits"),
        ("read-only", CLAUDE, {}, "plan"),
        ("full", ("read-only", "auto", "full-access"), {}, "full-access"),
        ("ask", ("default", "yolo"), {}, "default"),
        ("edits", (), {}, None),  # nothing to set, nothing lost
    ],
)
def test_a_mode_in_the_agents_own_words(wanted, offered, known, expected):
    assert UseMode(mode=expected) == choose_mode(wanted, offered, known)


@pytest.mark.parametrize("wanted", ["read-only", "ask"])
@pytest.mark.parametrize("offered", [(), ("build",)])
def test_what_restricts_is_set_or_the_agent_is_not_used(wanted, offered):
    found = choose_mode(wanted, offered, {})
    assert isinstance(found, NoMode) and f"{wanted!r}, so it gets no prompt" in found.why


def test_a_profile_is_believed_rather_than_a_likeness():
    assert isinstance(choose_mode("read-only", ("plan",), {"edits": "build"}), NoMode)


def test_what_widens_may_be_missing_and_is_said():
    found = choose_mode("full", ("default",), {})
    assert found.mode is None and "works in its own default" in found.note


YES, NO = Offered(id="1", name="Allow", kind="allow_once"), Offered(id="2", name="Deny", kind="reject_once")  # fmt: skip
TWICE = (YES, Offered(id="3", name="Allow and edit", kind="allow_once"), NO)


@pytest.mark.parametrize(
    ("mode", "kind", "expected"),
    [
        ("full", "execute", Verdict.ALLOW),
        ("read-only", "read", Verdict.ALLOW),
        ("read-only", "edit", Verdict.DENY),
        ("read-only", None, Verdict.DENY),
        ("ask", "read", Verdict.ASK),
        ("edits", "execute", Verdict.ASK),
    ],
)
def test_who_answers(mode, kind, expected):
    assert expected is verdict(mode, kind)


def test_a_person_is_offered_our_words_unless_they_say_the_same():
    assert ("yes", "no") == words((YES, NO))
    assert ("Allow", "Allow and edit", "no") == words(TWICE)


@pytest.mark.parametrize(
    ("answer", "options", "expected"),
    [
        ("yes", (YES, NO), "1"),
        ("Deny", (YES, NO), "2"),
        ("Allow and edit", TWICE, "3"),
        ("rather not, use make instead", (YES, NO), "2"),
        ("rather not", (YES,), None),
    ],
)
def test_which_option_an_answer_means(answer, options, expected):
    assert expected == chosen(answer, options)


def test_a_verdict_finds_its_option():
    assert ("1", "2", None) == (
        by_verdict(Verdict.ALLOW, (YES, NO)),
        by_verdict(Verdict.DENY, (YES, NO)),
        by_verdict(Verdict.DENY, (YES,)),
    )
