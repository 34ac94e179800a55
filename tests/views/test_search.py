"""Words are found across the pieces they were saved in, whatever their case."""

# spec: I1

from hypothesis import given
from hypothesis import strategies as st

from holdfast.core import events as e
from holdfast.core.session import Call
from holdfast.ports import Recorded
from holdfast.views.search import Passage, found_in, passages, wanted


def said(*events):
    return [Recorded(seq=n, at=100 + n, event=event) for n, event in enumerate(events, 1)]


def texts(*events):
    return [(p.seq, p.who, p.text) for p in passages(said(*events))]


def piece(text, offset=0, round=1, part=0):
    return e.TextSaved(round=round, part=part, offset=offset, text=text)


def test_pieces_are_put_together_and_may_overlap():
    assert [(1, "agent", "hello world")] == texts(piece("hel"), piece("lo wor", 3), piece("rld", 8))


def test_parts_and_rounds_are_passages_of_their_own():
    found = texts(piece("one"), piece("two", part=1), piece("three", round=2), piece(" more", 3))
    assert ["one more", "two", "three"] == [text for _, _, text in found]


def test_a_dropped_response_was_never_said():
    found = texts(piece("half a thou"), e.ResponseDropped(round=1), piece("whole"))
    assert [(3, "agent", "whole")] == found


def test_the_users_words_and_the_calls_are_there():
    call = Call(id="c", name="write", arguments='{"path":"a.py"}')
    found = texts(
        e.InputAccepted(input="i", text="please"),
        e.ResponseFinished(round=1, calls=(call,)),
        e.CallObserved(round=1, call=call),
    )
    assert [
        (1, "user", "please"),
        (2, "tool", 'write {"path":"a.py"}'),
        (3, "tool", 'write {"path":"a.py"}'),
    ] == found


def look(text, query):
    return found_in(Passage(seq=1, at=1, who="user", text=text), wanted(query))


def test_case_and_blanks_do_not_matter():
    assert "Straße und" == look("Die Straße\n  und der Weg", "straße UND").text[4:14]
    assert look("nothing of it", "elsewhere") is None
    assert look("ÄÖÜ", "äöü") is not None


def test_a_snippet_is_one_line_and_says_where_the_words_are():
    found = look("x" * 100 + "\nfind\tme " + "y" * 100, "find me")
    assert "find me" == found.text[found.begin : found.end].lower()
    assert found.text.startswith("...") and found.text.endswith("...")
    assert "\n" not in found.text and len(found.text) < 140


@given(st.text(max_size=60), st.text("abcXYZ", min_size=1, max_size=8), st.text(max_size=60))
def test_what_is_there_is_found_at_its_place(before, words, after):
    found = look(before + words + after, words)
    assert wanted(words) == wanted(found.text[found.begin : found.end])
