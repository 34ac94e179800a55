"""`gemini --output-format stream-json`: init, message deltas, tool_use, tool_result, error, result."""

from holdfast.agents.oneshot import signs as g
from holdfast.agents.oneshot.json_lines import Table, as_text, number, sub, table, text
from holdfast.agents.oneshot.responses import Responses
from holdfast.core.budget import Usage


class GeminiReader:
    def __init__(self) -> None:
        self._responses = Responses()
        self._model, self._error = "", ""

    def read(self, line: bytes) -> list[g.Sign]:
        found = table(line) or {}
        match found.get("type"):
            case "init":
                self._model = text(found.get("model"))
                return [g.Named(token=text(found.get("session_id")))]
            case "message" if found.get("role") == "assistant":
                return self._responses.speak(text(found.get("content")))
            case "tool_use":
                call, name = text(found.get("tool_id")), text(found.get("tool_name"))
                return self._responses.call(call, name, as_text(found.get("parameters") or {}))
            case "tool_result":
                failed = found.get("status") != "success"
                output = as_text(found.get("output")) or as_text(sub(found, "error").get("message"))
                return self._responses.result(text(found.get("tool_id")), output, failed=failed)
            case "error":
                self._error = as_text(found.get("message"))
                return [g.Noted(text=self._error)] if self._error else []
            case "result":
                return self._result(found)
            case _:
                return []

    def _result(self, found: Table) -> list[g.Sign]:
        stats = sub(found, "stats")
        usage = Usage(
            input_tokens=number(stats.get("input_tokens")),
            output_tokens=number(stats.get("output_tokens")),
            cache_read_tokens=number(stats.get("cached")),
        )
        failed = found.get("status") != "success"
        said = as_text(sub(found, "error").get("message")) or self._error
        end = g.Finished(failed=failed, message=said if failed else "")
        return [*self._responses.end(usage, self._model), end]
