"""The sessions of an editor: made, loaded and prompted through the daemon, told in ACP's words.

Rule 1: a session's id is ours: what an editor remembers can be given to every `hold` command.
Rule 2: an editor works where its user looks: in the folder itself, not in a work tree.
Rule 3: a turn ends when the run has its stop. If the daemon dies meanwhile, it is started once, and the
turn ends with what recovery wrote down.
"""

import os
import secrets
from collections.abc import Callable
from typing import Any

import msgspec

from holdfast.cli.output import local_clock
from holdfast.client import ApiError, Client, DaemonLost, keys
from holdfast.core import events as e
from holdfast.core.session import Decision, ErrorClass, Stop
from holdfast.views.document import DecisionOut, SessionOut
from holdfast.views.editor import ENDS, Editor, Update, words
from holdfast.wire import (
    AnswerIn,
    Created,
    DeltaOut,
    Done,
    EventOut,
    EventsOut,
    NewSession,
    PromptIn,
    PromptOut,
    SessionsOut,
    event_in,
)

Params = dict[str, Any]
Answer = dict[str, Any] | None
VERSION = 1  # of the protocol
AUTH = -32000
BAD_PARAMS = -32602
FAILED = -32603
GRANT = {"yes": "allow_once", "allow": "allow_once", "always": "allow_always", "no": "reject_once"}


class Trouble(Exception):
    """An answer that is an error, in the protocol's numbers."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.code, self.data = code, data


class Sessions:
    def __init__(
        self,
        client: Client,
        notify: Callable[[str, Params], None],
        ask: Callable[[str, Params], Answer],
        *,
        agent: str,
        model: str | None,
        mode: str | None,
    ) -> None:
        self._client, self._notify, self._ask = client, notify, ask
        self._agent, self._model, self._mode = agent, model, mode

    def methods(self) -> dict[str, Callable[[Params], Answer]]:
        return {
            "initialize": self.initialize,
            "authenticate": lambda _params: {},
            "session/new": self.new,
            "session/load": self.load,
            "session/resume": self.resume,
            "session/list": self.list,
            "session/close": lambda _params: {},  # the session stays; the editor lets go of it
            "session/prompt": self.prompt,
        }

    def initialize(self, _params: Params) -> Answer:
        from importlib.metadata import version

        return {
            "protocolVersion": VERSION,
            "agentCapabilities": {
                "loadSession": True,
                "sessionCapabilities": {"list": {}, "resume": {}, "close": {}},
                "promptCapabilities": {"image": False, "audio": False, "embeddedContext": True},
            },
            "agentInfo": {
                "name": "holdfast",
                "title": f"Holdfast ({self._agent})",
                "version": version("holdfast"),
            },
            "authMethods": [],
        }

    def new(self, params: Params) -> Answer:
        wanted = NewSession(
            folder=str(params["cwd"]),
            agent=self._agent,
            model=self._model,
            mode=self._mode,
            here=True,
            environ=keys(os.environ),
        )
        try:
            made = self._client.post("/api/sessions", wanted, Created)
        except ApiError as error:
            if error.code != "invalid":
                raise
            plain = msgspec.structs.replace(wanted, git=False)  # perhaps it is only no repository
            made = self._client.post("/api/sessions", plain, Created)
        return {"sessionId": made.id}

    def load(self, params: Params) -> Answer:
        """The whole history as updates, then the answer."""
        id, told, after = str(params["sessionId"]), Editor(prompts=True), 0
        self._client.get(f"/api/sessions/{id}", SessionOut)
        while True:
            found = self._client.get(f"/api/sessions/{id}/events?after={after}", EventsOut)
            for out in found.events:
                after = out.seq
                event = event_in(out)
                for update in told.add(event) if event is not None else []:
                    self._tell(id, update)
            if not found.events:
                return self._reattached(id)

    def resume(self, params: Params) -> Answer:
        return self._reattached(str(params["sessionId"]))

    def _reattached(self, id: str) -> Answer:
        """Its agent comes back idle if it needs one; it never continues by being looked at."""
        session = self._client.get(f"/api/sessions/{id}", SessionOut)
        if session.status is not None and session.status.needs_resume:
            try:
                self._client.post(f"/api/sessions/{id}/reattach", {}, Done)
            except ApiError as error:
                self._tell(id, Editor(prompts=False).text(0, 0, 0, error.message, thinking=True)[0])
        return {}

    def list(self, params: Params) -> Answer:
        found = self._client.get("/api/sessions?limit=1000", SessionsOut).sessions
        folder = params.get("cwd")
        return {
            "sessions": [
                {
                    "sessionId": s.id,
                    "cwd": s.workspace.path,
                    "title": s.title,
                    "updatedAt": s.updated_at,
                }
                for s in found
                if folder in (None, s.workspace.path)
            ]
        }

    def cancel(self, params: Params) -> Answer:
        self._client.call("POST", f"/api/sessions/{params['sessionId']}/cancel")
        return None

    # --- a turn -------------------------------------------------------------------------------------

    def prompt(self, params: Params) -> Answer:
        id, text = str(params["sessionId"]), _text(params["prompt"])
        input = secrets.token_hex(8)
        sent = PromptIn(text=text, input=input, environ=keys(os.environ))
        out = self._client.surely(f"/api/sessions/{id}/prompt", sent, PromptOut)
        stop = self._followed(id, input, out)
        end = ENDS.get(stop.reason)
        if end is None:
            code = AUTH if stop.error is ErrorClass.AUTH else FAILED
            data = {"reason": stop.reason, "resume": f"hold resume {id}"}
            raise Trouble(code, words(stop, local_clock), data)
        return {"stopReason": end}

    def _followed(self, id: str, input: str, sent: PromptOut) -> Stop:
        """To the stop of the run that our words began, now or when their turn came."""
        told, run, after = Editor(prompts=False), sent.run, sent.head
        for last in (False, True):
            try:
                path = f"/api/sessions/{id}/events?after={after}&follow=0"
                for line in self._client.stream("GET", path):
                    given = msgspec.json.decode(line, type=dict[str, Any])
                    if given["type"] == "delta":
                        self._stream(id, told, msgspec.convert(given, DeltaOut))
                        continue
                    out = msgspec.convert(given, EventOut)
                    event, after = event_in(out), out.seq
                    if isinstance(event, e.RunStarted) and event.input == input:
                        run = event.run
                    if event is not None and run is not None:
                        self._show(id, told, event)
                    if isinstance(event, e.RunStopped) and run is not None and event.run >= run:
                        return event.stop
            except DaemonLost:
                if last:
                    raise
                self._client.knock()  # started again; what recovery wrote down comes next
        raise Trouble(FAILED, "The daemon stopped telling.", {"resume": f"hold resume {id}"})

    def _stream(self, id: str, told: Editor, d: DeltaOut) -> None:
        for update in told.text(d.round, d.part, d.offset, d.text, thinking=d.thinking):
            self._tell(id, update)

    def _show(self, id: str, told: Editor, event: e.Event) -> None:
        for update in told.add(event):
            self._tell(id, update)
        if isinstance(event, e.DecisionAsked):
            self._question(id, event.decision)

    def _tell(self, id: str, update: Update) -> None:
        self._notify("session/update", {"sessionId": id, "update": update})

    def _question(self, id: str, decision: Decision | DecisionOut) -> None:
        """An editor that does not say leaves it open: it can be answered anywhere else."""
        options = [
            {"optionId": option, "name": option, "kind": GRANT.get(option, "allow_once")}
            for option in decision.options
        ]
        call = decision.call or decision.id
        answer = self._ask(
            "session/request_permission",
            {
                "sessionId": id,
                "toolCall": {"toolCallId": call, "title": decision.text, "status": "pending"},
                "options": options,
            },
        )
        outcome = (answer or {}).get("outcome") or {}
        if outcome.get("outcome") != "selected":
            return
        given = AnswerIn(decision=decision.id, answer=str(outcome.get("optionId")))
        try:
            self._client.post(f"/api/sessions/{id}/decisions", given, Done)
        except ApiError as error:
            self._tell(id, Editor(prompts=False).text(0, 0, 0, error.message, thinking=True)[0])


def _text(blocks: Any) -> str:
    parts = []
    for block in blocks:
        match block.get("type"):
            case "text":
                parts.append(str(block["text"]))
            case "resource_link":
                parts.append(str(block["uri"]))
            case "resource" if "text" in block["resource"]:
                resource = block["resource"]
                parts.append(f"{resource.get('uri', '')}\n```\n{resource['text']}\n```")
            case kind:
                raise Trouble(BAD_PARAMS, f"Prompts are text: {kind!r} is not taken.")
    return "\n\n".join(parts)
