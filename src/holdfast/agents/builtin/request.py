"""What a model gets is valid, whatever the past looks like; what was mended is told (SPEC B10)."""

from collections.abc import Sequence

from holdfast.agents.builtin.round import Say
from holdfast.core import events as e
from holdfast.core.compaction import INSTRUCTION
from holdfast.core.conversation import Conversation
from holdfast.core.messages import Message, UserMessage
from holdfast.core.repair import repair
from holdfast.core.session import ErrorClass
from holdfast.core.validate import Rules
from holdfast.core.value import replace

NOBODY = "-"  # no provider is called that: whatever was signed is foreign


class Mender:
    """Of one run: tells each repair once."""

    def __init__(self, model: str, say: Say, *, who: str = "") -> None:
        provider, _, name = model.partition(":")
        self._rules = Rules(provider=provider, model=name and model)
        self._say, self._who = say, who
        self._told: set[str] = set()

    def to_summarise(self, head: Sequence[Message], *, most: int | None) -> tuple[Message, ...]:
        """The part that is to go, with the wish for a summary. What is mended in it is told by no
        one: it was told when it was sent, and it goes."""
        rules = replace(self._rules, max_total_chars=most)
        messages, _ = repair([*head, UserMessage(text=INSTRUCTION)], rules=rules)
        return tuple(messages)

    async def messages(self, conversation: Conversation) -> tuple[Message, ...]:
        messages, notes = repair(conversation.to_send(), rules=self._rules)
        fresh = tuple(note for note in notes if note not in self._told)
        if fresh:
            self._told.update(fresh)
            told = tuple(f"{self._who}{note}" for note in fresh)
            await self._say(e.ConversationRepaired(repairs=told))
        return tuple(messages)

    def gives_up_signatures(self, error: ErrorClass) -> bool:
        """A provider that does not take its own signatures back gets the conversation without them,
        for the rest of the run. True: it is worth asking again; once."""
        if error is not ErrorClass.CORRUPT_REASONING or self._rules.provider == NOBODY:
            return False
        self._rules = replace(self._rules, provider=NOBODY)
        return True
