"""The command line's entry. Commands are loaded when they are called, so that `--help` is quick.

Rule 1: one clear message on standard error and the exit code of SPEC I2, whatever went wrong.
Rule 2: what a command does is in its own file; which file that is stands in the table below.
"""

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from holdfast.config import VERSION

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

# name: module, what it does
COMMANDS: dict[str, tuple[str, str]] = {
    "up": ("daemon", "Start the daemon and print a link to its page"),
    "down": ("daemon", "Stop the daemon; what runs in it can be resumed"),
    "status": ("daemon", "Is the daemon running, and where"),
    "config": ("daemon", "Every setting, and where it comes from"),
    "doctor": ("doctor", "What is installed here, and does it work"),
    "completion": ("completion", "Let the shell complete commands and ids"),
    "demo": ("demo", "See an agent killed in the middle of an edit, and carry on"),
    "run": ("run", "Let an agent work on something, in a work tree of its own"),
    "new": ("run", "Make a session without a prompt"),
    "send": ("run", "Send a prompt to a session"),
    "ls": ("ls", "Every session: state, why it stopped, how long ago, cost"),
    "show": ("sessions", "One session, in full"),
    "logs": ("sessions", "What was said and done in a session"),
    "stop": ("sessions", "Stop a session's run"),
    "dismiss": ("sessions", "Put away a stop without resuming"),
    "close": ("sessions", "Close a session for good"),
    "reopen": ("sessions", "Bring back a failed or cancelled session"),
    "diff": ("work", "What a session changed"),
    "apply": ("work", "Bring a session's work into your branch"),
    "rename": ("labels", "Give a session another title"),
    "pin": ("labels", "Keep a session at the top of the list"),
    "tag": ("labels", "Put tags on a session: +this -that"),
    "archive": ("labels", "Put a session out of sight"),
    "fork": ("earlier", "Go on from a round of a session, in another one"),
    "rewind": ("earlier", "Take a session back to the end of a round"),
    "rm": ("labels", "Move a session to the trash, for 30 days"),
    "restore": ("labels", "Take a session out of the trash"),
    "queue": ("labels", "See, edit or drop what waits to be sent"),
    "export": ("history", "One session as JSON Lines, with all that belongs to it"),
    "search": ("history", "Find words in titles and conversations"),
    "stats": ("stats", "What stopped, what came back and how well, what it cost"),
    "resume": ("resume", "Carry on where a session stopped"),
    "attach": ("attach", "Watch a session and type to it; Ctrl-Q leaves it running"),
    "wait": ("resume", "Wait until a session's run has stopped"),
    "decide": ("sessions", "Answer a session's question"),
    "agent": ("agent", "Which agents there are, and what they can do here"),
    "adopt": ("adopt", "Take in conversations that other agents had here"),
    "acp": ("acp", "Be an ACP agent on standard input and output, for an editor"),
    "task": ("task", "Tasks: what is to be done, by any number of sessions"),
}


class Lazy(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"holdfast.cli.{COMMANDS[cmd_name][0]}")
        found: click.Command = getattr(module, cmd_name)
        if ctx.resilient_parsing:  # only a shell that completes a line asks like this
            from holdfast.cli.completion import with_ids

            return with_ids(found)
        return found

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """From the table too."""
        from click.shell_completion import CompletionItem

        names = [name for name in COMMANDS if name.startswith(incomplete)]
        options = click.Command.shell_complete(self, ctx, incomplete)
        return [*(CompletionItem(name, help=COMMANDS[name][1]) for name in names), *options]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """From the table: nothing is imported for being listed."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(args[0], COMMANDS, n=1)
            meant = f" Did you mean {near[0]!r}?" if near else ""
            ctx.fail(f"There is no command {args[0]!r}.{meant}")
        return super().resolve_command(ctx, args)


def _version(ctx: click.Context, _param: click.Parameter, value: Any) -> None:
    if not value or ctx.resilient_parsing:
        return
    click.echo(f"holdfast {VERSION}")
    ctx.exit()


@click.group(cls=Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", is_flag=True, expose_value=False, is_eager=True, callback=_version, help="Say it."
)
def hold() -> None:
    """Runs coding agents and never loses their place."""


def main() -> int:
    """Run one command; the result is the exit code."""
    try:
        code = hold.main(prog_name="hold", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        print(file=sys.stderr)
        return 130
    except BrokenPipeError:  # whoever read us is gone: there is nobody to tell
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:  # noqa: BLE001  said in one line where it can be
        from holdfast.cli.output import complain

        return complain(error)
    return code if isinstance(code, int) else 0
