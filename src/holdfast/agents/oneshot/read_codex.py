"""`codex exec --json`: a thread, its turn, and items that start and complete.

Its ids of items begin anew with every turn, so each process gets a name of its own in front of them.
Its usage counts the whole thread, not the turn: it is not taken over. An item of type error is no
failure: a warning about an unknown model is one.
"""

import secrets

from holdfast.agents.oneshot import signs as g
from holdfast.agents.oneshot.json_lines import Table, as_text, sub, table, text
from holdfast.agents.oneshot.responses import Responses

SAID = ("agent_message", "reasoning")
UNSAID = frozenset({"id", "type", "status", "aggregated_output", "exit_code", "result", "error"})


class CodexReader:
    def __init__(self) -> None:
        self._responses = Responses()
        self._name = f"codex_{secrets.token_hex(4)}"
        self._parts = 0

    def read(self, line: bytes) -> list[g.Sign]:
        found = table(line) or {}
        match found.get("type"):
            case "thread.started":
                return [g.Named(token=text(found.get("thread_id")))]
            case "item.started":
                return self._started(sub(found, "item"))
            case "item.completed":
                return self._completed(sub(found, "item"))
            case "error":
                return [g.Noted(text=as_text(found.get("message")))]
            case "turn.completed":
                return [*self._responses.end(), g.Finished()]
            case "turn.failed":
                said = as_text(sub(found, "error").get("message"))
                return [g.Finished(failed=True, message=said)]
            case _:
                return []

    def _started(self, item: Table) -> list[g.Sign]:
        kind = text(item.get("type"))
        if kind in SAID or kind in ("error", "todo_list"):
            return []
        given = {key: value for key, value in item.items() if key not in UNSAID}
        return self._responses.call(self._call(item), kind, as_text(given))

    def _completed(self, item: Table) -> list[g.Sign]:
        kind = text(item.get("type"))
        if kind in SAID:
            part, self._parts = self._parts, self._parts + 1
            said = text(item.get("text"))
            return self._responses.speak(said, part=part, thinking=kind == "reasoning")
        if kind in ("error", "todo_list"):
            return []
        self._parts = 0
        output = as_text(item.get("aggregated_output") or item.get("result") or item.get("changes"))
        failed = item.get("status") != "completed"
        return self._responses.result(self._call(item), output, failed=failed)

    def _call(self, item: Table) -> str:
        return f"{self._name}_{text(item.get('id'))}"
