"""No credential is stored: what goes into the journal is made safe here first (SPEC C6).

Rule 1: a value under a name like `password` or `api_key` becomes "[redacted]", whole, at any
        depth. Case, spaces, dashes and underscores in the name do not matter.
Rule 2: names of our own that merely look alike (counts of tokens) are exempt, and so are true,
        false and null: `has_password: true` gives nothing away.
Rule 3: a secret that is known by its value is replaced wherever it stands, if it is six characters
        or longer: shorter ones are in every text.
Rule 4: all else stays letter for letter. Text in which nothing is found comes back as it is.
"""

import json
import re
from collections.abc import Callable, Iterator
from functools import lru_cache

REDACTED = "[redacted]"
SHORTEST_SECRET = 6

_SECRET_WORDS = (
    "secret",
    "password",
    "passwd",
    "passphrase",
    "credential",
    "bearer",
    "apikey",
    "authorization",
    "privatekey",
    "accesskey",
    "signingkey",
    "encryptionkey",
    "cookie",
)
# `token` only where a name ends with it: `max_tokens` is a number of them.
_SECRET_ENDS = ("token", "pwd", "authheader")
_EXEMPT = frozenset(
    {
        "inputtokens",
        "outputtokens",
        "cachereadtokens",
        "cachewritetokens",
        "maxtokens",
        "budgettokens",
        "totaltokens",
        "tokens",
        "tokencount",
        "tokenlimit",
        "pasttokens",
        "resumetoken",  # an agent's handle on its memory: it opens nothing by itself
        "pagetoken",
        "nextpagetoken",
        "nexttoken",
        "continuationtoken",
    }
)
_BETWEEN_WORDS = re.compile(r"[\s_\-.]+")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+', re.DOTALL)
_HARMLESS = ("true", "false", "null", '""', "[]", "{}")


def secret_name(name: str) -> bool:
    plain = _BETWEEN_WORDS.sub("", name).lower()
    if plain in _EXEMPT:
        return False
    return plain.endswith(_SECRET_ENDS) or any(word in plain for word in _SECRET_WORDS)


def redact_text(text: str, *, secrets: frozenset[str]) -> str:
    """Replaces known secrets, also as JSON would write them. Where two overlap, both go."""
    return _replaced(text, secrets, lambda _size: REDACTED)


def mask_text(text: str, *, secrets: frozenset[str]) -> str:
    """The same, and the text keeps its length."""
    return _replaced(text, secrets, _mask)


def _mask(size: int) -> str:
    return REDACTED.ljust(size, "*") if size >= len(REDACTED) else "*" * size


def _replaced(text: str, secrets: frozenset[str], instead: Callable[[int], str]) -> str:
    if not secrets:
        return text
    kept: list[str] = []
    end = 0
    for start, stop in _joined(sorted(_found(text, secrets))):
        kept += [text[end:start], instead(stop - start)]
        end = stop
    return "".join([*kept, text[end:]]) if kept else text


def _joined(spans: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Spans that overlap are one."""
    while spans:
        start, stop = spans.pop(0)
        while spans and spans[0][0] < stop:
            stop = max(stop, spans.pop(0)[1])
        yield start, stop


def redact_value(value: object, *, secrets: frozenset[str]) -> object:
    """The same for what a JSON reader gives: the very same object where nothing is found."""
    match value:
        case str():
            return redact_text(value, secrets=secrets)
        case dict():
            pairs = {
                redact_text(str(k), secrets=secrets): _hide(v)
                if secret_name(str(k))
                else redact_value(v, secrets=secrets)
                for k, v in value.items()
            }
            same = all(k in value and value[k] is v for k, v in pairs.items())
            return value if same and len(pairs) == len(value) else pairs
        case list() | tuple():
            items = [redact_value(v, secrets=secrets) for v in value]
            same = all(a is b for a, b in zip(items, value, strict=True))
            return value if same else type(value)(items)
        case _:
            return value


def redact_arguments(text: str, *, secrets: frozenset[str]) -> str:
    """JSON text, changed only where a secret stood. What is not JSON is searched as plain text."""
    if not (text.lstrip()[:1] in _NAMING and _may_name_a_secret(text)):
        return redact_text(text, secrets=secrets)
    try:
        json.loads(text, strict=False)
    except ValueError:
        return redact_text(text, secrets=secrets)
    except RecursionError:
        pass  # too deep for that reader, not for ours
    changes = list(_changes(text, secrets))
    if not changes:
        return text
    kept: list[str] = []
    end = 0
    for start, stop, instead in changes:
        kept += [text[end:start], instead]
        end = stop
    return "".join([*kept, text[end:]])


_NAMING = ("{", "[")  # how JSON begins that has names in it


def _may_name_a_secret(text: str) -> bool:
    """A quick look, which spares nearly every text the slow one."""
    if "\\u" in text or "\\/" in text:
        return True  # a name may be written in escapes
    plain = _BETWEEN_WORDS.sub("", text).lower()
    return any(word in plain for word in (*_SECRET_WORDS, *_SECRET_ENDS))


def _hide(value: object) -> object:
    harmless = value is None or isinstance(value, bool) or value in ("", [], {}, ())
    return value if harmless else REDACTED


def _found(text: str, secrets: frozenset[str]) -> Iterator[tuple[int, int]]:
    for secret in secrets:
        if len(secret) < SHORTEST_SECRET:
            continue
        for form in _forms(secret):
            start = text.find(form)
            while start >= 0:
                yield start, start + len(form)
                start = text.find(form, start + 1)


@lru_cache(maxsize=256)
def _forms(secret: str) -> frozenset[str]:
    """As it is, and as JSON would write it."""
    written = (json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1])
    return frozenset({secret, *written})


def _changes(text: str, secrets: frozenset[str]) -> Iterator[tuple[int, int, str]]:
    """Spans of JSON text and what is to stand there instead, in order. A string before a colon is
    a name; what follows the colon is its value."""
    tokens = list(_TOKEN.finditer(text))
    last = len(tokens) - 1
    at = 0
    while at <= last:
        word = tokens[at][0]
        if at + 2 <= last and tokens[at + 1][0] == ":" and secret_name(_unquoted(word)):
            at, end = at + 2, _end_of_value(tokens, at + 2)
            value = text[tokens[at].start() : tokens[end].end()]
            if value not in _HARMLESS:
                yield tokens[at].start(), tokens[end].end(), json.dumps(REDACTED)
            at = end
        elif word.startswith('"'):
            said = _unquoted(word)
            redacted = redact_text(said, secrets=secrets)
            if redacted is not said:
                yield tokens[at].start(), tokens[at].end(), json.dumps(redacted, ensure_ascii=False)
        at += 1


def _end_of_value(tokens: list[re.Match[str]], start: int) -> int:
    depth = 0
    for at in range(start, len(tokens)):
        word = tokens[at][0]
        depth += (word in ("{", "[")) - (word in ("}", "]"))
        if depth <= 0:
            return at
    return len(tokens) - 1


def _unquoted(word: str) -> str:
    try:
        return str(json.loads(word, strict=False))
    except ValueError:
        return word
