"""Asks the model for a summary of a conversation so far: the session's, or a coder's (SPEC B9).

Nothing is changed by asking: whoever is killed meanwhile asks again. If even that request is too long,
the summary is made without the model.
"""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from holdfast.agents.builtin.model import Ended, Model, ModelFailed, Request, TextPiece
from holdfast.agents.builtin.request import Mender
from holdfast.core import events as e
from holdfast.core.budget import NOTHING, Usage
from holdfast.core.compaction import NEAR, plain_summary, told
from holdfast.core.conversation import Conversation
from holdfast.core.session import ErrorClass
from holdfast.core.value import replace

CHARACTERS = 3  # of a token, at least
COMPACTING = "The conversation is near the model's limit: its earlier part is being summarised."

Patience = Callable[[ModelFailed], Awaitable[None]]  # raises what it was given if waiting is no use


class Summary(NamedTuple):
    text: str
    usage: Usage = NOTHING


async def shortened(
    conversation: Conversation,
    cut: int,
    asking: Request,
    *,
    model: Model,
    mender: Mender,
    window: int,
    patience: Patience,
) -> e.ConversationCompacted:
    """What is to stand for the messages before `cut`. `asking` is how this model is asked: tools are
    named because calls are in there, and some providers insist; what it would call now is not."""
    head = conversation.messages()[:cut]
    most = window * CHARACTERS * NEAR // 100 or None
    request = replace(asking, messages=mender.to_summarise(head, most=most), summary=True)
    while True:
        try:
            summary = await _summarised(model, request)
        except ModelFailed as failed:
            await patience(failed)
            continue
        text = told(summary.text, head)
        return e.ConversationCompacted(summary=text, kept_from=cut, usage=summary.usage)


async def _summarised(model: Model, request: Request) -> Summary:
    """Its messages end with the instruction."""
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
    return Summary(text or plain_summary(request.messages[:-1]), usage)
