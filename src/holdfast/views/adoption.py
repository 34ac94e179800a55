"""Conversations that are not ours yet, as they cross the wire."""

from collections.abc import Mapping

from holdfast.core.value import Value


class RecordsIn(Value):
    """`folder`: only what was had there or below. `environ`: where the agents keep their records."""

    agent: str | None = None
    folder: str = ""
    environ: Mapping[str, str] = {}


class RecordOut(Value):
    agent: str
    id: str
    folder: str
    branch: str
    title: str
    last_prompt: str
    prompts: int
    size: int
    modified_at: str
    torn: int
    session: str | None  # ours, if it was taken in


class RecordsOut(Value):
    records: tuple[RecordOut, ...]
    unread: tuple[str, ...] = ()  # what could not be read, in words


class AdoptIn(Value):
    id: str  # or the beginning of it
    agent: str | None = None
    environ: Mapping[str, str] = {}
    fork: bool = False  # what is added goes into another conversation of the agent's


class AdoptOut(Value, omit_defaults=False):
    session: str
    record: RecordOut
    already: bool = False
    torn: int = 0
    in_use: bool = False  # somebody wrote to it a moment ago, and may again
