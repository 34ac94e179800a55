"""Following a run to its stop: its text, its questions, Ctrl-C, and a daemon that dies meanwhile.

Rule 1: Ctrl-C asks the run to stop and waits for it; a second one leaves at once. Both exit 130.
Rule 2: if the daemon dies, it is started once; what recovery wrote down is the end of the run.
Rule 3: whichever way it ends, the command that resumes it is printed.
"""

import queue
import signal
import sys
import threading
import time
from typing import Any

import msgspec

from holdfast.cli.leaving import Left, may_leave
from holdfast.cli.output import INTERRUPT, QUESTION, local_clock, note
from holdfast.cli.questions import settle, way
from holdfast.cli.screen import Screen
from holdfast.cli.work import outcome
from holdfast.client import ApiError, Client, DaemonDown, DaemonLost
from holdfast.core.events import DecisionAsked, Event, ResponseFinished, RunStopped
from holdfast.core.session import Decision
from holdfast.views.document import DecisionOut, SessionOut
from holdfast.views.timeline import Timeline, clean
from holdfast.views.words import EXIT_CODES, money
from holdfast.wire import DeltaOut, EventOut, EventsOut, event_in

TICK = 0.2  # seconds between two looks of the progress line
BACK = 300  # events before the place from which we follow


class Follower:
    def __init__(
        self, client: Client, id: str, run: int, *, as_json: bool, on_question: str | None
    ) -> None:
        self._client, self._id, self._run = client, id, run
        self._as_json = as_json
        self._way = way(on_question, as_json=as_json)
        self._seq = 0
        self._asked: set[str] = set()
        self._cancelling = self.left = False
        self._restarted = False
        self._screen, self._timeline = Screen(), Timeline(local_clock)
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()

    def follow(self, after: int) -> int:
        """The exit code of the run."""
        self._seq = after
        if after and not self._as_json:
            self._look_back()
        try:
            with may_leave():
                return self._through_interrupts()
        except Left as left:
            self.left = True
            self._screen.line("")
            note(f"The run goes on. See: hold show {self._id}")
            note(f"Resume with: hold resume {self._id}")
            return 0 if left.number == signal.SIGQUIT else 128 + left.number
        finally:
            self._screen.wipe()

    def _look_back(self) -> None:
        """A resume speaks of calls that were asked for before it."""
        path = f"/api/sessions/{self._id}/events?after={max(self._seq - BACK, 0)}"
        for out in self._client.get(path, EventsOut).events:
            event = event_in(out) if out.seq <= self._seq else None
            if event is not None:
                self._timeline.remember(event)

    def _through_interrupts(self) -> int:
        self._listen()
        while True:
            try:
                code = self._already_open()
                code = self._pump() if code is None else code
            except KeyboardInterrupt:
                if self._cancelling or not self._cancel():
                    note(f"Resume with: hold resume {self._id}")
                    return INTERRUPT
            else:
                return INTERRUPT if self._cancelling else code

    def _cancel(self) -> bool:
        """False: a second Ctrl-C came before the daemon had answered the first."""
        self._cancelling = True
        self._screen.wipe()
        note("Stopping. (Ctrl-C again leaves at once.)")
        try:
            self._client.call("POST", f"/api/sessions/{self._id}/cancel")
        except ApiError as error:
            note(error.message)  # it had stopped by itself
        except KeyboardInterrupt:
            return False
        return True

    # --- the stream -------------------------------------------------------------------------------

    def _listen(self) -> None:
        path = f"/api/sessions/{self._id}/events?after={self._seq}&follow={self._run}"
        threading.Thread(target=self._read, args=(path, self._lines), daemon=True).start()

    def _read(self, path: str, lines: "queue.SimpleQueue[bytes | None]") -> None:
        try:
            for line in self._client.stream("GET", path):
                lines.put(line)
        except (DaemonDown, DaemonLost, ApiError):
            pass  # the end without a stop says it
        lines.put(None)

    def _pump(self) -> int:
        while True:
            try:
                line = self._lines.get(timeout=TICK)
            except queue.Empty:
                if not self._as_json:
                    self._tick()
                continue
            if line is None:
                self._start_again()
                continue
            code = self._take(line)
            if code is not None:
                return code

    def _tick(self) -> None:
        """Nothing came for a moment."""
        line = self._timeline
        doing = line.now_doing(time.time_ns() // 1_000_000)
        self._screen.progress(doing, line.round, line.used)

    def _start_again(self) -> None:
        """Once: a daemon that dies twice is not helped by a third."""
        if self._restarted:
            self._farewell()
            raise DaemonLost("The daemon died again; its log says why.")
        self._restarted = True
        self._client.knock()
        self._lines = queue.SimpleQueue()
        self._listen()

    def _take(self, line: bytes) -> int | None:
        given: dict[str, Any] = msgspec.json.decode(line)
        if given["type"] == "delta":
            delta = msgspec.convert(given, DeltaOut)
            if not self._as_json and not delta.thinking:
                self._show_text(delta)
            return None
        out = msgspec.convert(given, EventOut)
        self._seq = out.seq
        event = event_in(out)
        if self._as_json:
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
        elif event is not None:
            for shown in self._timeline.add(event):
                self._screen.show(shown)
            if isinstance(event, ResponseFinished):
                self._screen.end()  # what follows is not said but done: the progress line has room
        return self._after(event) if event is not None else None

    def _show_text(self, delta: DeltaOut) -> None:
        for shown in self._timeline.text(delta.round, delta.part, delta.offset, delta.text):
            self._screen.show(shown)

    def _after(self, event: Event) -> int | None:
        if isinstance(event, RunStopped) and event.run >= self._run:
            self._farewell()
            return EXIT_CODES[event.stop.reason]
        if isinstance(event, DecisionAsked) and not self._cancelling:
            return self._question(event.decision)
        return None

    def _already_open(self) -> int | None:
        """A question that was asked before the place from which we follow."""
        if not self._seq or self._cancelling:
            return None
        session = self._client.get(f"/api/sessions/{self._id}", SessionOut)
        for asked in session.pending:
            if self._way == "ask" and asked.id not in self._asked:
                self._screen.line(f"? {clean(asked.text)}")
            code = self._question(asked)
            if code is not None:
                return code
        return None

    # --- questions and the end --------------------------------------------------------------------

    def _question(self, asked: Decision | DecisionOut) -> int | None:
        if asked.id in self._asked or self._way == "wait":
            return None
        self._asked.add(asked.id)
        if settle(self._client, self._id, asked, self._way):
            return None
        self._farewell()
        return QUESTION

    def _farewell(self) -> None:
        say = note if self._as_json else self._screen.line
        try:
            session = self._client.get(f"/api/sessions/{self._id}", SessionOut)
        except (ApiError, DaemonDown, DaemonLost):
            session = None
        if session is not None:
            cost = money(session.cost)
            known = [f"branch {session.workspace.branch}"] if session.workspace.branch else []
            known += [f"in {session.workspace.path}", *([cost] if cost else [])]
            say(f"  {', '.join(known)}")
            for line in outcome(self._client, session):
                say(line)
        say(f"Resume with: hold resume {self._id}")
