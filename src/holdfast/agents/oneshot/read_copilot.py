"""`copilot --output-format json --stream on`: its own journal, as it is written, and a result."""

from holdfast.agents.oneshot import signs as g
from holdfast.agents.oneshot.json_lines import Table, as_text, number, rows, sub, table, text
from holdfast.core.budget import Usage


class CopilotReader:
    def __init__(self) -> None:
        self._streamed = False
        self._error = ""

    def read(self, line: bytes) -> list[g.Sign]:
        found = table(line) or {}
        data = sub(found, "data")
        match found.get("type"):
            case "assistant.message_start":
                self._streamed = True
                return [g.Began()]
            case "assistant.message_delta":
                return [g.Spoke(text=text(data.get("deltaContent")), part=1)]
            case "assistant.reasoning_delta":
                return [g.Spoke(text=text(data.get("deltaContent")), thinking=True)]
            case "assistant.message":
                return self._message(data)
            case "tool.execution_complete":
                failed = not data.get("success")
                output = as_text(sub(data, "result").get("content"))
                output = output or as_text(sub(data, "error").get("message"))
                return [g.Result(call=text(data.get("toolCallId")), output=output, failed=failed)]
            case "session.error":
                self._error = as_text(data.get("message"))
                return []
            case "result":
                named = g.Named(token=text(found.get("sessionId")))
                failed = number(found.get("exitCode")) != 0
                end = g.Finished(failed=failed, message=self._error if failed else "")
                return [end] if failed else [named, end]
            case _:
                return []

    def _message(self, data: Table) -> list[g.Sign]:
        whole: list[g.Sign] = []
        if not self._streamed:
            whole = [g.Began(), g.Spoke(text=text(data.get("content")), part=1)]
        self._streamed = False
        calls = [
            g.Asked(
                call=text(asked.get("toolCallId")),
                name=text(asked.get("name")),
                arguments=as_text(asked.get("arguments") or {}),
            )
            for asked in rows(data.get("toolRequests"))
        ]
        usage = Usage(output_tokens=number(data.get("outputTokens")))
        return [*whole, *calls, g.Done(usage=usage, model=text(data.get("model")))]
