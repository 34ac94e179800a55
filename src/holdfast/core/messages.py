"""What is said between the user, the model and the tools, in no provider's own format.

An adapter turns these into its provider's body and nothing else does. A result stands right after
the message whose calls it answers. What is ours and not the user's words is marked: a `briefing`
is text that we wrote for the model, a `synthetic` result is one that no tool gave.
"""

from holdfast.core.ids import BlobId, CallId, InputId, RoundNumber, RunNumber
from holdfast.core.session import Closing
from holdfast.core.value import Value


class TextPart(Value, tag="text", tag_field="type"):
    text: str
    signature: str | None = None  # some providers sign text and calls as well as thinking


class ThinkingPart(Value, tag="thinking", tag_field="type"):
    text: str = ""
    signature: str | None = None
    redacted: bool = False  # the provider hid the text; the signature is all there is


class CallPart(Value, tag="call", tag_field="type"):
    id: CallId
    name: str
    arguments: str = "{}"  # JSON text, as the model wrote it
    signature: str | None = None


Part = TextPart | ThinkingPart | CallPart


class UserMessage(Value, tag="user", tag_field="type"):
    """One turn: the briefing, if there is one, then the user's words, if there are any (SPEC D11)."""

    text: str | None = None
    briefing: str | None = None
    input: InputId | None = None
    run: RunNumber = RunNumber(0)  # the run it began; 0 where it began none
    summarised: int = 0  # how many messages this one stands for since a compaction


class AssistantMessage(Value, tag="assistant", tag_field="type"):
    round: RoundNumber
    parts: tuple[Part, ...] = ()
    model: str = ""
    provider: str = ""
    partial: bool = False  # the response was cut off

    @property
    def calls(self) -> tuple[CallPart, ...]:
        return tuple([part for part in self.parts if isinstance(part, CallPart)])

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, TextPart))


class Result(Value):
    call: CallId
    name: str
    output: str = ""
    failed: bool = False
    blob: BlobId | None = None  # the whole of an output too large for a row
    synthetic: bool = False


class ResultsMessage(Value, tag="results", tag_field="type"):
    results: tuple[Result, ...]


Message = UserMessage | AssistantMessage | ResultsMessage

UNKNOWN = (
    "Outcome unknown: this call was begun and its result was never seen. "
    "Check the workspace before you run it again."
)

# What the model is told where a closing has no words of its own.
CLOSED = {
    Closing.UNKNOWN: UNKNOWN,
    Closing.CANCELLED: "Cancelled by the user.",
    Closing.NOT_STARTED: "Not started: the run stopped before this call.",
    Closing.PROBED_DONE: "Done: its effect was found in the workspace.",
    Closing.DENIED: "Denied by the user.",
}


def closed(*, call: CallId, name: str, how: Closing, output: str) -> Result:
    """The result of a call that was settled without one of its own."""
    return Result(
        call=call,
        name=name,
        output=output or CLOSED[how],
        failed=how is not Closing.PROBED_DONE,
        synthetic=True,
    )
