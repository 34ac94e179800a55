"""What an agent's program says between the model's words, as if the model had said it.

Some write warnings and errors into the answer, and end a turn that failed as if all were well. The
profile says how to know them; nothing else is guessed.
"""

import re

from holdfast.agents.acp import content
from holdfast.agents.acp.profile import AcpProfile
from holdfast.agents.acp.translate import TEXT, THOUGHT
from holdfast.agents.acp.updates import Update


class Asides:
    def __init__(self, profile: AcpProfile) -> None:
        self._only_unnamed = bool(profile.unnamed)
        self._note = re.compile(profile.note) if profile.note else None
        self._failed = re.compile(profile.failed) if profile.failed else None
        self.failure = ""  # why the turn failed, if nothing comes after it

    def begin(self) -> None:
        self.failure = ""

    def take(self, update: Update) -> str | None:
        """A note to the user; empty: said already. None: it is not an aside."""
        if update.session_update != TEXT:
            if update.session_update in (THOUGHT, "tool_call"):
                self.failure = ""  # it goes on
            return None
        if self._only_unnamed and update.message_id is not None:
            self.failure = ""
            return None
        words = content.text(update.content)
        if not words:
            return None
        if self._note is not None and self._note.match(words):
            return words.strip()
        failed = self._failed is not None and self._failed.match(words)
        self.failure = words.strip() if failed else ""
        return "" if failed else None
