"""Who writes. An owner's name says which process it is, so that its death can be known.

Never a bare pid: pids are reused. Host, boot, pid and start time together are one life; the nonce
tells two owners of one process apart.
"""

import contextlib
import os
import secrets
import socket
from pathlib import Path


def this_owner() -> str:
    pid = os.getpid()
    return ":".join((socket.gethostname(), boot_id(), str(pid), started(pid), secrets.token_hex(4)))


def process_dead(owner: str) -> bool | None:
    """True: certainly dead. False: alive. None: not to be told from here."""
    try:
        host, boot, pid, start, _nonce = owner.split(":")
    except ValueError:
        return None  # not one of ours
    if host != socket.gethostname():
        return None
    if boot != boot_id():
        return True
    if not pid.isdigit() or not start:
        return None
    return started(int(pid)) != start


def boot_id() -> str:
    with contextlib.suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return ""


def started(pid: int) -> str:
    """Start time in clock ticks since boot, or nothing: no such process (or a corpse)."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]
