"""What an agent's program says between the model's words, as if the model had said it.

Some write warnings and errors into the answer, and end a turn that failed as if all were well; some say
that they try again, for ever. The profile says how to know them; nothing else is guessed.
"""

import re
from collections.abc import Callable

from holdfast.agents.acp import content
from holdfast.agents.acp.profile import AcpProfile
from holdfast.agents.acp.translate import TEXT, THOUGHT
from holdfast.agents.acp.updates import Meta, Update, decoded, present

PROGRESS = (THOUGHT, "tool_call", "tool_call_update")


class Asides:
    def __init__(self, profile: AcpProfile, now: Callable[[], int]) -> None:
        self._now = now
        self._only_unnamed = bool(profile.unnamed)
        self._note = re.compile(profile.note) if profile.note else None
        self._failed = re.compile(profile.failed) if profile.failed else None
        self.begin()

    def begin(self) -> None:
        self.failure = ""  # why the turn failed, if nothing comes after it
        self.retrying = ""  # what it tries again, and why
        self.since = 0  # when it first said so

    def take(self, update: Update) -> str | None:
        """A note to the user; empty: nothing to add to what was said. None: it is not an aside."""
        if update.session_update == TEXT:
            return self._words(update)
        if update.session_update in PROGRESS:
            self.begin()
            return None
        return self._retry(update) if present(update.meta) else None

    def _words(self, update: Update) -> str | None:
        words = content.text(update.content)
        if self._only_unnamed and update.message_id is not None:
            self.begin()
            return None
        if self._note is not None and self._note.match(words):
            return words.strip()
        failed = bool(words) and self._failed is not None and self._failed.match(words)
        self.failure = words.strip() if failed else ""
        return "" if failed else None

    def _retry(self, update: Update) -> str | None:
        meta = decoded(update.meta, Meta)
        error = meta.codex.error if meta and meta.codex else None
        if error is None or not error.will_retry:
            return None
        words = f"{error.message} {error.additional_details or ''}".strip()
        said, self.retrying = self.retrying, words
        self.since = self.since or self._now()
        return "" if said == words else words
