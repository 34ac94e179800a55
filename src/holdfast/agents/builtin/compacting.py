"""Asks the model for a summary of the conversation so far (SPEC B9).

Nothing is changed by asking: whoever is killed meanwhile asks again. If even that request is too long,
the summary is made without the model.
"""

from typing import NamedTuple

from holdfast.agents.builtin.model import Ended, Model, ModelFailed, Request, TextPiece, ToolSchema
from holdfast.core.budget import NOTHING, Usage
from holdfast.core.compaction import plain_summary
from holdfast.core.messages import Message
from holdfast.core.session import ErrorClass


class Summary(NamedTuple):
    text: str
    usage: Usage = NOTHING


async def summarise(
    model: Model,
    messages: tuple[Message, ...],
    *,
    system: str,
    tools: tuple[ToolSchema, ...],
    finished: int,
) -> Summary:
    """`messages` end with the instruction. Tools are named because calls are in there: some
    providers insist; what the model would call now is not."""
    request = Request(
        system=system, messages=messages, tools=tools, finished=finished, summary=True
    )
    pieces: list[str] = []
    usage = NOTHING
    try:
        async for piece in model.stream(request):
            if isinstance(piece, TextPiece):
                pieces.append(piece.text)
            elif isinstance(piece, Ended):
                usage = piece.usage
    except ModelFailed as failed:
        if failed.error is not ErrorClass.CONTEXT_OVERFLOW:
            raise
        pieces.clear()
    text = "".join(pieces).strip()
    return Summary(text or plain_summary(messages[:-1]), usage)
