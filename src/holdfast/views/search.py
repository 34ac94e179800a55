"""Finding words in what was said: titles, the user's words, the agent's, and what it called.

Rule 1: text is put together before it is looked at: it was saved in pieces, and a piece may end in the
        middle of a word.
Rule 2: what the agent's tools printed is not looked at: it is most of the bytes and little of the talk.
Rule 3: letters are the same in both cases, blanks are the same however many.
"""

from collections.abc import Iterable, Iterator
from typing import Protocol

from holdfast.core import events as e
from holdfast.core.value import Value

KINDS = (
    e.InputAccepted,
    e.InputEdited,
    e.RunStarted,
    e.TextSaved,
    e.ResponseDropped,
    e.ResponseFinished,
    e.CallObserved,
)
AROUND = 60  # characters of a snippet on either side


class Passage(Value):
    seq: int
    at: int
    who: str  # title, user, agent, tool
    text: str


class Hit(Value, omit_defaults=False):
    """`begin` and `end` are where the words stand in the snippet."""

    session: str
    title: str
    seq: int  # 0: the title
    at: str
    who: str
    snippet: str
    begin: int
    end: int


class SearchOut(Value, omit_defaults=False):
    query: str
    hits: tuple[Hit, ...]
    sessions: int  # that were looked at
    truncated: bool = False  # there is more: ask for more, or for less


class Snippet(Value):
    text: str
    begin: int
    end: int


class Placed(Protocol):
    """An event with its place and time."""

    @property
    def seq(self) -> int: ...
    @property
    def at(self) -> int: ...
    @property
    def event(self) -> e.Event: ...


class _Running:
    """A text that is still growing."""

    def __init__(self, seq: int) -> None:
        self.seq, self.at = seq, 0
        self._pieces: list[str] = []
        self._length = 0

    def add(self, at: int, offset: int, text: str) -> None:
        self.at = at
        if offset != self._length:  # it overlaps what is there, or begins again
            kept = "".join(self._pieces)[:offset]
            self._pieces, self._length = [kept], len(kept)
        self._pieces.append(text)
        self._length += len(text)

    def passage(self) -> Passage:
        return Passage(seq=self.seq, at=self.at, who="agent", text="".join(self._pieces))


def passages(recorded: Iterable[Placed]) -> Iterator[Passage]:
    running: dict[tuple[int, int], _Running] = {}
    for r in recorded:
        event = r.event
        if isinstance(event, e.TextSaved):  # most of them: asked for first
            place = (event.round, event.part)
            if place not in running:
                running[place] = _Running(r.seq)
            running[place].add(r.at, event.offset, event.text)
        elif isinstance(event, e.ResponseDropped):
            running = {place: kept for place, kept in running.items() if place[0] != event.round}
        else:
            for who, text in _said(event):
                yield Passage(seq=r.seq, at=r.at, who=who, text=text)
    for grown in running.values():
        yield grown.passage()


def _said(event: e.Event) -> Iterator[tuple[str, str]]:
    match event:
        case e.InputAccepted(text=words) | e.InputEdited(text=words):
            yield "user", words
        case e.RunStarted(input=None, text=str(words)):
            yield "user", words
        case e.ResponseFinished(calls=calls):
            yield from (("tool", f"{call.name} {call.arguments}") for call in calls)
        case e.CallObserved(call=call):
            yield "tool", f"{call.name} {call.arguments}"
        case _:
            pass


def plain(text: str) -> str:
    """As it is compared. (Not casefold: places in it must be places in the text.)"""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else "".join(_one(char) for char in text)


def _one(char: str) -> str:
    lowered = char.lower()
    return lowered if len(lowered) == 1 else char


def wanted(query: str) -> str:
    return plain(" ".join(query.split()))


def found_in(passage: Passage, words: str) -> Snippet | None:
    """`words` as `wanted` gives them."""
    text, lowered = passage.text, plain(passage.text)
    if words not in lowered:
        if " " not in words or any(word not in lowered for word in words.split()):
            return None
        text = " ".join(text.split())
        lowered = plain(text)
    at = lowered.find(words)
    if at < 0:
        return None
    begin, end = max(at - AROUND, 0), min(at + len(words) + AROUND, len(text))
    before, after = "..." if begin else "", "..." if end < len(text) else ""
    lead = before + _flat(text[begin:at]).lstrip()
    match = _flat(text[at : at + len(words)])
    tail = _flat(text[at + len(words) : end]).rstrip() + after
    return Snippet(text=lead + match + tail, begin=len(lead), end=len(lead) + len(match))


def _flat(text: str) -> str:
    """On one line; one character stays one."""
    return "".join(" " if char.isspace() else char for char in text)
