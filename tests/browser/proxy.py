"""A network between the browser and the daemon, which can be made to fail.

The browser's own offline emulation leaves open sockets alone; here they are really cut, or swallow
what is put into them. As a reverse proxy does, it gives the daemon the name the daemon goes by.
"""

import contextlib
import socket
import threading


class Network:
    def __init__(self, port):
        self.daemon = port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.connections = 0
        self._refuses = False
        self._pairs = set()
        self._guard = threading.Lock()
        self._threads = []
        self._closed = False
        self._spawn(self._accept)

    @property
    def address(self):
        return f"http://127.0.0.1:{self.port}"

    # --- faults -----------------------------------------------------------------------------------

    def cut(self):
        """Every connection ends, and there is no other."""
        self._refuses = True
        for pair in self._taken():
            pair.end()

    def swallow(self):
        """The connections there are carry nothing any more, and do not end: a NAT that forgot."""
        with self._guard:
            for pair in self._pairs:
                pair.open.clear()

    def heal(self):
        self._refuses = False
        with self._guard:
            for pair in self._pairs:
                pair.open.set()

    def close(self):
        self._closed = True
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.cut()
        for thread in self._threads:
            thread.join(5)

    # --- what it does otherwise -------------------------------------------------------------------

    def _accept(self):
        while not self._closed:
            try:
                browser, _ = self.listener.accept()
            except OSError:
                return
            try:
                daemon = (
                    None
                    if self._refuses
                    else socket.create_connection(("127.0.0.1", self.daemon), 5)
                )
            except OSError:
                daemon = None
            if daemon is None:
                browser.close()
                continue
            daemon.settimeout(None)
            self.connections += 1
            pair = Pair(browser, daemon)
            with self._guard:
                self._pairs.add(pair)
            self._spawn(self._carry, pair, browser, daemon, self._named)
            self._spawn(self._carry, pair, daemon, browser, bytes)

    def _carry(self, pair, source, goal, change):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                pair.open.wait()
                goal.sendall(change(data))
        pair.end()
        with self._guard:
            self._pairs.discard(pair)

    def _named(self, data):
        ours, theirs = (f"127.0.0.1:{port}".encode() for port in (self.port, self.daemon))
        return data.replace(ours, theirs)

    def _taken(self):
        with self._guard:
            found, self._pairs = self._pairs, set()
        return found

    def _spawn(self, what, *arguments):
        thread = threading.Thread(target=what, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()


class Pair:
    def __init__(self, *ends):
        self.ends = ends
        self.open = threading.Event()
        self.open.set()

    def end(self):
        self.open.set()
        for each in self.ends:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
