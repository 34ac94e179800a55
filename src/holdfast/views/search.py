"""Finding words in what was said: titles, the user's words, the agent's, and what it called.

Rule 1: text is put together before it is looked at: it was saved in pieces, and a piece may end in the
        middle of a word.
Rule 2: what the agent's tools printed is not looked at: it is most of the bytes and little of the talk.
Rule 3: letters are the same in both cases, blanks are the same however many.
"""

from collections.abc import Iterable, Iterator

from holdfast.core import events as e
from holdfast.core.value import Value

KINDS = (
    e.InputAccepted,
    e.InputEdited,
    e.RunStarted,
    e.RoundStarted,
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


def passages(recorded: Iterable[tuple[int, int, e.Event]]) -> Iterator[Passage]:
    """(seq, at, event) in order."""
    pieces: dict[tuple[int, int], Passage] = {}
    for seq, at, event in recorded:
        match event:
            case e.TextSaved(round=round, part=part, offset=offset, text=text):
                known = pieces.get((round, part))
                whole = (known.text[:offset] if known else "") + text
                first = known.seq if known else seq
                pieces[round, part] = Passage(seq=first, at=at, who="agent", text=whole)
            case e.ResponseDropped():
                pieces.clear()
            case e.InputAccepted(text=words) | e.InputEdited(text=words):
                yield Passage(seq=seq, at=at, who="user", text=words)
            case e.RunStarted(input=None, text=str(words)):
                yield Passage(seq=seq, at=at, who="user", text=words)
            case e.RoundStarted():
                yield from pieces.values()
                pieces.clear()
            case e.ResponseFinished(calls=calls):
                for call in calls:
                    asked = f"{call.name} {call.arguments}"
                    yield Passage(seq=seq, at=at, who="tool", text=asked)
            case e.CallObserved(call=call):
                yield Passage(seq=seq, at=at, who="tool", text=f"{call.name} {call.arguments}")
            case _:
                pass
    yield from pieces.values()


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
    text = passage.text
    if words not in plain(text):
        text = " ".join(text.split())
        if " " not in words or words not in plain(text):
            return None
    at = plain(text).index(words)
    begin, end = max(at - AROUND, 0), min(at + len(words) + AROUND, len(text))
    before, after = "..." if begin else "", "..." if end < len(text) else ""
    lead = before + _flat(text[begin:at]).lstrip()
    match = _flat(text[at : at + len(words)])
    tail = _flat(text[at + len(words) : end]).rstrip() + after
    return Snippet(text=lead + match + tail, begin=len(lead), end=len(lead) + len(match))


def _flat(text: str) -> str:
    """On one line; one character stays one."""
    return "".join(" " if char.isspace() else char for char in text)
