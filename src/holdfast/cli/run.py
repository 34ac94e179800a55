"""`run`, `new`, `send`: work begins here."""

import os
import secrets
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from holdfast.cli.output import connect, json_option, note, say_json
from holdfast.cli.questions import question_option
from holdfast.client import Client, keys
from holdfast.config import load
from holdfast.core.modes import MODES
from holdfast.wire import Created, LimitsIn, NewSession, PromptIn, PromptOut

F = TypeVar("F", bound=Callable[..., Any])
LIMITS = (
    "budget_usd",
    "budget_tokens",
    "session_budget_usd",
    "session_budget_tokens",
    "max_tool_calls",
    "max_rounds",
    "max_time",
)
SCRIPTED = "scripted:"


def limit_options(command: F) -> F:
    for option in (
        click.option("--budget-usd", type=click.FloatRange(0), help="Dollars for this run."),
        click.option("--budget-tokens", type=click.IntRange(0), help="Tokens for this run."),
        click.option("--session-budget-usd", type=click.FloatRange(0), help="All runs together."),
        click.option("--session-budget-tokens", type=click.IntRange(0), help="All runs together."),
        click.option("--max-tool-calls", type=click.IntRange(0), help="Default 50; 0: no limit."),
        click.option("--max-rounds", type=click.IntRange(0), help="Rounds of this run."),
        click.option("--max-time", type=click.FloatRange(0), help="Seconds for this run."),
    ):
        command = option(command)
    return command


def place_options(command: F) -> F:
    for option in (
        click.option("--agent", help="builtin, or one that `hold agent ls` shows."),
        click.option("--via", help="How the agent is run."),
        click.option("--model", help="provider:model"),
        click.option("--mode", type=click.Choice(MODES), help="What it may do without asking."),
        click.option("--title", help="Default: the first words of the prompt."),
        click.option("--task", help="The task it works on; `hold task ls` lists them."),
        click.option("--here", is_flag=True, help="In this folder, not in a work tree."),
        click.option("--no-git", is_flag=True, help="With --here: a folder without git."),
        click.option("--with-changes", is_flag=True, help="Bring uncommitted changes along."),
    ):
        command = option(command)
    return command


@click.command()
@click.argument("prompt", required=False)
@place_options
@limit_options
@click.option("--detach", is_flag=True, help="Do not follow the run.")
@question_option
@json_option
def run(
    *, prompt: str | None, detach: bool, on_question: str | None, as_json: bool, **given: Any
) -> int:
    """Let an agent work on PROMPT (- reads it from standard input), or on a task.

    It works in a work tree of its own; Ctrl-C stops it, Ctrl-Q leaves it running.
    """
    if prompt is None and given["task"] is None:
        raise click.UsageError("Say what is to be done: a PROMPT, or --task ID.")
    client = connect()
    words = _words(prompt) if prompt is not None else _of_task(client, given["task"])
    made = _create(client, words, given)
    for line in made.notes:
        note(line)
    if detach or made.run is None:
        _say_detached(made, as_json=as_json)
        return 0
    return _follow(client, made.id, made.run, 0, as_json=as_json, on_question=on_question)


@click.command()
@place_options
@limit_options
@json_option
def new(*, as_json: bool, **given: Any) -> int:
    """Make a session without a prompt: nothing runs until one is sent."""
    made = _create(connect(), None, given)
    for line in made.notes:
        note(line)
    _say_detached(made, as_json=as_json)
    return 0


@click.command()
@click.argument("id")
@click.argument("text")
@limit_options
@click.option("--detach", is_flag=True, help="Do not follow the run.")
@question_option
@json_option
def send(
    *, id: str, text: str, detach: bool, on_question: str | None, as_json: bool, **given: Any
) -> int:
    """Send TEXT to session ID (- reads it from standard input).

    While a run is active it waits its turn.
    """
    client = connect()
    asked = _limits(given)
    sent = PromptIn(
        text=_words(text), input=secrets.token_hex(8), limits=asked, environ=keys(os.environ)
    )
    out = client.surely(f"/api/sessions/{id}/prompt", sent, PromptOut)
    if detach or out.run is None:
        if as_json:
            say_json(out)
        else:
            print("Queued: it goes on when the run is done." if out.queued else "Sent.")
        return 0
    return _follow(client, id, out.run, out.head, as_json=as_json, on_question=on_question)


def _create(client: Client, prompt: str | None, given: dict[str, Any]) -> Created:
    if given["no_git"] and not given["here"]:
        raise click.UsageError("--no-git needs --here: a work tree is made by git.")
    config = load(os.environ)
    agent = given["agent"] or config.get("agent")
    said = {name: given[name] if given[name] is not None else config.get(name) for name in LIMITS}
    wanted = NewSession(
        folder=str(Path.cwd()),
        prompt=prompt,
        input=secrets.token_hex(8) if prompt is not None else None,
        id=secrets.token_hex(6),
        agent=agent,
        via=given["via"],
        model=script_from_here(given["model"])
        or (config.get("model") if agent == "builtin" else None)
        or None,
        mode=given["mode"] or config.get("mode"),
        title=given["title"],
        limits=LimitsIn(**said),
        here=given["here"],
        git=not given["no_git"],
        with_changes=given["with_changes"],
        task=given["task"],
        environ=keys(os.environ),
    )
    return client.surely("/api/sessions", wanted, Created)


def script_from_here(model: str | None) -> str | None:
    """A script is named from where the user stands, and the daemon stands elsewhere."""
    if model is None or not model.startswith(SCRIPTED):
        return model
    return SCRIPTED + str(Path(model.removeprefix(SCRIPTED)).expanduser().absolute())


def _of_task(client: Client, id: str) -> str:
    from holdfast.views.tasks import TaskOut

    task = client.get(f"/api/tasks/{id}", TaskOut)
    return f"{task.title}\n\n{task.description}".strip()


def _limits(given: dict[str, Any]) -> LimitsIn | None:
    said = {name: given[name] for name in LIMITS if given[name] is not None}
    return LimitsIn(**said) if said else None


def _words(prompt: str) -> str:
    """What stands on the command line, or comes in a pipe."""
    if prompt != "-":
        return prompt
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError as error:
        raise click.UsageError(f"The prompt is not text: {error}") from error


def _say_detached(made: Created, *, as_json: bool) -> None:
    if as_json:
        say_json(made)
        return
    where = made.session.workspace
    print(
        f"Session {made.id} in {where.path}" + (f", branch {where.branch}" if where.branch else "")
    )
    if made.run is None:
        print(f'Send it a prompt: hold send {made.id} "..."')
        return
    print(f"Follow it: hold attach {made.id}   Stop it: hold stop {made.id}")
    print(f"Resume with: hold resume {made.id}")


def _follow(
    client: Client, id: str, run: int, after: int, *, as_json: bool, on_question: str | None
) -> int:
    from holdfast.cli.follow import Follower

    if not as_json and len(id) == 12:  # noqa: PLR2004  whole: it is news to the user
        note(f"Session {id}")
    return Follower(client, id, run, as_json=as_json, on_question=on_question).follow(after)
