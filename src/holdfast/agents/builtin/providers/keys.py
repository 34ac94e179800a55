"""Where a provider's key comes from (SPEC B1): what the session was lent, else the environment of this
process, else the file `env` beside the configuration.

Each variable by itself: a lent address goes with a key of our own. Nothing is written anywhere, and no
message says a value. The file must be its owner's alone, or it is refused.
"""

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from holdfast.config import BadConfig

FILE = "env"
MODE = 0o600
LARGEST = 64 * 1024


class Keys:
    """`file` is read anew each time: a key that is put there counts from the next run on."""

    def __init__(self, file: Path, own: Mapping[str, str] | None = None) -> None:
        self._file = file
        self._own = os.environ if own is None else own

    def environ(self, lent: Mapping[str, str]) -> dict[str, str]:
        """An empty variable is as good as none: shells have many of them."""
        found = self.in_file()
        for source in (self._own, lent):
            found.update({name: value for name, value in source.items() if value})
        return found

    def in_file(self) -> dict[str, str]:
        return read_file(self._file)


def read_file(file: Path) -> dict[str, str]:
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise BadConfig(f"{file} cannot be read: {error.strerror}.") from error
    with os.fdopen(descriptor, "rb") as opened:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            raise BadConfig(f"{file} is not a file.")
        if about.st_uid != os.getuid():
            raise BadConfig(f"{file} belongs to somebody else: keys in it are not used.")
        if stat.S_IMODE(about.st_mode) & ~MODE:
            raise BadConfig(f"{file} holds keys and is open to others: chmod 600 {file}")
        text = opened.read(LARGEST).decode("utf-8", "replace")
    return dict(_line(file, n, line) for n, line in enumerate(text.splitlines(), 1) if _says(line))


def _says(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _line(file: Path, number: int, line: str) -> tuple[str, str]:
    name, equals, value = line.strip().removeprefix("export ").partition("=")
    name, value = name.strip(), value.strip()
    if not equals or not name.isidentifier():
        raise BadConfig(f"{file}, line {number}: write NAME=value.")
    quote = value[:1]
    if len(value) > 1 and quote in "\"'" and value.endswith(quote):
        value = value[1:-1]
    return name, value
