"""A model of each dialect, pointed at the scripted model server."""

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager

from holdfast.agents.builtin.model import (
    CallAsked,
    Ended,
    ModelFailed,
    Piece,
    Request,
    TextPiece,
    ThinkingPiece,
    ToolSchema,
)
from holdfast.agents.builtin.providers.paced import Patience
from holdfast.agents.builtin.providers.remote import Line, RemoteModel
from holdfast.core.ids import CallId, RoundNumber
from holdfast.core.messages import (
    AssistantMessage,
    CallPart,
    Message,
    Result,
    ResultsMessage,
    TextPart,
    ThinkingPart,
    UserMessage,
)
from holdfast.core.repair import repair
from holdfast.core.validate import Rules
from holdfast.testing.model_server import ModelServer

KEY = "sk-very-secret-0123456789"
ANTHROPIC = "anthropic:claude-sonnet-5-5"
CHAT = "openai-chat:gpt-5"
RESPONSES = "openai:gpt-5"
GEMINI = "google:gemini-3.8-flash"
COMPATIBLE = "deepseek:deepseek-chat"
ALL = (ANTHROPIC, CHAT, RESPONSES, GEMINI, COMPATIBLE)
BEGIN, GO_ON = UserMessage(text="begin"), UserMessage(text="go on")
READ = ToolSchema(
    name="read",
    description="reads",
    schema={"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
)


def environ(url: str) -> dict[str, str]:
    """Every provider's address is the server's."""
    return {
        "ANTHROPIC_API_KEY": KEY,
        "ANTHROPIC_BASE_URL": url,
        "OPENAI_API_KEY": KEY,
        "OPENAI_BASE_URL": f"{url}/v1",
        "GEMINI_API_KEY": KEY,
        "GOOGLE_GEMINI_BASE_URL": url,
        "DEEPSEEK_API_KEY": KEY,
        "DEEPSEEK_BASE_URL": f"{url}/v1",
    }


def now() -> int:
    return 1_700_000_000_000


@asynccontextmanager
async def line(**patience: float) -> AsyncIterator[Line]:
    made = Line(Patience(**patience))
    try:
        yield made
    finally:
        await made.close()


def request(*messages: Message) -> Request:
    return Request(
        system="You are a test.", messages=messages or (UserMessage(text="go"),), tools=(READ,)
    )


async def heard(model: RemoteModel, asked: Request | None = None) -> list[Piece]:
    async with aclosing(model.stream(asked or request())) as pieces:
        return [piece async for piece in pieces]


async def failed(model: RemoteModel) -> ModelFailed:
    try:
        got = await heard(model)
    except ModelFailed as failure:
        return failure
    raise AssertionError(f"it answered: {got}")


@asynccontextmanager
async def talking(name: str, *replies: dict, **patience: float):
    """The server, and a model of that name that talks to it."""
    async with ModelServer(replies) as server, line(**patience) as opened:
        yield server, RemoteModel(name, environ(server.url), line=opened, now=now)


def text(pieces: list[Piece]) -> str:
    return "".join(p.text for p in pieces if isinstance(p, TextPiece))


def thinking(pieces: list[Piece]) -> str:
    return "".join(p.text for p in pieces if isinstance(p, ThinkingPiece))


def calls(pieces: list[Piece]) -> list[CallAsked]:
    return [p for p in pieces if isinstance(p, CallAsked)]


def ended(pieces: list[Piece]) -> Ended:
    assert isinstance(pieces[-1], Ended)
    return pieces[-1]


def turn(pieces: list[Piece], *outputs: str) -> tuple[Message, ...]:
    """The response as it would come back from the journal, with the results of its calls."""
    end = ended(pieces)
    signed = {s.part: s for s in end.signatures}
    texts: dict[int, list] = {}
    for piece in pieces:
        if isinstance(piece, TextPiece | ThinkingPiece):
            texts.setdefault(piece.part, [type(piece), ""])[1] += piece.text
    parts = []
    asked = calls(pieces)
    for part in sorted({*texts, *(c.part for c in asked), *signed}):
        sign = signed.get(part)
        value = sign.value if sign else None
        call = next((c for c in asked if c.part == part), None)
        if call is not None:
            parts.append(
                CallPart(
                    id=CallId(call.id), name=call.name, arguments=call.arguments, signature=value
                )
            )
        elif part in texts and texts[part][0] is TextPiece:
            parts.append(TextPart(text=texts[part][1], signature=value))
        else:
            hidden = sign.redacted if sign else False
            said = texts[part][1] if part in texts else ""
            parts.append(ThinkingPart(text=said, signature=value, redacted=hidden))
    response = AssistantMessage(
        round=RoundNumber(1), parts=tuple(parts), model=end.model, provider=end.provider
    )
    rules = Rules(provider=end.provider, model=end.model)
    if not asked:
        return tuple(repair([BEGIN, response, GO_ON], rules=rules)[0][1:2])
    results = [
        Result(call=CallId(c.id), name=c.name, output=output)
        for c, output in zip(asked, outputs, strict=True)
    ]
    answers = ResultsMessage(results=tuple(results))
    return tuple(repair([BEGIN, response, answers], rules=rules)[0][1:])
