"""The only module that knows the model library: our words into its words and back.

Loaded by the first run that needs it (it costs a second and forty megabytes), never before.

What a provider wants back with a part of its answer is kept as one text. A plain signature is kept as it
came, byte for byte; where there is more to it (an id, a provider's own fields), all of it is kept as JSON.
"""

import inspect
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from typing import Any, assert_never

import httpx2
import msgspec
from pydantic_ai import messages as m
from pydantic_ai.direct import model_request_stream
from pydantic_ai.exceptions import (
    ContentFilterError,
    ModelAPIError,
    ModelConnectionError,
    ModelHTTPError,
    ModelTimeoutError,
    UnexpectedModelBehavior,
    UserError,
)
from pydantic_ai.models import Model, ModelRequestParameters, infer_model, known_model_names
from pydantic_ai.providers import Provider, infer_provider_class
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

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
from holdfast.agents.builtin.providers import catalogue
from holdfast.agents.builtin.providers.paced import Patience, WebPage, hanging_up
from holdfast.core.budget import Usage
from holdfast.core.events import Signature
from holdfast.core.messages import (
    AssistantMessage,
    CallPart,
    Message,
    Part,
    ResultsMessage,
    TextPart,
    ThinkingPart,
    UserMessage,
)
from holdfast.core.provider_errors import classify
from holdfast.core.session import ErrorClass
from holdfast.core.value import Value

OURS = ("anthropic", "openai", "google.genai")  # packages that take our way to the network
TROUBLE = (ModelAPIError, UnexpectedModelBehavior, UserError, httpx2.HTTPError, ValueError)
STORED = "rs_"  # how OpenAI begins the id of a piece of reasoning
HIDDEN = "redacted_thinking"  # what the library calls thinking that a provider hid


# --- a connection ---------------------------------------------------------------------------------


def connect(name: str, environ: Mapping[str, str], client: httpx2.AsyncClient) -> Model:
    """`name` was judged by the catalogue, and its key is there."""
    return infer_model(name, provider_factory=lambda prefix: _provider(prefix, environ, client))


def _provider(prefix: str, environ: Mapping[str, str], client: httpx2.AsyncClient) -> Provider[Any]:
    kind = infer_provider_class(prefix)
    known = catalogue.provider(prefix)
    assert known is not None  # the catalogue has judged the name
    takes = inspect.signature(kind.__init__).parameters
    url = catalogue.address(known, environ)
    wanted = {
        "api_key": catalogue.first(known.keys, environ) or ("none" if url else ""),
        "base_url": url,
        "http_client": client if known.needs in OURS else None,
    }
    made = kind(**{name: value for name, value in wanted.items() if value and name in takes})
    if url and "base_url" not in takes:
        made.client.base_url = url
    return made


def models_of(prefix: str) -> tuple[str, ...]:
    return tuple(name for name in known_model_names() if name.startswith(f"{prefix}:"))


# --- to the library -------------------------------------------------------------------------------


class Sealed(Value):
    """What a provider wants back with one part, where that is more than a signature."""

    id: str | None = None
    signature: str | None = None
    details: dict[str, Any] | None = None


def history(messages: Sequence[Message], model: Model) -> list[m.ModelMessage]:
    """Neighbours that the user's side says become one message: so all providers want it."""
    history: list[m.ModelMessage] = []
    said: list[m.ModelRequestPart] = []
    for message in messages:
        match message:
            case UserMessage():
                text = "\n\n".join(t for t in (message.briefing, message.text) if t is not None)
                said.append(m.UserPromptPart(content=text))
            case ResultsMessage():
                said += [_result(result) for result in message.results]
            case AssistantMessage():
                if said:
                    history.append(m.ModelRequest(parts=said))
                    said = []
                history.append(_response(message, model))
            case _:
                assert_never(message)
    if said:
        history.append(m.ModelRequest(parts=said))
    return history


def _result(result: Any) -> m.ToolReturnPart:
    return m.ToolReturnPart(
        tool_name=result.name,
        content=result.output,
        tool_call_id=result.call,
        outcome="failed" if result.failed else "success",
    )


def _response(message: AssistantMessage, model: Model) -> m.ModelResponse:
    return m.ModelResponse(
        parts=[_part(part, model.system) for part in message.parts],
        model_name=model.model_name,
        provider_name=model.system,
        canonical_system=model.canonical_system,
    )


def _part(part: Part, system: str) -> m.ModelResponsePart:
    seal = unseal(part.signature)
    kept = {"id": seal.id, "provider_details": seal.details}
    kept["provider_name"] = system if part.signature is not None else None
    match part:
        case TextPart():
            return m.TextPart(content=part.text, **kept)
        case ThinkingPart():
            kept["id"] = HIDDEN if part.redacted else seal.id
            return m.ThinkingPart(content=part.text, signature=seal.signature, **kept)
        case CallPart():
            return m.ToolCallPart(
                tool_name=part.name, args=part.arguments, tool_call_id=part.id, **kept
            )
        case _:
            assert_never(part)


def _tools(tools: Sequence[ToolSchema]) -> list[ToolDefinition]:
    return [
        ToolDefinition(
            name=tool.name, description=tool.description, parameters_json_schema=tool.schema
        )
        for tool in tools
    ]


# --- from the library -----------------------------------------------------------------------------


class Answered(Value):
    """How a response ended, before it has a price."""

    ended: Ended
    reported: str  # the model's name as the provider gives it
    reason: str  # why it ended; empty: it was cut off
    raw: str = ""  # the same in the provider's own words


async def answer(model: Model, request: Request) -> AsyncGenerator[Piece | Answered, None]:
    """The pieces as they come, then how it ended. Closing it closes the connection."""
    parameters = ModelRequestParameters(
        function_tools=_tools(request.tools),
        instruction_parts=[m.InstructionPart(content=request.system)] if request.system else None,
    )
    settings: dict[str, Any] = {
        "max_retries": 0,  # tries are counted, shown and waited for by us
        "cache": True,
        # What a provider keeps for us may be gone when a session comes back after months.
        "openai_store": False,
    }
    opened = model_request_stream(
        model,
        history(request.messages, model),
        model_settings=ModelSettings(**settings),
        model_request_parameters=parameters,
    )
    async with hanging_up(), opened as stream:
        async for event in stream:
            piece = _piece(event)
            if piece is not None:
                yield piece
        response = stream.get()
    for piece in _calls(response):
        yield piece
    yield _answered(response)


def _piece(event: Any) -> Piece | None:
    match event:
        case m.PartStartEvent(index=part, part=m.TextPart(content=text)) if text:
            return TextPiece(text=text, part=part)
        case m.PartStartEvent(index=part, part=m.ThinkingPart(content=text)) if text:
            return ThinkingPiece(text=text, part=part)
        case m.PartDeltaEvent(index=part, delta=m.TextPartDelta(content_delta=text)) if text:
            return TextPiece(text=text, part=part)
        case m.PartDeltaEvent(index=part, delta=m.ThinkingPartDelta(content_delta=text)) if text:
            return ThinkingPiece(text=text, part=part)
        case _:
            return None


def _calls(response: m.ModelResponse) -> list[CallAsked]:
    return [
        CallAsked(
            id=part.tool_call_id,
            name=part.tool_name,
            arguments=part.args if isinstance(part.args, str) else part.args_as_json_str(),
            part=index,
        )
        for index, part in enumerate(response.parts)
        if isinstance(part, m.ToolCallPart)
    ]


def _answered(response: m.ModelResponse) -> Answered:
    used = response.usage
    usage = Usage(
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        cache_read_tokens=used.cache_read_tokens,
        cache_write_tokens=used.cache_write_tokens,
    )
    signatures = [_signature(index, part) for index, part in enumerate(response.parts)]
    ended = Ended(
        usage=usage,
        signatures=tuple(s for s in signatures if s is not None),
        message_id=response.provider_response_id,
    )
    raw = str((response.provider_details or {}).get("finish_reason") or "")
    reason = str(response.finish_reason or raw) if response.state != "incomplete" else ""
    return Answered(ended=ended, reported=response.model_name or "", reason=reason, raw=raw)


def _signature(index: int, part: m.ModelResponsePart) -> Signature | None:
    match part:
        case m.ThinkingPart(id=id, signature=signature):
            if id == HIDDEN:
                return Signature(part=index, value=signature or "", redacted=True)
            if not signature and id is not None and id.startswith(STORED):
                return None  # the provider would look for what it was told not to store
            value = seal(Sealed(id=id, signature=signature or None, details=part.provider_details))
        case m.TextPart() | m.ToolCallPart():
            # Not its id: with one, the provider wants the thinking before it as well, for ever.
            value = seal(Sealed(details=part.provider_details))
        case _:
            return None
    return Signature(part=index, value=value) if value is not None else None


def seal(kept: Sealed) -> str | None:
    if kept.id is None and not kept.details:
        return kept.signature
    return msgspec.json.encode(kept).decode()


def unseal(value: str | None) -> Sealed:
    """No provider's own signature is a JSON object."""
    if value is not None and value.startswith("{"):
        try:
            return msgspec.json.decode(value, type=Sealed)
        except ValueError:
            pass
    return Sealed(signature=value)


# --- what went wrong ------------------------------------------------------------------------------


def failure(error: Exception, *, who: str, patience: Patience, now_ms: int) -> ModelFailed:
    """The rules are the core's; here is only where the status, the headers and the body are found."""
    chain = list(_causes(error))
    page = next((cause for cause in chain if isinstance(cause, WebPage)), None)
    if page is not None:
        text = (
            f"{who} answered with a web page, not as a model's provider does: is its address right?"
        )
        return ModelFailed(ErrorClass.NETWORK, text, status=page.status)
    if isinstance(error, ModelHTTPError):
        return _refused(error, who, now_ms)
    kind = ErrorClass.NETWORK
    match error:
        case ModelTimeoutError() | httpx2.TimeoutException():
            text = _silent(chain, who, patience)
        case ModelConnectionError() | httpx2.HTTPError():
            text = f"{who}: the connection failed: {_root(chain)}."
        case ContentFilterError():
            kind, text = ErrorClass.REFUSAL, f"{who} refused to answer: {error.message}"
        case ModelAPIError():  # in the middle of a stream, without a status
            kind = classify(None, headers={}, body=_body(error)).error
            text = f"{who}: {error.message}"
        case UserError() | ImportError():  # a key or a package that it wants
            kind, text = ErrorClass.BAD_REQUEST, f"{who}: {error}"
        case _:
            text = f"{who}: the answer cannot be read: {error}"
    return ModelFailed(kind, text)


def _refused(error: ModelHTTPError, who: str, now_ms: int) -> ModelFailed:
    response = next((r for c in _causes(error) if (r := getattr(c, "response", None))), None)
    headers = error.headers if error.headers is not None else getattr(response, "headers", {})
    body = _body(error) or getattr(response, "text", "")
    said = classify(error.status_code, headers=dict(headers), body=body, now_ms=now_ms)
    near = f" Did you mean {error.suggested_model_id}?" if error.suggested_model_id else ""
    words = said.message.rstrip(".") or "without a word"
    return ModelFailed(
        said.error,
        f"{who} answered {error.status_code}: {words}.{near}",
        status=error.status_code,
        retry_after_ms=said.retry_after_ms,
    )


def _body(error: ModelAPIError) -> str:
    if error.body is None:
        return ""
    return error.body if isinstance(error.body, str) else msgspec.json.encode(error.body).decode()


def _silent(chain: list[BaseException], who: str, patience: Patience) -> str:
    connecting = (httpx2.ConnectTimeout, httpx2.PoolTimeout)
    if any(isinstance(cause, connecting) for cause in chain):
        return f"{who} could not be reached within {patience.connect:g} s."
    return f"{who} was silent for {patience.silence:g} s."


def _root(chain: list[BaseException]) -> str:
    """The innermost that says something."""
    said = (str(cause) or type(cause).__name__ for cause in reversed(chain))
    return next(text for text in said if text).rstrip(".")


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
