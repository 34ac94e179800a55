"""Looking for words in all sessions, the one that changed last first.

One session after another, a hop to the journal each, so that whoever else reads meanwhile is not kept
waiting. Nothing is kept: what was said is in the journal, and reading it is quick (bench/search.py).
"""

import asyncio

from holdfast.core.ids import Millis, SessionId
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
LONG = 500  # events: longer ones are looked through beside the loop


async def search(journal: Journal, query: str, limit: int) -> SearchOut:
    words = wanted(query)
    if not words:
        raise Failure("invalid", "There is nothing to search for.", "Give some words.")
    hits: list[Hit] = []
    looked, before = 0, None
    while page := await journal.rows(limit=PAGE, before=before):
        for row in page:
            looked += 1
            hits += await _in_session(journal, row, words)
            if len(hits) > limit:
                found = tuple(hits[:limit])
                return SearchOut(query=query, hits=found, sessions=looked, truncated=True)
        before = (page[-1].updated_at, page[-1].session)
    return SearchOut(query=query, hits=tuple(hits), sessions=looked)


async def _in_session(journal: Journal, row: Row, words: str) -> list[Hit]:
    """Newest first, its title before all. One that cannot be read is passed over: it says so itself."""
    if row.summary.trashed or row.quarantined:
        return []
    title = Passage(seq=0, at=row.created_at, who="title", text=row.summary.title)
    named = found_in(title, words)
    hits = [_hit(row, title, named)] if named else []
    try:
        said = await journal.pick(row.session, KINDS)
    except JournalError:
        return hits

    def look() -> list[Hit]:
        found = [(p, s) for p in passages(said) if (s := found_in(p, words)) is not None]
        found.sort(key=lambda pair: pair[0].seq, reverse=True)
        return [_hit(row, passage, snippet) for passage, snippet in found[:OF_ONE]]

    return hits + (await asyncio.to_thread(look) if len(said) > LONG else look())


def _hit(row: Row, passage: Passage, snippet: Snippet) -> Hit:
    return Hit(
        session=SessionId(row.session),
        title=row.summary.title,
        seq=passage.seq,
        at=rfc3339(Millis(passage.at)),
        who=passage.who,
        snippet=snippet.text,
        begin=snippet.begin,
        end=snippet.end,
    )
