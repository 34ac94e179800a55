"""An agent's questions, at a command line: asked there, refused, or left open with the command that
answers them (SPEC B11)."""

import sys
from shlex import quote

import click

from holdfast.cli.output import note
from holdfast.client import ApiError, Client
from holdfast.core.session import Decision
from holdfast.views.document import DecisionOut
from holdfast.views.timeline import clean
from holdfast.wire import AnswerIn, Done

WAYS = click.Choice(["wait", "deny", "exit"])
question_option = click.option(
    "--on-question", type=WAYS, help="Default: ask on a terminal, else exit 5."
)


def way(on_question: str | None, *, as_json: bool) -> str:
    terminal = sys.stdin.isatty() and sys.stdout.isatty()
    return on_question or ("ask" if terminal and not as_json else "exit")


def settle(client: Client, id: str, asked: Decision | DecisionOut, way: str) -> bool:
    """False: it is left open, and how to answer it was said."""
    answer = _answer(asked, way)
    if answer is None:
        say_open(id, asked)
        return False
    try:
        given = AnswerIn(decision=asked.id, answer=answer)
        client.post(f"/api/sessions/{id}/decisions", given, Done)
    except ApiError as error:
        note(error.message)  # somebody else was quicker
    return True


def say_open(id: str, asked: Decision | DecisionOut) -> None:
    note(f"A question is open: {asked.text}")
    note(f"Answer it with: {command_for(id, asked)}")


def command_for(id: str, asked: Decision | DecisionOut) -> str:
    """It can be copied as it stands."""
    first, *others = [quote(option) for option in asked.options] or ["TEXT"]
    either = f"   # or {', '.join(others)}" if others else ""
    return clean(f"hold decide {id} {first}{either}")


def _answer(asked: Decision | DecisionOut, way: str) -> str | None:
    """None: it is left open."""
    if way != "ask":
        return "no" if way == "deny" else None
    for n, option in enumerate(asked.options, 1):
        print(f"  {n}) {clean(option)}")
    try:
        while not (given := input("Your answer: ").strip()):
            pass  # an empty line is no answer
    except EOFError:  # Ctrl-D
        print()
        return None
    return option_named(asked.options, given)


def option_named(options: tuple[str, ...], given: str) -> str:
    """By its number or in words."""
    if given.isdigit() and 1 <= int(given) <= len(options):
        return options[int(given) - 1]
    return given
