"""What an agent shows of its memory when it loads a conversation: evidence, kept out of the journal."""

from holdfast.agents.acp import content
from holdfast.agents.acp.updates import Update
from holdfast.core import injection

USER = "user_message_chunk"
SAID = frozenset({USER, "agent_message_chunk", "agent_thought_chunk", "tool_call"})
KEPT = 2000  # characters of a turn: enough to know it again


class Replay:
    def __init__(self) -> None:
        self.turns: list[str] = []  # the user's
        self.seen = False  # something of a conversation came
        self.last = 0.0  # when
        self._speaking = ""
        self._id: str | None = None

    def take(self, update: Update, now: float) -> None:
        kind = update.session_update
        if kind not in SAID:
            return
        self.seen, self.last = True, now
        if kind == USER:
            text = content.text(update.content)
            same = self._speaking == USER and update.message_id == self._id
            if same and self.turns:
                self.turns[-1] = (self.turns[-1] + text)[:KEPT]
            else:
                self.turns.append(text[:KEPT])
            self._id = update.message_id
        self._speaking = kind

    def arrived(self, sent: str) -> bool | None:
        return injection.arrived(sent, self.turns)
