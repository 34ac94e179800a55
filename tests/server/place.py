"""A daemon of its own for a test: a real process, real sockets, a folder that nobody else has."""

import contextlib
import http.client
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

from holdfast.client import Client

PATIENCE = 60.0
ROOT = Path(__file__).parent.parent.parent


def until(condition, what="it"):
    """What the condition says, as soon as it is true."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if found := condition():
            return found
        time.sleep(0.01)
    raise AssertionError(f"{what} did not happen in {PATIENCE:.0f} s")


class Place:
    """A state folder, and the daemon that lives in it."""

    def __init__(self, home):
        self.home = home
        self.client = Client(home)
        self.process = None

    def start(self, *arguments):
        command = [sys.executable, "-m", "tests.server.scripted", str(self.home), *arguments]
        with (self.home.parent / "log").open("ab") as log:
            self.process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log)
        until(self.ready, "a daemon that is ready")
        return self

    def ready(self):
        assert self.process.poll() is None, (self.home.parent / "log").read_text()
        told = self.read("daemon.json")
        return told is not None and told["pid"] == self.process.pid

    def read(self, name):
        with contextlib.suppress(FileNotFoundError):
            return json.loads((self.home / name).read_text())
        return None

    def kill(self, number=signal.SIGKILL):
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)

    def stop(self):
        if self.process is not None and self.process.poll() is None:
            self.kill(signal.SIGTERM)

    # --- sessions ---------------------------------------------------------------------------------

    def hold(self):
        """From now on the agent's calls do not finish."""
        (self.home / "hold").touch()

    def release(self):
        (self.home / "hold").unlink(missing_ok=True)

    def create(self, prompt="please", **wanted):
        body = {"folder": str(self.home), "prompt": prompt, **wanted}
        return self.ask("POST", "/api/sessions", body)["id"]

    def ask(self, method, path, body=None):
        return json.loads(self.client.call(method, path, body))

    def session(self, id):
        return self.ask("GET", f"/api/sessions/{id}")

    def stopped(self, id):
        """The session, once its run is over."""
        return until(lambda: (s := self.session(id))["run"] is None and s, "the end of the run")

    def busy(self, id):
        """The session, once it is in the middle of a call that is held."""
        begun = self.home / "ledger"
        until(lambda: begun.exists() and id in begun.read_text(), "a call that has begun")
        return self.session(id)

    # --- from the network -------------------------------------------------------------------------

    @property
    def port(self):
        return int(self.read("daemon.json")["address"].rpartition(":")[2])

    @property
    def token(self):
        return (self.home / "token").read_text().strip()

    def request(self, method, path, *, body=None, headers=None, token=True):
        """Over TCP, as a browser or a stranger would: (status, headers, decoded body)."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        given = {"Authorization": f"Bearer {self.token}"} if token else {}
        given |= headers or {}
        sent = json.dumps(body) if body is not None else None
        if sent is not None:
            given.setdefault("Content-Type", "application/json")
        try:
            connection.request(method, path, body=sent, headers=given)
            answer = connection.getresponse()
            text = answer.read().decode()
            found = json.loads(text) if text.startswith(("{", "[")) else text
            return answer.status, dict(answer.getheaders()), found
        finally:
            connection.close()


@contextlib.contextmanager
def placed(folder, *arguments, start=True):
    home = folder / "home"
    home.mkdir(mode=0o700, parents=True)
    place = Place(home)
    try:
        yield place.start(*arguments) if start else place
    finally:
        place.stop()
