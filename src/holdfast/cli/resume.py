"""`resume` and `wait`: carrying on, and waiting for the end."""

import os
import secrets
import sys
import threading
import time
from pathlib import Path
from typing import Any

import click
import msgspec

from holdfast.cli.output import (
    NOT_FOUND,
    QUESTION,
    TIMEOUT,
    connect,
    json_option,
    local_clock,
    note,
    say_bulk,
    say_json,
)
from holdfast.cli.questions import question_option, say_open, settle, way
from holdfast.cli.run import LIMITS, limit_options, script_from_here
from holdfast.cli.work import outcome
from holdfast.client import MANY, ApiError, Client, DaemonDown, DaemonLost, keys
from holdfast.core.modes import MODES
from holdfast.core.plan import Strategy
from holdfast.core.session import State, StopReason
from holdfast.core.truth import Drift
from holdfast.views.document import DecisionOut, SessionOut
from holdfast.views.moments import age, from_rfc3339
from holdfast.views.plain import CONTEXT, WORKSPACE
from holdfast.views.timeline import clean
from holdfast.views.words import EXIT_CODES, banner, explained, money
from holdfast.wire import BulkOut, LimitsIn, PlanOut, ResumeIn, RunOut, SessionsOut

PICK = 20  # sessions in the picker
LOOKED_AT = 200  # of the newest, for --last


@click.command()
@click.argument("id", required=False)
@click.option("-m", "--message", help="Say this as well.")
@click.option("--last", is_flag=True, help="The newest of this repository that can be resumed.")
@click.option("--all", "everything", is_flag=True, help="All that were interrupted or hit a limit.")
@click.option("--plan", "only_plan", is_flag=True, help="Say what would be done; do nothing.")
@click.option("--kill", is_flag=True, help="If it runs, end that first.")
@click.option("--agent", help="Let another agent carry on.")
@click.option("--model", help="With another model; provider:model")
@click.option("--mode", type=click.Choice(MODES), help="In another mode.")
@click.option("--fresh", is_flag=True, help="Without the agent's own memory.")
@limit_options
@click.option("--detach", is_flag=True, help="Do not follow the run.")
@question_option
@json_option
def resume(*, id: str | None, last: bool, everything: bool, as_json: bool, **given: Any) -> int:
    """Carry on where session ID stopped. Without ID, choose one from a list."""
    if sum((id is not None, last, everything)) > 1:
        raise click.UsageError("Give an ID, or --last, or --all: one of them.")
    client = connect()
    said = {name: given[name] for name in LIMITS if given[name] is not None}
    wanted = ResumeIn(
        command=secrets.token_hex(8),
        message=given["message"],
        limits=LimitsIn(**said) if said else None,
        fresh=given["fresh"],
        kill=given["kill"],
        agent=given["agent"],
        model=script_from_here(given["model"]),
        mode=given["mode"],
        environ=keys(os.environ),
    )
    if everything:
        return _all(client, wanted, as_json=as_json)
    chosen = id or (_last(client) if last else _pick(client))
    if chosen is None:
        note("hold: there is nothing to resume here.")
        return NOT_FOUND
    if given["only_plan"]:
        return _plan(client, chosen, wanted, as_json=as_json)
    begun = client.surely(f"/api/sessions/{chosen}/resume", wanted, RunOut)
    return _go(client, chosen, begun, given, as_json=as_json)


def _go(client: Client, id: str, begun: RunOut, given: dict[str, Any], *, as_json: bool) -> int:
    if given["detach"] or begun.run is None:
        if as_json:
            say_json(begun)
        else:
            print("It is running already." if begun.already_running else f"Resumed {id}.")
        return 0
    if begun.already_running:
        note("It is running already.")
    from holdfast.cli.follow import Follower

    session = client.get(f"/api/sessions/{id}", SessionOut)
    follower = Follower(
        client, session.id, begun.run, as_json=as_json, on_question=given["on_question"]
    )
    return follower.follow(begun.head)


def _plan(client: Client, id: str, wanted: ResumeIn, *, as_json: bool) -> int:
    from urllib.parse import urlencode

    asked = {"message": wanted.message} if wanted.message is not None else {}
    asked |= {"fresh": "true"} if wanted.fresh else {}
    others = {"agent": wanted.agent, "model": wanted.model, "mode": wanted.mode}
    asked |= {name: value for name, value in others.items() if value}
    found = client.get(f"/api/sessions/{id}/plan?{urlencode(asked)}", PlanOut)
    if as_json:
        say_json(found)
        return 0
    if not found.would_run:
        print(f"It would not run: {clean(found.reason)} {clean(found.hint)}".rstrip())
        return 0
    _say_plan(found)
    print(f"\n{clean(found.message)}" if found.message else "")
    return 0


def _say_plan(found: PlanOut) -> None:
    context = CONTEXT[Strategy(found.strategy)] if found.strategy else "nothing"
    print(f"context:   {context}" + (f" ({found.why})" if found.why else ""))
    place = WORKSPACE[Drift(found.drift)] if found.drift else "not looked at"
    made = f"; it is made again from {clean(found.rebuild)}" if found.rebuild else ""
    print(f"workspace: {place}{made}")
    price = "" if found.estimate_usd is None else f", about {money(found.estimate_usd)}"
    print(f"to read:   about {found.estimate_tokens:,} tokens{price}")
    for risk in found.risks:
        print(f"risk:      {risk}")
    for call, done in found.calls.items():
        print(f"call:      {clean(call)}: {done.replace('_', ' ')}")


def _all(client: Client, wanted: ResumeIn, *, as_json: bool) -> int:
    return say_bulk(client.post("/api/resume", wanted, BulkOut, MANY), as_json=as_json)


# --- which one --------------------------------------------------------------------------------------


def _stopped(client: Client, limit: int) -> list[SessionOut]:
    found = client.get(f"/api/sessions?limit={limit}", SessionsOut).sessions
    return [
        s
        for s in found
        if s.state is State.WAITING_FOR_INPUT and s.last_stop is not None and s.stop is not None
    ]


def _last(client: Client) -> str | None:
    """Of this repository: made from it, or where we stand now."""
    here = Path.cwd().resolve()
    around = {str(folder) for folder in (here, *here.parents)}
    for candidate in _stopped(client, LOOKED_AT):
        session = client.get(f"/api/sessions/{candidate.id}", SessionOut)
        repo = session.workspace.repo.removesuffix("/.git")
        if repo in around or session.workspace.path in around:
            return session.id
    return None


def _pick(client: Client) -> str | None:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise click.UsageError("Which one? Give an ID, --last or --all.")
    found = _stopped(client, LOOKED_AT)[:PICK]
    if not found:
        return None
    now = time.time_ns() // 1_000_000
    for n, s in enumerate(found, 1):
        why = banner(s.stop, local_clock) if s.stop else ""
        print(
            f"{n:3}  {s.id[:6]}  {age(from_rfc3339(s.updated_at), now):10}  {clean(s.title)[:50]}"
        )
        print(f"     {why}")
    number: int = click.prompt("Which", type=click.IntRange(1, len(found)), default=1)
    return found[number - 1].id


# --- wait -----------------------------------------------------------------------------------------


@click.command()
@click.argument("id")
@click.option("--timeout", type=click.FloatRange(0), help="Seconds; then exit 124.")
@question_option
@json_option
def wait(*, id: str, timeout: float | None, on_question: str | None, as_json: bool) -> int:
    """Wait until the run of session ID has stopped; the exit code says how.

    5 if a question is open and there is nobody to ask: nothing goes on until it is answered.
    """
    client, how = connect(), way(on_question, as_json=as_json)
    begun = time.monotonic()
    session = client.get(f"/api/sessions/{id}", SessionOut)
    while session.run is not None:
        asked = session.pending[0] if session.pending and how != "wait" else None
        if asked is not None:
            if not _answered(client, session.id, asked, how):
                if as_json:
                    say_json(session)
                return QUESTION
        elif not _something_new(client, session, how, begun, timeout):
            note(f"hold: session {session.id} still runs.")
            return TIMEOUT
        session = client.get(f"/api/sessions/{session.id}", SessionOut)
    if as_json:
        say_json(session)
    return _said(client, session, as_json=as_json)


def _answered(client: Client, id: str, asked: DecisionOut, how: str) -> bool:
    if how == "ask":
        print(f"? {clean(asked.text)}")
    return settle(client, id, asked, how)


def _something_new(
    client: Client, session: SessionOut, how: str, begun: float, timeout: float | None
) -> bool:
    """False: it was waited for long enough."""
    over = threading.Event()
    arguments = (client, session, how, over)
    threading.Thread(target=_watch, args=arguments, daemon=True).start()
    return over.wait(None if timeout is None else max(begun + timeout - time.monotonic(), 0))


def _watch(client: Client, session: SessionOut, how: str, over: threading.Event) -> None:
    """Until it stops or asks."""
    path = f"/api/sessions/{session.id}/events?after={session.head}&follow={session.run}"
    try:
        for line in client.stream("GET", path):
            if how != "wait" and msgspec.json.decode(line)["type"] == "decision_asked":
                break
    except (ApiError, DaemonDown, DaemonLost):
        pass  # what became of it is asked next
    over.set()


def _said(client: Client, session: SessionOut, *, as_json: bool) -> int:
    if session.pending:
        say_open(session.id, session.pending[0])
        return QUESTION
    last = session.last_stop
    if last is None:
        return 0
    if not as_json:
        print(clean(explained(last, local_clock)))
        for line in outcome(client, session):
            print(line)
        if session.state is State.WAITING_FOR_INPUT:
            print(f"Resume with: hold resume {session.id}")
    return EXIT_CODES[StopReason(last.reason)]
