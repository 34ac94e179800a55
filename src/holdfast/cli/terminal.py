"""An agent's own terminal, in the user's: `hold attach` of a session whose agent lives in one.

It is brought back first if it is not there (idle: nothing is sent). Ctrl-Q leaves it running.
"""

import os
import subprocess
import time

import click

from holdfast.client import Client
from holdfast.views.document import SessionOut
from holdfast.wire import Done

PATIENCE = 100.0  # seconds: longer than an agent may take to come up
POLL = 0.1
OURS = ("TMUX", "TMUX_TMPDIR")  # of a tmux that the user may sit in: it is another one


def has_terminal(session: SessionOut) -> bool:
    return session.via == "terminal" and session.launch is not None


def enter(client: Client, session: SessionOut) -> int:
    """Becomes the agent's terminal; returns only if it cannot."""
    if not _up(session):
        client.post(f"/api/sessions/{session.id}/reattach", {}, Done)
    environ = {name: value for name, value in os.environ.items() if name not in OURS}
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        session = client.get(f"/api/sessions/{session.id}", SessionOut)
        command = session.launch.attach if session.launch is not None else ()
        if command and _answers(command, environ):
            os.execvpe(command[0], command, environ)  # noqa: S606  no shell, on purpose
        if not command and session.state != "STARTING":
            break
        time.sleep(POLL)
    raise click.ClickException(f"Its agent did not come up. See: hold logs {session.id}")


def _up(session: SessionOut) -> bool:
    return session.launch is not None and bool(session.launch.attach)


def _answers(command: tuple[str, ...], environ: dict[str, str]) -> bool:
    """Its pane exists: a moment ago it may only have been promised."""
    at = command.index("attach-session")
    asked = [*command[:at], "has-session", *command[at + 1 :]]
    return subprocess.run(asked, env=environ, capture_output=True, check=False).returncode == 0  # noqa: S603
