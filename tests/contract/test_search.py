"""Words in all sessions, on both stores: found in pieces, newest first, and again after they went on."""

# spec: I1

import pytest

from holdfast.core import events as e
from holdfast.server.desk import Failure
from holdfast.server.searching import Searcher
from holdfast.views.sessions import Summary
from tests.contract.stores import writer


async def say(w, *texts, at=1000, title="a title"):
    pieces, offset = [], 0
    for text in texts:
        pieces.append(e.TextSaved(round=1, offset=offset, text=text))
        offset += len(text)
    await w.append(*pieces, at=at, summary=Summary(title=title))


async def test_newest_first_across_pieces_with_titles(store):
    async with store.open() as journal:
        first, second = await writer(journal), await writer(journal)
        await say(first, "a nee", "dle in", " a haystack", at=10)
        await say(second, "another one", at=20, title="The Needle")
        found = await Searcher().search(journal, "NEEDLE", 20)
        assert [(second.session, "title", 0), (first.session, "agent", 1)] == [
            (h.session, h.who, h.seq) for h in found.hits
        ]
        assert (2, False) == (found.sessions, found.truncated)


@pytest.mark.parametrize("kept", [0, 1_000_000])
async def test_what_came_since_is_found_whether_it_was_kept_or_not(store, kept):
    searcher = Searcher(kept)
    async with store.open() as journal:
        w = await writer(journal)
        await say(w, "before")
        assert () == (await searcher.search(journal, "after", 20)).hits
        await w.append(e.InputAccepted(input="i", text="and after"))
        for _ in range(2):
            [hit] = (await searcher.search(journal, "after", 20)).hits
            assert (2, "user") == (hit.seq, hit.who)


async def test_one_that_cannot_be_read_hides_no_other(store):  # spec: M1
    async with store.open() as journal:
        broken, well = await writer(journal), await writer(journal)
        await say(broken, "the words")
        await say(well, "the words")
        store.spoil(broken.session, 1, body=b"{")
        found = await Searcher().search(journal, "words", 20)
        assert [well.session] == [h.session for h in found.hits]


async def test_the_trash_is_not_searched_and_nothing_is_no_query(store):
    async with store.open() as journal:
        w = await writer(journal)
        await w.append(e.InputAccepted(input="i", text="words"), summary=Summary(trashed=True))
        assert () == (await Searcher().search(journal, "words", 20)).hits
        with pytest.raises(Failure):
            await Searcher().search(journal, " \n", 20)
