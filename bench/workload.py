"""The same conversation for everyone: messages of about 2 KB of source-like text.

Every message follows from its index alone, so all processes see the same bytes.
Each message has its own small vocabulary, as a source file has. How well the text
compresses matters, or a store that compresses would be flattered: the sizes of the two
vocabularies were chosen so that a message shrinks a little less than real Python does.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

LENGTHS = (50, 200, 1000, 4000)
QUICK_LENGTHS = (50, 200, 1000)
SHORTEST, LONGEST = 1700, 2400
VERBS_USED, NOUNS_USED = 9, 19


def _words(text: str) -> list[str]:
    return text.split()


_VERBS = _words("""
    load read parse build merge split close fetch apply check count drain emit find flush fold
    guard handle index join keep lease list lock map match move name open order pack patch plan
    probe prune queue rank render reply reset resume retry route scan seal select send settle
    shape shift skip sort spawn stamp start stop store sum swap sync take tidy trace trim wait
    walk watch wrap write yield
""")
_NOUNS = _words("""
    account agent answer archive batch bearer blob body branch bucket budget buffer bundle byte
    cache call channel child chunk client clock column commit config cursor deadline delta
    digest draft edge entry epoch error event field file filter folder frame graph group handle
    head header hint host item job journal key label layer lease limit line link list log marker
    mask message method mode module node note offset option order owner packet page parent part
    patch path peer plan point policy port prefix price process profile prompt proof queue range
    rate reader reason record region reply report request result review role root round route
    row rule schema scope score section segment sender sequence session shard signal size slice
    slot snapshot socket source span stage stamp state step stream suffix table tag tail target
    task team term text thread ticket timer token tool topic trace tree trigger turn unit update
    usage user value vector version view voice watcher weight window word worker writer zone
""")
_TYPES = _words("int str bytes float bool Path list[str] dict[str,int] tuple[int,...] datetime")
_PROSE = _words("""
    the a this that only when while before after because unless still never always once each
    every other same first last empty full late early stale fresh broken known unknown so then
    must may should cannot is was has had gives takes needs leaves keeps drops holds
""")

_LINES = (
    "\n{indent}def {name}({noun}: {kind}) -> {result}:",
    "{indent}if {noun}.{other} > {number}:",
    "{indent}# {sentence}.",
    '{indent}raise {error}Error(f"{sentence}: {{{noun}}}")',
    "{indent}return [{name}({noun}) for {noun} in self.{other}s]",
    "{indent}self.{noun}_{other} = {name}({number:#x})",
    "{indent}for {noun} in {name}({other}):",
    "{indent}{noun} = await {other}.{name}({noun}={other})",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of the conversation."""

    index: int
    role: str
    text: str

    @property
    def payload(self) -> int:
        """The bytes a person wrote: the text alone, without any envelope."""
        return len(self.text.encode())


def message(index: int) -> Message:
    """The message at this place of the conversation."""
    words = _Words(index)
    length = words.chance.randint(SHORTEST, LONGEST)
    lines = [f"# {words.noun()}/{words.name()}.py"]
    size = 0
    while size < length:
        line = _line(words)
        lines.append(line)
        size += len(line) + 1
    text = "\n".join(lines)[:length]
    return Message(index=index, role=("user", "assistant")[index % 2], text=text)


def messages() -> Iterator[Message]:
    """The conversation, without an end."""
    return (message(index) for index in count())


def conversation(length: int) -> list[Message]:
    """The first messages, made before any clock runs."""
    return [message(index) for index in range(length)]


class _Words:
    """What one message talks about."""

    def __init__(self, index: int) -> None:
        self.chance = random.Random(index * 7919 + 17)
        self._verbs = self.chance.sample(_VERBS, VERBS_USED)
        self._nouns = self.chance.sample(_NOUNS, NOUNS_USED)

    def noun(self) -> str:
        return self.chance.choice(self._nouns)

    def name(self) -> str:
        return f"{self.chance.choice(self._verbs)}_{self.noun()}"

    def sentence(self) -> str:
        words = [self.chance.choice(_PROSE) for _ in range(self.chance.randint(3, 7))]
        return " ".join([*words, self.noun(), self.noun()]).capitalize()


def _line(words: _Words) -> str:
    return words.chance.choice(_LINES).format(
        indent="    " * words.chance.choice((0, 1, 1, 1, 2, 2, 3)),
        name=words.name(),
        noun=words.noun(),
        other=words.noun(),
        error=words.noun().title(),
        kind=words.chance.choice(_TYPES),
        result=words.chance.choice(_TYPES),
        sentence=words.sentence(),
        number=words.chance.randrange(2**16),
    )
