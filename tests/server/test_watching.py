"""What a page is told: text that grows in pieces, counted as a browser counts; and every end."""

# spec: J2

import asyncio
from types import SimpleNamespace

from holdfast.core import events as e
from holdfast.server.watching import Watch
from holdfast.views.items import AssistantItem
from tests.engine.rig import OPEN, Late, Rig, S, prompt, story, until
from tests.server.scripted import NoChoices


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


@story
async def test_a_page_that_looks_between_the_writing_and_the_telling_hears_of_the_end(folder):
    """Its document comes from the engine, its items from the journal, which knows first."""
    async with Rig(folder, wrap=Late) as rig:
        await rig.submit(OPEN)
        rig.journal.withhold(e.RunStopped)
        await rig.submit(prompt())
        await rig.journal.written.wait()
        frames = Watch(SimpleNamespace(engine=rig.engine, choices=NoChoices()), S).frames(
            0, reset=True
        )
        assert (await anext(frames)).document.run is not None
        looking = asyncio.create_task(anext(frames))
        await until(lambda: S in rig.engine.feed._waiting)
        rig.journal.told.set()

        assert (await looking).document.run is None
        await frames.aclose()
