"""What is needed to know of an agent that speaks ACP. Where it is written down is not known here."""

from collections.abc import Mapping

from holdfast.core.value import Value


class AcpProfile(Value):
    command: tuple[str, ...]
    environ: Mapping[str, str] = {}  # all that its process gets, besides our cookie
    modes: Mapping[str, str] = {}  # ours to the agent's
    install: str = ""  # how to get it, for people
    login: str = ""  # and how to let it in
    unnamed: str = ""  # "its own": text without a message id is not the model's
    note: str = ""  # a piece of text like this is a note to the user, not the model's
    failed: str = ""  # one like this at the end: the turn failed, whatever it says
    fork_at: Mapping[str, object] = {}  # `_meta` of a fork up to the message `{at}`
    quirks: frozenset[str] = frozenset()


def filled(meta: Mapping[str, object], at: str) -> dict[str, object]:
    return {
        name: filled(value, at) if isinstance(value, Mapping) else at if value == "{at}" else value
        for name, value in meta.items()
    }


class McpServer(Value):
    """As the protocol has it: over stdio."""

    name: str
    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = {}

    def params(self) -> dict[str, object]:
        env = [{"name": name, "value": value} for name, value in self.env.items()]
        return {"name": self.name, "command": self.command, "args": list(self.args), "env": env}


class Waits(Value):
    """Seconds. Every wait has a limit (SPEC E17)."""

    ready: float = 90.0  # until each answer of the handshake, or the last thing heard before it
    cancel: float = 10.0  # for a cancelled turn to end by itself
    quiet: float = 300.0  # without an event: one notice, never a kill
    replay: float = 0.25  # some go on replaying after they said that they are done
    replay_most: float = 10.0
