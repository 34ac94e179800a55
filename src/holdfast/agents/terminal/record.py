"""An agent's own record of a conversation, as signs of what it is at: the words, as `agents/transcripts`
reads them, and what is said beside them.
"""

from collections.abc import Callable

from holdfast.agents.terminal.beside import BESIDE, INTERRUPTED, About, Over
from holdfast.agents.transcripts.lines import Follower
from holdfast.agents.transcripts.opencode_events import OpencodeEvents
from holdfast.agents.transcripts.scan import READERS
from holdfast.core.adoption import Turn, UserSaid

# What Claude writes in the user's name for its own commands.
NOT_A_PROMPT = ("<command-", "<local-command", "<bash-", "<task-notification")
FORMATS: dict[str, Callable[[], Follower]] = {**READERS, "opencode": OpencodeEvents}
# Gemini writes everything again now and then: who has not read what is above takes it for news.
REWRITTEN = ("gemini",)

Sign = Turn | About | Over


class RecordReader:
    def __init__(self, format: str) -> None:
        self._reader = FORMATS[format]()
        self._beside = BESIDE[format]

    @property
    def id(self) -> str:
        return self._reader.about.id

    @property
    def folder(self) -> str:
        return self._reader.about.folder

    def read(self, line: bytes) -> list[Sign]:
        """May raise one of `transcripts.lines.UNREADABLE`."""
        turns = self._reader.feed(line)
        beside = self._beside(line)
        about = [sign for sign in beside if isinstance(sign, About)]
        over = [sign for sign in beside if isinstance(sign, Over)]
        return [*about, *(t for t in turns if _said(t)), *over]


def _said(turn: Turn) -> bool:
    return not (isinstance(turn, UserSaid) and turn.text.startswith((INTERRUPTED, *NOT_A_PROMPT)))
