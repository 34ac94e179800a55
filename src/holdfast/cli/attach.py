"""`attach`: watch a session, and type to it.

What is typed while a run is active waits its turn. Ctrl-C stops the run, Ctrl-Q or the end of input
leaves; the session goes on without us.
"""

import os
import secrets
import select
import sys

import click

from holdfast.cli.follow import Follower
from holdfast.cli.leaving import Left, may_leave
from holdfast.cli.output import connect, local_clock, note
from holdfast.cli.screen import Screen
from holdfast.cli.terminal import enter, has_terminal
from holdfast.client import ApiError, Client, keys
from holdfast.views.document import SessionOut
from holdfast.views.timeline import Timeline
from holdfast.wire import Done, EventsOut, PromptIn, PromptOut, SeenIn, event_in

TAIL = 200  # events of its history that are shown first


class Attached(Follower):
    """Follows a run; lines that are typed meanwhile are sent. No progress line: it would wipe what
    is being typed."""

    @property
    def seq(self) -> int:
        return self._seq

    def know(self, typed: set[str]) -> None:
        self._timeline.typed = typed

    def _tick(self) -> None:
        self._read_keyboard()

    def _take(self, line: bytes) -> int | None:
        self._read_keyboard()
        return super()._take(line)

    def _read_keyboard(self) -> None:
        while select.select([sys.stdin], [], [], 0)[0]:
            line = sys.stdin.readline()
            if not line:
                raise Left(0)
            if line.strip():
                _send(self._client, self._id, line)


@click.command()
@click.argument("id")
def attach(*, id: str) -> int:
    """Watch session ID from the end of its history on, and type prompts to it.

    Ctrl-C stops its run, Ctrl-Q or Ctrl-D leaves it running. An agent that lives in a terminal is shown
    in its own: there every key but Ctrl-Q is the agent's.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise click.UsageError("attach needs a terminal. Without one: hold logs, send, wait.")
    client = connect()
    session = client.get(f"/api/sessions/{id}", SessionOut)
    after = 0 if has_terminal(session) else _tail(client, session)
    if not session.stop_seen:
        client.post(f"/api/sessions/{session.id}/seen", SeenIn(by="attach"), Done)
    if has_terminal(session):
        return enter(client, session)
    return _talk(client, session.id, after)


def _talk(client: Client, id: str, after: int) -> int:
    while True:
        mine: set[str] = set()
        session = client.get(f"/api/sessions/{id}", SessionOut)
        run = session.run
        if run is None:
            typed = _prompt()
            if typed is None:
                note(f"Come back with: hold attach {id}")
                return 0
            sent = _send(client, id, typed)
            mine = {sent.input} if sent else set()
            run, after = (sent.run, sent.head) if sent else (None, after)
        if run is not None:
            follower = Attached(client, id, run, as_json=False, on_question="ask")
            follower.know(mine)
            code = follower.follow(after)
            if follower.left:
                return code
            after = follower.seq


def _prompt() -> str | None:
    """None: the user leaves."""
    try:
        with may_leave():
            while not (typed := input("> ")).strip():
                pass
            return typed
    except (EOFError, KeyboardInterrupt, Left):
        print()
        return None


def _send(client: Client, id: str, text: str) -> PromptOut | None:
    sent = PromptIn(text=text, input=secrets.token_hex(8), environ=keys(os.environ))
    try:
        return client.surely(f"/api/sessions/{id}/prompt", sent, PromptOut)
    except ApiError as error:
        note(f"{error.message} {error.hint}".strip())
        return None


def _tail(client: Client, session: SessionOut) -> int:
    """Shows the end of its history; the place up to which it was shown."""
    timeline, screen = Timeline(local_clock), Screen()
    after = max(session.head - TAIL, 0)
    while found := client.get(f"/api/sessions/{session.id}/events?after={after}", EventsOut).events:
        for out in found:
            after = out.seq
            event = event_in(out)
            for shown in timeline.add(event) if event is not None else ():
                screen.show(shown)
    screen.end()
    return after
