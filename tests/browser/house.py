"""A daemon with scripted models, as the page meets it: real runs, real stops, a journal with a past."""

import itertools
import json
import os
import signal
import socket
from pathlib import Path

from holdfast.client import Client
from tests.browser.proxy import Network
from tests.cli.desk import User, alive, until

_scripts = itertools.count(1)
_files = itertools.count(1)


def call(name, **given):
    return {"name": name, "input": given}


def words(count, name="w"):
    """Text of which every piece can be told from every other."""
    return " ".join(f"{name}{n:04}" for n in range(count))


def held(folder, text, *after):
    """A reply that waits after so many words, each time until it is let go."""
    files = [str(folder / f"go-{next(_files)}") for _ in after]
    pauses = [{"after": n, "until": file} for n, file in zip(after, files, strict=True)]
    return {"text": text, "pauses": pauses}


def let_go(reply, n=0):
    Path(reply["pauses"][n]["until"]).touch()


NAP = call("shell", command="echo ran >> ledger; sleep 60")
END = {"text": "All is done."}


class House(User):
    """A user's machine, its daemon, and the network to it."""

    def __init__(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)
        super().__init__(folder)
        with socket.create_server(("127.0.0.1", 0)) as found:
            self.port = found.getsockname()[1]
        self.network = Network(self.port)
        self.client = Client(self.home)

    # --- the daemon -------------------------------------------------------------------------------

    def up(self):
        done = self.hold("up", "--no-open", "--port", str(self.port))
        assert done.returncode == 0, done.stderr
        return self

    def kill(self):
        pid = self.pid
        os.kill(pid, signal.SIGKILL)
        until(lambda: not alive(pid), "the end of the daemon")

    def link(self):
        """What `hold status --link` prints, by way of the network between."""
        link = self.ask("POST", "/api/login-codes", {})["link"]
        return link.replace(str(self.port), str(self.network.port))

    def clean_up(self):
        self.network.close()
        super().clean_up()

    # --- sessions ---------------------------------------------------------------------------------

    def ask(self, method, path, body=None):
        return json.loads(self.client.call(method, path, body))

    def script(self, rows):
        path = self.folder / f"script-{next(_scripts)}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return f"scripted:{path}"

    def create(self, *rows, prompt="please", title="", limits=None, **wanted):
        body = {"folder": str(self.repo), "prompt": prompt, "model": self.script(rows)}
        body |= {"title": title or None, "mode": "full", "limits": limits or {}, **wanted}
        return self.ask("POST", "/api/sessions", body)["id"]

    def session(self, id):
        return self.ask("GET", f"/api/sessions/{id}")

    def events(self, id, kind=None):
        found = self.ask("GET", f"/api/sessions/{id}/events?after=0")["events"]
        return [each for each in found if kind is None or each["type"] == kind]

    def items(self, id, kind=None):
        found = self.ask("GET", f"/api/sessions/{id}/items?limit=500")["items"]
        return [each for each in found if kind is None or each["kind"] == kind]

    def streaming(self, id):
        def accumulated():
            where = self.ask("GET", f"/api/sessions/{id}/checkpoint")
            return (where.get("checkpoint") or where).get("accumulated")

        return until(accumulated, "a stream")

    def napping(self, id):
        session = self.session(id)
        ledger = Path(session["workspace"]["path"]) / "ledger"
        return until(ledger.exists, "a tool at work")

    def stopped(self, id):
        return until(lambda: (s := self.session(id))["run"] is None and s, "the end of the run")

    def interrupted(self, *rows, phase="streaming", **wanted):
        """A session whose daemon was killed in the middle; the daemon is up again."""
        id = self.create(*rows, **wanted)
        (self.streaming if phase == "streaming" else self.napping)(id)
        self.kill()
        self.up()
        return id
