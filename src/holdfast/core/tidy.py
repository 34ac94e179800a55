"""Texts made fit for any provider, changed as little as possible; what is fit comes back as it is."""

import json
import re

from holdfast.core.validate import is_object, torn, well_named

_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_-]", re.ASCII)
_LONGEST_NAME = 64
_NOTE = 40  # room for the note at the end of a text that was cut


def mend(text: str) -> str:
    """Joins the halves of a surrogate pair; a half without its other half becomes U+FFFD."""
    if not torn(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def cut(text: str, limit: int) -> str:
    """At most `limit` characters, which must leave room for the note that says what is missing."""
    if len(text) <= limit:
        return text
    kept = limit - _NOTE
    return f"{text[:kept]}... [{len(text) - kept} characters cut]"


def safe_name(name: str) -> str:
    if well_named(name):
        return name
    return _NOT_IN_A_NAME.sub("_", name)[:_LONGEST_NAME] or "unnamed"


def mend_arguments(text: str) -> str | None:
    """A JSON object that a strict reader takes, or None if there is none in it.

    Models write raw line breaks into strings, and halves of surrogate pairs as escapes.
    """
    if is_object(text):
        return text
    try:
        # Unescaped, a half may find its other half; written out again, it can be mended.
        found = json.loads(text, strict=False)
        mended = mend(json.dumps(found, ensure_ascii=False))
    except (ValueError, RecursionError):
        return None
    return mended if is_object(mended) else None
