"""The sockets themselves, before anybody answers: bound first, for whoever cannot have them need not start.

Nothing heavy is loaded here: what answers (listen.py) is loaded while the system starts.
"""

import os
import socket
from pathlib import Path

from holdfast.config import PORT, SOCKET, short_address

PORTS = 50  # tried one after another
BACKLOG = 128


class PortTaken(Exception):
    pass


def bind_tcp(port: int | None) -> socket.socket:
    """Loopback alone. None: the usual port, or the next that is free; 0: any."""
    for wanted in range(PORT, PORT + PORTS) if port is None else (port,):
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", wanted))
            listener.listen(BACKLOG)
        except OSError:
            listener.close()
            continue
        return listener
    taken = f"{PORT} to {PORT + PORTS - 1} are" if port is None else f"{port} is"
    raise PortTaken(f"Port {taken} taken: choose another with --port.")


def bind_unix(home: Path) -> socket.socket:
    """Whoever calls this holds the lock: a socket that lies there is a dead daemon's."""
    path = home / SOCKET
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)  # 0600 from the first moment on
    try:
        with short_address(path) as address:
            listener.bind(address)
    finally:
        os.umask(before)
    listener.listen(BACKLOG)
    return listener
