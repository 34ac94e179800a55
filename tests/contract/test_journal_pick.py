"""Some kinds of events alone, of a session: what searching and counting read."""

import pytest

from holdfast.core import events
from holdfast.ports import Damaged
from tests.contract.stores import writer

TITLED = events.SessionRenamed(title="a")
SAID = events.InputAccepted(input="i", text="words")
PIECE = events.TextSaved(round=1, text="more words")


async def test_only_what_was_asked_for_comes_with_its_place_and_time(store):
    async with store.open() as journal:
        alice, bob = await writer(journal), await writer(journal)
        await alice.append(TITLED, SAID, PIECE, TITLED, PIECE, at=7)
        await bob.append(PIECE, at=8)
        found = await journal.pick(alice.session, (events.InputAccepted, events.TextSaved))
        assert [(2, 7, SAID), (3, 7, PIECE), (5, 7, PIECE)] == [
            (r.seq, r.at, r.event) for r in found
        ]
        later = await journal.pick(alice.session, (events.TextSaved,), after=3)
        assert [5] == [r.seq for r in later]
        assert [] == await journal.pick(alice.session, ())
        assert [] == await journal.pick("ffffffffffff", (events.TextSaved,))


async def test_a_row_that_cannot_be_read_is_named_and_others_do_not_matter(store):  # spec: M1
    async with store.open() as journal:
        alice = await writer(journal)
        await alice.append(TITLED, PIECE)
        store.spoil(alice.session, 1, body=b"{")
        assert [2] == [r.seq for r in await journal.pick(alice.session, (events.TextSaved,))]
        with pytest.raises(Damaged) as damaged:
            await journal.pick(alice.session, (events.SessionRenamed,))
        assert 1 == damaged.value.seq
