"""Text that grows is told in pieces, counted as a browser counts."""

from holdfast.server.watching import Watch
from holdfast.views.items import AssistantItem


def item(text, thinking="", *, streaming=True):
    about = {"id": "1000", "seq": 1, "place": 1000, "at": "", "round": 1, "model": ""}
    return AssistantItem(text=text, thinking=thinking, streaming=streaming, **about)


def test_a_text_grows_by_pieces_whose_offsets_are_utf16():  # spec: J2
    watch = Watch(None, "0123456789ab")
    assert watch._pieces(item("a🐚")) is None  # the whole item first
    (piece,) = watch._pieces(item("a🐚é🐙"))
    assert (piece.item, piece.field, piece.offset, piece.text) == ("1000", "text", 3, "é🐙")
    (piece,) = watch._pieces(item("a🐚é🐙!", ""))
    assert (piece.offset, piece.text) == (6, "!")
    (piece,) = watch._pieces(item("a🐚é🐙!", "hm"))
    assert (piece.field, piece.offset, piece.text) == ("thinking", 0, "hm")


def test_a_text_that_was_dropped_or_is_finished_comes_whole():  # spec: J2
    watch = Watch(None, "0123456789ab")
    watch._pieces(item("half of it"))
    assert watch._pieces(item("")) is None
    (piece,) = watch._pieces(item("again"))
    assert piece.offset == 0
    assert watch._pieces(item("again", streaming=False)) is None
