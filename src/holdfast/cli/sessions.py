"""`show logs stop dismiss close reopen decide`: sessions, looked at and told."""

import time

import click

from holdfast.cli.output import (
    columns,
    connect,
    json_option,
    local_clock,
    note,
    paint,
    say_json,
)
from holdfast.cli.questions import command_for, option_named
from holdfast.client import Client
from holdfast.core.session import State
from holdfast.views.document import SessionOut
from holdfast.views.moments import age, from_rfc3339
from holdfast.views.timeline import clean
from holdfast.views.words import explained, money, where
from holdfast.wire import AnswerIn, CloseIn, Done, EventsOut, SeenIn, event_in


@click.command()
@click.argument("id")
@json_option
def show(*, id: str, as_json: bool) -> int:
    """One session, in full: where it is, why it stopped, what it waits for."""
    client = connect()
    s = client.get(f"/api/sessions/{id}", SessionOut)
    if as_json:
        say_json(s)
    else:
        _print(s)
    if not s.stop_seen:
        client.post(f"/api/sessions/{s.id}/seen", SeenIn(by="show"), Done)
    return 0


def _print(s: SessionOut) -> None:
    now = time.time_ns() // 1_000_000
    via = f"via {s.via}" if s.via != s.agent else ""
    agent = " ".join(part for part in (s.agent, via, s.model) if part)
    rows = [
        ("session", s.id),
        ("title", clean(s.title)),
        ("state", s.state),
        ("agent", f"{agent}, mode {s.mode}"),
        ("workspace", s.workspace.path),
        ("branch", s.workspace.branch),
        ("changed", age(from_rfc3339(s.updated_at), now)),
        ("used", f"{s.tokens.input:,} tokens in, {s.tokens.output:,} out {_cost(s)}".rstrip()),
    ]
    away = "in the trash" if s.trashed else "archived" if s.archived else ""
    labels = [*(["pinned"] if s.pinned else []), *(f"#{clean(tag)}" for tag in s.tags)]
    rows += [("put away", away), ("labels", " ".join(labels)), ("task", s.task or "")]
    if s.run is not None:
        rows.append(("run", f"{s.run}, round {s.round}, {s.doing}"))
    columns([row for row in rows if row[1]])
    if s.quarantined:
        print(f"\nPut aside, because it cannot be read: {s.quarantined}")
    for asked in s.pending:
        print(f"\n? {clean(asked.text)}")
        print(f"  {command_for(s.id, asked)}")
    for waiting in s.queue:
        print(f"\nqueued: {clean(waiting.text)[:200]}")
    last = s.stop or s.last_stop
    if last is not None and s.run is None:
        print(f"\n{paint(clean(explained(last, local_clock)), 'bold')}\n  {where(last, now)}")
    if s.state is State.WAITING_FOR_INPUT and not away:
        print(f"Resume with: hold resume {s.id}")


@click.command()
@click.argument("id")
@json_option
def logs(*, id: str, as_json: bool) -> int:
    """What was said and done, from the beginning."""
    from holdfast.cli.screen import Screen
    from holdfast.views.timeline import Timeline

    client = connect()
    timeline, screen, after = Timeline(local_clock), Screen(), 0
    while True:
        found = client.get(f"/api/sessions/{id}/events?after={after}", EventsOut)
        for out in found.events:
            after = out.seq
            if as_json:
                say_json(out)
            elif (event := event_in(out)) is not None:
                for shown in timeline.add(event):
                    screen.show(shown)
        if not found.events:
            return 0


def tell(client: Client, id: str, verb: str, body: object, *, as_json: bool, said: str) -> int:
    done = client.post(f"/api/sessions/{id}/{verb}", body, Done)
    if as_json:
        say_json(done.session)
    else:
        print(f"{said} {done.session.id}" if done.changed else f"Nothing to do: {done.session.id}")
    return 0


@click.command()
@click.argument("id")
@json_option
def stop(*, id: str, as_json: bool) -> int:
    """Stop a session's run, in the middle of what it does. It can be resumed."""
    client = connect()
    done = client.post(f"/api/sessions/{id}/cancel", {}, Done)
    session = done.session
    if session.run is not None:  # it was asked to stop; the run says itself when it has
        path = f"/api/sessions/{session.id}/events?after={session.head}&follow={session.run}"
        for _ in client.stream("GET", path):
            pass
        session = client.get(f"/api/sessions/{session.id}", SessionOut)
    if as_json:
        say_json(session)
    else:
        print(f"Stopped {session.id}\nResume with: hold resume {session.id}")
    return 0


@click.command()
@click.argument("id")
@json_option
def dismiss(*, id: str, as_json: bool) -> int:
    """Put a stop away without resuming. The journal keeps it."""
    return tell(connect(), id, "dismiss", {}, as_json=as_json, said="Dismissed the stop of")


@click.command()
@click.argument("id")
@click.option("--cancelled", is_flag=True, help="It was given up.")
@json_option
def close(*, id: str, cancelled: bool, as_json: bool) -> int:
    """Close a session: completed, or given up."""
    body = CloseIn(cancelled=cancelled)
    return tell(connect(), id, "close", body, as_json=as_json, said="Closed")


@click.command()
@click.argument("id")
@json_option
def reopen(*, id: str, as_json: bool) -> int:
    """Bring back a session that failed or was given up."""
    return tell(connect(), id, "reopen", {}, as_json=as_json, said="Reopened")


@click.command()
@click.argument("id")
@click.argument("answer")
@click.option("--decision", help="Which question; default: the one that was asked first.")
@json_option
def decide(*, id: str, answer: str, decision: str | None, as_json: bool) -> int:
    """Answer a session's question with ANSWER: an option's number or its words."""
    client = connect()
    session = client.get(f"/api/sessions/{id}", SessionOut)
    open_ones = [d for d in session.pending if decision in (None, d.id)]
    if not open_ones:
        note(f"hold: session {session.id} has no such question open.")
        return 3
    asked = open_ones[0]
    given = AnswerIn(decision=asked.id, answer=option_named(asked.options, answer))
    return tell(client, session.id, "decisions", given, as_json=as_json, said="Answered")


def _cost(s: SessionOut) -> str:
    """What is not known is not left out."""
    if not s.unpriced:
        return money(s.cost)
    known = f"{money(s.cost)} and " if s.cost else ""
    return f"{known}{s.unpriced} responses whose price is not known"
