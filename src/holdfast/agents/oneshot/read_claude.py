"""`claude -p --output-format stream-json --include-partial-messages`; Qwen and Amp speak it too.

Each response comes twice: piece by piece as `stream_event`, and block by block as `assistant`. Pieces
are taken for text; whole blocks for calls, and for text where no pieces came. What a sub-agent says
belongs to the call that began it, and is left out. A failed turn says `subtype: success`: only
`is_error` is believed.
"""

from typing import Any

from holdfast.agents.oneshot import signs as g
from holdfast.agents.oneshot.json_lines import Table, as_text, number, rows, sub, table, text
from holdfast.core.budget import Usage


class ClaudeReader:
    def __init__(self) -> None:
        self._message = ""  # the response that is open
        self._line = ""  # the last of its lines: by its id it can be taken back there (SPEC E18)
        self._streamed = False  # its pieces come one by one
        self._parts = 0  # of a response without pieces
        self._usage: Table = {}
        self._model = ""

    def read(self, line: bytes) -> list[g.Sign]:
        found = table(line)
        if found is None or found.get("parent_tool_use_id"):
            return []
        kinds = {
            "system": self._system,
            "stream_event": self._stream,
            "assistant": self._assistant,
            "user": self._user,
            "result": self._result,
        }
        kind = kinds.get(text(found.get("type")))
        return kind(found) if kind else []

    def _system(self, found: Table) -> list[g.Sign]:
        match found.get("subtype"):
            case "init":
                return [g.Named(token=text(found.get("session_id")))]
            case "api_retry":
                wait, status = number(found.get("retry_delay_ms")), found.get("error_status")
                cause = text(found.get("error")) or "the connection failed"
                tries = f"{number(found.get('attempt'))} of {number(found.get('max_retries'))}"
                said = f"Retry {tries}: {cause}" + (f" ({status})" if status else "")
                return [*self._drop(cause), g.Noted(text=said, wait_ms=wait)]
            case _:
                return []

    def _drop(self, why: str) -> list[g.Sign]:
        """A stream that broke off is asked for again, whole."""
        cut = bool(self._message)
        self._message = ""
        return [g.Dropped(why=why)] if cut else []

    def _stream(self, found: Table) -> list[g.Sign]:
        event = sub(found, "event")
        match event.get("type"):
            case "message_start":
                message = sub(event, "message")
                self._open(message)
                self._streamed = True
                return [g.Began()]
            case "content_block_delta":
                part, delta = number(event.get("index")), sub(event, "delta")
                if delta.get("type") == "text_delta":
                    return [g.Spoke(text=text(delta.get("text")), part=part)]
                if delta.get("type") == "thinking_delta":
                    return [g.Spoke(text=text(delta.get("thinking")), part=part, thinking=True)]
            case "message_delta":
                self._usage = {**self._usage, **sub(event, "usage")}
            case "message_stop":
                return self._close()
            case _:
                pass
        return []

    def _open(self, message: Table) -> None:
        self._message, self._model = text(message.get("id")), text(message.get("model"))
        self._usage, self._streamed, self._parts = sub(message, "usage"), False, 0
        self._line = ""

    def _close(self) -> list[g.Sign]:
        if not self._message:
            return []
        kept = self._line or self._message
        done = g.Done(usage=usage(self._usage), model=self._model, message_id=kept)
        self._message = ""
        return [done]

    def _assistant(self, found: Table) -> list[g.Sign]:
        message = sub(found, "message")
        if message.get("model") == "<synthetic>":
            return []  # an error that it puts into its own mouth; `result` says it again
        said: list[g.Sign] = []
        id = text(message.get("id"))
        if id != self._message and not self._late(id):
            said += [*self._close(), g.Began()]
            self._open(message)
        self._line = text(found.get("uuid"))
        for block in rows(message.get("content")):
            said += self._block(block)
        return said

    def _late(self, id: str) -> bool:
        """A block that comes after the end of its response: nothing that is not known, but calls."""
        return not self._message and self._streamed and bool(id)

    def _block(self, block: Table) -> list[g.Sign]:
        kind = block.get("type")
        if kind == "tool_use":
            arguments = as_text(block.get("input") or {})
            call, name = text(block.get("id")), text(block.get("name"))
            return [g.Asked(call=call, name=name, arguments=arguments)]
        if self._streamed or kind not in ("text", "thinking"):
            return []
        part, self._parts = self._parts, self._parts + 1
        return [g.Spoke(text=text(block.get(kind)), part=part, thinking=kind == "thinking")]

    def _user(self, found: Table) -> list[g.Sign]:
        results: list[g.Sign] = [
            g.Result(
                call=text(block.get("tool_use_id")),
                output=_output(block.get("content")),
                failed=bool(block.get("is_error")),
            )
            for block in rows(sub(found, "message").get("content"))
            if block.get("type") == "tool_result"
        ]
        return [*self._close(), *results] if results else []

    def _result(self, found: Table) -> list[g.Sign]:
        failed = bool(found.get("is_error"))
        errors = "; ".join(as_text(e) for e in found.get("errors") or ())
        said = as_text(found.get("result")) or errors or as_text(sub(found, "error").get("message"))
        status = found.get("api_error_status")
        cost = found.get("total_cost_usd")
        end = g.Finished(
            failed=failed,
            message=said if failed else "",
            status=number(status) or None,
            cost_micros=round(cost * 1_000_000) if isinstance(cost, int | float) else 0,
        )
        named: list[g.Sign] = [g.Named(token=text(found.get("session_id")))]
        return [*self._close(), *(named if not failed else []), end]


def usage(given: Table) -> Usage:
    """Anthropic counts what came from a cache beside the input; we count it in."""
    read = number(given.get("cache_read_input_tokens"))
    written = number(given.get("cache_creation_input_tokens"))
    return Usage(
        input_tokens=number(given.get("input_tokens")) + read + written,
        output_tokens=number(given.get("output_tokens")),
        cache_read_tokens=read,
        cache_write_tokens=written,
    )


def _output(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(text(b.get("text")) or f"[{text(b.get('type'))}]" for b in rows(content))
    return as_text(content)
