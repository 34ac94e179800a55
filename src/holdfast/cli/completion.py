"""`completion`: the shell's own completion, for commands, options and the ids of sessions.

Ids come from the daemon if one runs; a Tab starts none, and is not kept waiting.
"""

import json
import os
from typing import Any

import click
from click.shell_completion import CompletionItem, get_completion_class

from holdfast.client import ApiError, Client, DaemonDown, DaemonLost
from holdfast.config import state_folder

VARIABLE = "_HOLD_COMPLETE"
MOST = 200  # sessions offered, the newest
SHELLS = ("bash", "zsh", "fish")


class SessionIds(click.ParamType[str]):
    """The type of an argument called `id` while a line is completed."""

    name = "id"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        client = Client(state_folder(os.environ))
        try:
            answer = client.call("GET", f"/api/sessions?limit={MOST}")
        except (DaemonDown, DaemonLost, ApiError):
            return []
        found: list[dict[str, Any]] = json.loads(answer)["sessions"]
        return [
            CompletionItem(session["id"], help=_plain(session["title"]))
            for session in found
            if session["id"].startswith(incomplete)
        ]


def _plain(title: str) -> str:
    """A shell shows it as it is."""
    return "".join(char for char in title if char.isprintable())[:40]


def with_ids(command: click.Command) -> click.Command:
    """So that no command has to know of completion."""
    for parameter in command.params:
        if parameter.name == "id" and isinstance(parameter, click.Argument):
            parameter.type = SessionIds()
    return command


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
def completion(*, shell: str) -> int:
    """Print what SHELL needs to complete commands, options and ids.

    \b
    bash   eval "$(hold completion bash)"     in ~/.bashrc
    zsh    eval "$(hold completion zsh)"      in ~/.zshrc
    fish   hold completion fish | source      in config.fish
    """
    from holdfast.cli.main import hold

    kind = get_completion_class(shell)
    assert kind is not None  # the choices above are Click's own
    for name in ("hold", "holdfast"):
        click.echo(kind(hold, {}, name, VARIABLE).source())
    return 0
