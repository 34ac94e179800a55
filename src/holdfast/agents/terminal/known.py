"""What is known of an agent that is to be run in a terminal, and why it cannot be."""

import shutil
from pathlib import Path
from typing import NamedTuple

from holdfast.agents.comeback import Comeback
from holdfast.agents.profiles.load import Profiles
from holdfast.agents.profiles.profile import Commands, Profile
from holdfast.agents.terminal.manner import Manner
from holdfast.agents.terminal.record import FORMATS
from holdfast.agents.terminal.seam import Terminals
from holdfast.core.session import Session


class Known(NamedTuple):
    profile: Profile
    commands: Commands
    environ: dict[str, str]


def known_of(profiles: Profiles, comeback: Comeback, session: Session) -> Known:
    profile = profiles.get(session.agent)
    if profile is None or profile.terminal is None:
        raise OSError(f"{session.agent!r} has no terminal command here")
    return Known(profile, profile.terminal, comeback.environ(profile, session))


def manner_of(known: Known, session: Session) -> Manner:
    commands = known.commands
    return Manner(
        format=commands.format if commands.format in FORMATS else "",
        where=known.profile.transcript,
        environ=known.environ,
        folder=session.workspace.path,
        interrupt=commands.interrupt,
        unknown=commands.unknown,
        hooks=commands.speaks,
        busy=commands.busy,
        asks=commands.asks,
        idle=commands.idle,
        errors=commands.errors,
        grant=commands.grant,
        deny=commands.deny,
    )


def problem_of(
    profiles: Profiles, comeback: Comeback, session: Session, terminals: Terminals
) -> str:
    """Why it cannot even be tried: what is wrong, and what to do. Empty: it can."""
    try:
        known = known_of(profiles, comeback, session)
    except OSError as error:
        return f"{error}: see `hold agent ls`."
    program = known.commands.start[0]
    if not terminals.installed:
        return "tmux is not installed: install it, or choose another way with --via."
    if shutil.which(program, path=known.environ.get("PATH", "")) is None:
        return f"{session.agent} is not installed: {program} is not on the PATH."
    if session.mode not in known.commands.modes:
        modes = ", ".join(sorted(known.commands.modes))
        return f"{known.profile.title} cannot be run in mode {session.mode!r}, only in {modes}."
    if not Path(session.workspace.path).is_dir():
        return f"The workspace {session.workspace.path} is gone."
    return ""
