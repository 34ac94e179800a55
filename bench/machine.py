"""Where the numbers were taken: a store's speed is mostly its disk's."""

import os
import platform
import shutil
import sqlite3
import tempfile
from pathlib import Path

_ON_DISK_BY_CUSTOM = Path("/var/tmp")  # noqa: S108 (only mkdtemp makes folders there)


def scratch_parent() -> Path:
    """A place for files that is usually a disk; the usual temporary folder is often memory."""
    if os.access(_ON_DISK_BY_CUSTOM, os.W_OK):
        return _ON_DISK_BY_CUSTOM
    return Path(tempfile.gettempdir())


def describe(folder: Path) -> dict[str, str]:
    """What a reader needs to judge the numbers."""
    return {
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "system": f"{platform.system()} {platform.machine()}",
        "cores": str(os.cpu_count()),
        "filesystem": filesystem(folder),
        "load": load(),
    }


def load() -> str:
    """How busy the machine is, as its own average over a minute."""
    return f"{os.getloadavg()[0]:.1f}"


def free_bytes(folder: Path) -> int:
    """Room left on the disk."""
    return shutil.disk_usage(folder).free


def filesystem(folder: Path) -> str:
    """The kind of file system that holds the folder."""
    mounts = Path("/proc/self/mounts")
    if not mounts.exists():
        return "unknown"
    place = folder.resolve()
    best, kind = -1, "unknown"
    for line in mounts.read_text().splitlines():
        _, point, found, *_ = line.split()
        if place.is_relative_to(point) and len(point) > best:
            best, kind = len(point), found
    return kind


def fsync_is_real(kind: str) -> bool:
    """Whether durable can mean anything there."""
    return kind not in {"tmpfs", "ramfs"}
