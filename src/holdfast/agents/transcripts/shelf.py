"""Every conversation that the six agents left on this machine (SPEC E15), newest first.

What was read of a file is kept beside the journal with the file's size and time: after the first
time only what changed is read.
"""

import asyncio
import os
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from holdfast.agents.profiles.load import Profiles
from holdfast.agents.transcripts import opencode
from holdfast.agents.transcripts.present import place
from holdfast.agents.transcripts.scan import READERS, Scanned, scan, whole
from holdfast.core.adoption import Turn
from holdfast.ports import Record

VERSION = 1  # of what is kept; another one is read anew
_index = msgspec.json.Decoder(dict[str, Scanned])


class Shelf:
    def __init__(self, profiles: Profiles, home: Path) -> None:
        self._profiles = profiles
        self._path = home / f"transcripts-{VERSION}.json"
        self._turn = asyncio.Lock()

    async def records(self, environ: Mapping[str, str]) -> tuple[list[Record], tuple[str, ...]]:
        async with self._turn:
            return await asyncio.to_thread(self._records, environ)

    async def turns(self, record: Record) -> tuple[list[Turn], int]:
        """The conversation, and how many lines or parts of it could not be read."""
        path = Path(record.path)
        if record.agent == "opencode":
            return await asyncio.to_thread(opencode.turns, path, record.id)
        return await asyncio.to_thread(whole, path, record.agent)

    def _records(self, environ: Mapping[str, str]) -> tuple[list[Record], tuple[str, ...]]:
        before, unread = self._load(), []
        known: dict[str, Scanned] = {}
        for agent, path in self._files(environ):
            if agent in READERS:
                scanned = scan(path, before.get(str(path)), agent)
                known |= {str(path): scanned} if scanned is not None else {}
            else:
                try:
                    known |= _of_opencode(path, before)
                except sqlite3.Error as error:  # of a version whose tables are others, most likely
                    unread.append(f"{agent}: {path} cannot be read: {error}")
        if known != before:
            self._save(known)
        found = [s.record for s in known.values() if s.record.id and s.record.prompts]
        newest: dict[tuple[str, str], Record] = {}
        for record in sorted(found, key=lambda r: (r.modified_at, r.prompts), reverse=True):
            kept = newest.setdefault((record.agent, record.id), record)
            if record.prompts > kept.prompts:  # Gemini leaves a stub beside the real one
                newest[record.agent, record.id] = record
        return sorted(newest.values(), key=lambda r: r.modified_at, reverse=True), tuple(unread)

    def _files(self, environ: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
        for agent, profile in self._profiles.all():
            where = profile.transcript
            if where is None or (agent not in READERS and agent != "opencode"):
                continue
            root = place(where, environ)
            pattern = where.pattern.replace("{id}", "*").replace("{id8}", "*")
            if root is not None and root.is_dir():
                for path in root.glob(pattern):
                    yield agent, path

    def _load(self) -> dict[str, Scanned]:
        try:
            return _index.decode(self._path.read_bytes())
        except (OSError, msgspec.DecodeError):
            return {}

    def _save(self, known: dict[str, Scanned]) -> None:
        fresh = self._path.with_suffix(f".{os.getpid()}")
        try:
            fresh.touch(0o600)
            fresh.write_bytes(msgspec.json.encode(known))
            fresh.replace(self._path)
        except OSError:  # it is only quicker with it
            fresh.unlink(missing_ok=True)


def _of_opencode(path: Path, before: Mapping[str, Scanned]) -> dict[str, Scanned]:
    """By database and id: many conversations are in one file."""
    kept = {s.record.id: s.record for s in before.values() if s.record.path == str(path)}
    found = opencode.records(path, kept)
    return {f"{path}#{record.id}": Scanned(record=record) for record in found}
