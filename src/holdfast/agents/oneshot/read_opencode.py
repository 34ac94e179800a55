"""`opencode run --format json`: steps, with whole texts and calls that are already over in them."""

from holdfast.agents.oneshot import signs as g
from holdfast.agents.oneshot.json_lines import Table, as_text, number, sub, table, text
from holdfast.core.budget import Usage


class OpencodeReader:
    def __init__(self) -> None:
        self._parts = 0
        self._results: list[g.Sign] = []  # they come before the end of the step that asked for them

    def read(self, line: bytes) -> list[g.Sign]:
        found = table(line) or {}
        part = sub(found, "part")
        match found.get("type"):
            case "step_start":
                self._parts = 0
                return [g.Named(token=text(found.get("sessionID"))), g.Began()]
            case "text" | "reasoning" as kind:
                place, self._parts = self._parts, self._parts + 1
                thinking = kind == "reasoning"
                return [g.Spoke(text=text(part.get("text")), part=place, thinking=thinking)]
            case "tool_use":
                return self._call(part)
            case "step_finish":
                return self._finish(part)
            case "error":
                error = sub(found, "error")
                data = sub(error, "data")
                said = as_text(data.get("message")) or as_text(error.get("name"))
                status = number(data.get("statusCode")) or None
                after = as_text(sub(data, "responseHeaders").get("retry-after"))
                return [g.Finished(failed=True, message=said, status=status, retry_after=after)]
            case _:
                return []

    def _call(self, part: Table) -> list[g.Sign]:
        state, call = sub(part, "state"), text(part.get("callID"))
        failed = state.get("status") != "completed"
        output = as_text(state.get("output")) or as_text(state.get("error"))
        self._results.append(g.Result(call=call, output=output, failed=failed))
        arguments = as_text(state.get("input") or {})
        return [g.Asked(call=call, name=text(part.get("tool")), arguments=arguments)]

    def _finish(self, part: Table) -> list[g.Sign]:
        usage = usage_of(part)
        results, self._results = self._results, []
        over: list[g.Sign] = [] if part.get("reason") == "tool-calls" else [g.Finished()]
        return [g.Done(usage=usage), *results, *over]


def usage_of(part: Table) -> Usage:
    tokens, cost = sub(part, "tokens"), part.get("cost")
    read, written = sub(tokens, "cache").get("read"), sub(tokens, "cache").get("write")
    return Usage(
        input_tokens=number(tokens.get("input")) + number(read) + number(written),
        output_tokens=number(tokens.get("output")),
        cache_read_tokens=number(read),
        cache_write_tokens=number(written),
        cost_micros=round(cost * 1_000_000) if isinstance(cost, int | float) else 0,
    )
