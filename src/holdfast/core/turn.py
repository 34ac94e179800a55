"""One response being put together from the pieces in which it was saved, with its calls' results.

Rule 1: pieces merge by offset. What is there already adds nothing; what lies beyond the end waits
        for the piece before it, and is left out as long as that is missing.
Rule 2: a finished response takes no more pieces, except to fill such a hole: what comes late is
        of an earlier attempt.
Rule 3: a later attempt's result replaces an earlier one; anything else is a duplicate.
Rule 4: what a model says after the results of its calls is a message after those results. So it
        is with agents that run their own calls in the middle of a response.
Rule 5: of a response that was cut off its text stays, and the calls that were made. Its thinking
        does not: it was never signed, and no provider takes it back.
"""

from holdfast.core.events import CallClosed, CallFinished, ResponseFinished, Signature
from holdfast.core.ids import CallId, RoundNumber
from holdfast.core.messages import (
    AssistantMessage,
    CallPart,
    Message,
    Part,
    Result,
    ResultsMessage,
    TextPart,
    ThinkingPart,
    closed,
)
from holdfast.core.session import Call
from holdfast.core.value import replace

PAIR = 2  # a text and a call, in order: the usual response needs no sorting
THINKING, TEXT, CALL = 0, 1, 2  # the order of those that claim one place in a response

Place = tuple[int, int, int, int]  # segment (rule 4), part, kind, order of arrival


class Pieces:
    """The text of one part."""

    __slots__ = ("chunks", "length", "place", "waiting")

    def __init__(self, place: Place) -> None:
        self.place = place
        self.chunks: list[str] = []
        self.length = 0
        self.waiting: dict[int, str] = {}

    def add(self, offset: int, text: str) -> None:
        if offset > self.length:
            if len(text) > len(self.waiting.get(offset, "")):
                self.waiting[offset] = text
            return
        self._append(offset, text)
        while self.waiting and (earliest := min(self.waiting)) <= self.length:
            self._append(earliest, self.waiting.pop(earliest))

    def _append(self, offset: int, text: str) -> None:
        rest = text[self.length - offset :] if offset < self.length else text
        if rest:
            self.chunks.append(rest)
            self.length += len(rest)

    @property
    def text(self) -> str:
        if len(self.chunks) > 1:
            self.chunks = ["".join(self.chunks)]
        return self.chunks[0] if self.chunks else ""


# A call's result, and the attempt it is the result of. 0: the call was never begun.
Settled = tuple[int, CallFinished | CallClosed]


class Turn:
    """A response and the results of its calls: one message, or two, or several pairs (rule 4)."""

    __slots__ = (
        "_messages",
        "attempt",
        "calls",
        "finished",
        "over",
        "pieces",
        "results",
        "round",
        "segment",
        "unanswered",
    )

    def __init__(self, round: RoundNumber, attempt: int) -> None:
        self.round = round
        self.attempt = attempt
        self.finished: ResponseFinished | None = None
        self.over = False  # a later round of the same run began
        self.pieces: dict[tuple[int, int], Pieces] = {}
        self.calls: dict[CallId, tuple[Place, Call]] = {}
        self.results: dict[CallId, Settled] = {}
        self.unanswered = 0
        self.segment = 0
        self._messages: tuple[Message, ...] | None = None

    @property
    def settled(self) -> bool:
        """Nothing more is to come: it may be summarised."""
        return (self.finished is not None or self.over) and not self.unanswered

    def add_piece(self, kind: int, part: int, offset: int, text: str) -> None:
        pieces = self.pieces.get((part, kind))
        if self.finished is not None and (pieces is None or not pieces.waiting):
            return
        if pieces is None:
            self._begin_segment()
            pieces = self.pieces[part, kind] = Pieces((self.segment, part, kind, 0))
        pieces.add(offset, text)
        self._messages = None

    def add_call(self, call: Call) -> None:
        if call.id not in self.calls:
            self._begin_segment()
            self._claim(call)

    def finish(self, event: ResponseFinished) -> None:
        if self.finished is None:
            self.finished = event
            for call in event.calls:
                if call.id not in self.calls:
                    self._claim(call)
            self._messages = None

    def settle(self, call: CallId, settled: Settled) -> None:
        earlier = self.results.get(call)
        if earlier is not None and earlier[0] >= settled[0]:
            return
        self.results[call] = settled
        self.unanswered -= earlier is None
        self._messages = None

    def clear(self, attempt: int) -> None:
        """What was streamed is asked for again. Calls that an agent made by itself were made."""
        self.attempt = attempt
        self.pieces.clear()
        self._messages = None

    def end(self) -> None:
        self.over = True
        self._messages = None

    def messages(self) -> tuple[Message, ...]:
        if self._messages is None:
            self._messages = tuple(self._pairs())
        return self._messages

    def _begin_segment(self) -> None:
        if self.calls and not self.unanswered:
            self.segment += 1

    def _claim(self, call: Call) -> None:
        self.calls[call.id] = (self.segment, call.part, CALL, len(self.calls)), call
        self.unanswered += 1
        self._messages = None

    def _pairs(self) -> list[Message]:
        placed = self._parts()
        if len(placed) > 1 and (len(placed) > PAIR or placed[0][0] > placed[1][0]):
            placed.sort(key=_place)
        if not self.segment:
            return self._pair([part for _, part in placed], last=True) if placed else []
        by_segment: dict[int, list[Part]] = {}
        for place, part in placed:
            by_segment.setdefault(place[0], []).append(part)
        return [
            message
            for segment, parts in by_segment.items()
            for message in self._pair(parts, last=segment == self.segment)
        ]

    def _pair(self, parts: list[Part], *, last: bool) -> list[Message]:
        finished = self.finished
        calls = [part for part in parts if isinstance(part, CallPart)]
        response = AssistantMessage(
            round=self.round,
            parts=tuple(parts),
            model=finished.model if finished else "",
            provider=finished.provider if finished else "",
            partial=finished is None and not self.over and last and not calls,
        )
        results = [self._result(call) for call in calls if call.id in self.results]
        return [response, ResultsMessage(results=tuple(results))] if results else [response]

    def _parts(self) -> list[tuple[Place, Part]]:
        parts: list[tuple[Place, Part]] = []
        for pieces in self.pieces.values():
            text = pieces.text
            if text and pieces.place[2] == TEXT:
                parts.append((pieces.place, TextPart(text=text)))
            elif text and self.finished is not None:
                parts.append((pieces.place, ThinkingPart(text=text)))
        for place, call in self.calls.values():
            arguments = call.arguments or "{}"  # so some providers write "no arguments"
            parts.append((place, CallPart(id=call.id, name=call.name, arguments=arguments)))
        if self.finished is not None:
            for signature in self.finished.signatures:
                _sign(parts, signature, self.segment)
        return parts

    def _result(self, part: CallPart) -> Result:
        event = self.results[part.id][1]
        if isinstance(event, CallClosed):
            return closed(call=part.id, name=part.name, how=event.how, output=event.output)
        return Result(
            call=part.id,
            name=part.name,
            output=event.output,
            failed=event.failed,
            blob=event.blob,
        )


def _place(placed: tuple[Place, Part]) -> Place:
    return placed[0]


def _sign(parts: list[tuple[Place, Part]], signature: Signature, segment: int) -> None:
    """Gives a signature back to the part it came with; one that came alone is hidden thinking."""
    here = [i for i, (place, _) in enumerate(parts) if place[1] == signature.part]
    index = min(here, key=lambda i: parts[i][0], default=None)
    place, part = parts[index] if index is not None else (None, None)
    match part:
        case ThinkingPart():
            signed: Part = replace(part, signature=signature.value, redacted=signature.redacted)
        case TextPart() | CallPart() if not signature.redacted:
            signed = replace(part, signature=signature.value)
        case _:
            index = None
            signed = ThinkingPart(signature=signature.value, redacted=signature.redacted)
    if index is None or place is None:
        parts.append(((segment, signature.part, THINKING, 0), signed))
    else:
        parts[index] = place, signed
