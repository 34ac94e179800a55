"""Looking for words in all sessions, the one that changed last first.

One session after another, a hop to the journal each, so that whoever else reads meanwhile is not kept
waiting. What was read is kept for the next look (somebody types a word, letter by letter), up to a
bound; a session that went on since is read again. The journal is what is true (bench/search.py).
"""

import asyncio
from typing import NamedTuple

from holdfast.core.ids import Millis, Seq, SessionId
from holdfast.ports import Journal, JournalError, Row
from holdfast.server.desk import Failure
from holdfast.views.moments import rfc3339
from holdfast.views.search import (
    KINDS,
    Hit,
    Passage,
    SearchOut,
    Snippet,
    found_in,
    passages,
    wanted,
)

PAGE = 500  # rows of the list at once
OF_ONE = 3  # hits of one session
LONG = 200  # passages: more are looked through beside the loop
KEPT = 16_000_000  # characters


class Talk(NamedTuple):
    """All that was said in a session, up to its head."""

    head: Seq
    passages: tuple[Passage, ...]
    size: int


class Searcher:
    def __init__(self, kept: int = KEPT) -> None:
        self._talks: dict[SessionId, Talk] = {}
        self._size, self._most = 0, kept

    async def search(self, journal: Journal, query: str, limit: int) -> SearchOut:
        words = wanted(query)
        if not words:
            raise Failure("invalid", "There is nothing to search for.", "Give some words.")
        hits: list[Hit] = []
        looked, before = 0, None
        while page := await journal.rows(limit=PAGE, before=before):
            for row in page:
                looked += 1
                hits += await self._in_session(journal, row, words)
                if len(hits) > limit:
                    found = tuple(hits[:limit])
                    return SearchOut(query=query, hits=found, sessions=looked, truncated=True)
            before = (page[-1].updated_at, page[-1].session)
        return SearchOut(query=query, hits=tuple(hits), sessions=looked)

    async def _in_session(self, journal: Journal, row: Row, words: str) -> list[Hit]:
        """Its title before all, then newest first. One that cannot be read says so itself."""
        if row.summary.trashed or row.quarantined:
            return []
        title = Passage(seq=0, at=row.created_at, who="title", text=row.summary.title)
        named = found_in(title, words)
        hits = [_hit(row, title, named)] if named else []
        try:
            said = await self._said(journal, row)
        except JournalError:
            return hits
        if len(said) > LONG:
            return hits + await asyncio.to_thread(_look, row, said, words)
        return hits + _look(row, said, words)

    async def _said(self, journal: Journal, row: Row) -> tuple[Passage, ...]:
        known = self._talks.get(row.session)
        if known is not None and known.head == row.head:
            return known.passages
        said = tuple(passages(await journal.pick(row.session, KINDS)))
        self._keep(row.session, Talk(row.head, said, sum(len(p.text) for p in said)))
        return said

    def _keep(self, session: SessionId, talk: Talk) -> None:
        """Those that do not fit are read each time: they are the ones that changed long ago."""
        left = self._talks.pop(session, None)
        self._size -= left.size if left is not None else 0
        if self._size + talk.size <= self._most:
            self._talks[session] = talk
            self._size += talk.size


def _look(row: Row, said: tuple[Passage, ...], words: str) -> list[Hit]:
    found = [(p, s) for p in said if (s := found_in(p, words)) is not None]
    found.sort(key=lambda pair: pair[0].seq, reverse=True)
    return [_hit(row, passage, snippet) for passage, snippet in found[:OF_ONE]]


def _hit(row: Row, passage: Passage, snippet: Snippet) -> Hit:
    return Hit(
        session=row.session,
        title=row.summary.title,
        seq=passage.seq,
        at=rfc3339(Millis(passage.at)),
        who=passage.who,
        snippet=snippet.text,
        begin=snippet.begin,
        end=snippet.end,
    )
