"""A model of a real provider, as the loop sees it: pieces, then the end, or a failure with its class.

The library is loaded by the first request, in a thread: nobody else waits for it.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from holdfast.agents.builtin.model import Ended, ModelFailed, Piece, Request
from holdfast.agents.builtin.providers import catalogue
from holdfast.agents.builtin.providers.prices import priced
from holdfast.core.redact import REDACTED
from holdfast.core.session import ErrorClass
from holdfast.core.value import replace

if TYPE_CHECKING:
    from httpx2 import AsyncClient

    from holdfast.agents.builtin.providers.paced import Patience

NO_SUCH_API = (404, 405)


class Line:
    """The way to the network that all models of this process share."""

    def __init__(self, patience: "Patience | None" = None) -> None:
        self._patience = patience
        self._client: AsyncClient | None = None

    @property
    def patience(self) -> "Patience":
        from holdfast.agents.builtin.providers.paced import Patience  # noqa: PLC0415  heavy

        return self._patience or Patience()

    def connect(self, name: str, environ: Mapping[str, str]) -> Any:
        """Blocks: the first time it loads the library."""
        from holdfast.agents.builtin.providers import library, paced  # noqa: PLC0415  a second

        if self._client is None:
            self._client = paced.client(self.patience)
        return library.connect(name, environ, self._client)

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()


class RemoteModel:
    """`name` as the user wrote it; `environ` has the key."""

    def __init__(
        self, name: str, environ: Mapping[str, str], *, line: Line, now: Callable[[], int]
    ) -> None:
        self._name, self._environ = name, environ
        self._line, self._now = line, now
        self._provider = name.partition(":")[0]
        self._spoken = name  # as the library is asked for it
        self._model: Any = None

    async def stream(self, request: Request) -> AsyncGenerator[Piece, None]:
        problem = catalogue.no_key(self._name, self._environ)
        if problem is not None:
            raise ModelFailed(ErrorClass.AUTH, problem)
        said = False
        try:
            async with aclosing(self._answer(request)) as pieces:
                async for piece in pieces:
                    said = True
                    yield piece
            return
        except ModelFailed as failed:
            if said or not self._may_speak_chat(failed):
                raise
        self._spoken, self._model = f"openai-chat:{self._name.partition(':')[2]}", None
        async with aclosing(self._answer(request)) as pieces:
            async for piece in pieces:
                yield piece

    def _may_speak_chat(self, failed: ModelFailed) -> bool:
        """A server that speaks like OpenAI often knows only the older of its two APIs."""
        known = catalogue.provider("openai")
        at_home = known is None or not catalogue.address(known, self._environ)
        return self._spoken.startswith("openai:") and failed.status in NO_SUCH_API and not at_home

    async def _answer(self, request: Request) -> AsyncGenerator[Piece, None]:
        if self._model is None:
            self._model = await asyncio.to_thread(self._connect)
        from holdfast.agents.builtin.providers import library  # noqa: PLC0415  loaded by now

        try:
            async with aclosing(library.answer(self._model, request)) as pieces:
                async for piece in pieces:
                    if isinstance(piece, library.Answered):
                        yield await self._ended(piece)
                    else:
                        yield piece
        except library.TROUBLE as error:
            raise self._failure(error) from error

    def _connect(self) -> Any:
        try:
            return self._line.connect(self._spoken, self._environ)
        except Exception as error:
            raise self._failure(error) from error

    async def _ended(self, answered: Any) -> Ended:
        """A response that was cut off or refused is none."""
        match answered.reason:
            case "":
                text = f"{self._provider}: the answer ended in the middle."
                raise ModelFailed(ErrorClass.NETWORK, text)
            case "content_filter":
                why = f" ({answered.raw})" if answered.raw else ""
                raise ModelFailed(ErrorClass.REFUSAL, f"{self._provider} refused to answer{why}.")
            case "error":
                text = f"{self._provider} could not finish its answer ({answered.raw})."
                raise ModelFailed(ErrorClass.OVERLOADED, text)
            case _:
                pass
        ended: Ended = answered.ended
        model = answered.reported or self._name.partition(":")[2]
        usage = await priced(ended.usage, provider=self._provider, model=model)
        return replace(ended, usage=usage, model=self._name, provider=self._provider)

    def _failure(self, error: Exception) -> ModelFailed:
        from holdfast.agents.builtin.providers.library import failure  # noqa: PLC0415  loaded by now

        failed = failure(
            error, who=self._provider, patience=self._line.patience, now_ms=self._now()
        )
        hint = catalogue.key_hint(self._name) if failed.error is ErrorClass.AUTH else ""
        return ModelFailed(
            failed.error,
            self._without_keys(failed.message) + hint,
            status=failed.status,
            retry_after_ms=failed.retry_after_ms,
        )

    def _without_keys(self, message: str) -> str:
        """Providers quote what they were sent."""
        known = catalogue.provider(self._name)
        for name in known.keys if known is not None else ():
            if self._environ.get(name):
                message = message.replace(self._environ[name], REDACTED)
        return message
