"""Where things are and what was asked for: flags > environment > file > default (SPEC I5).

Every value knows where it came from, so that `hold config` and every complaint can say it. A key
that nobody knows is an error with the file, the line and what was probably meant.
"""

import contextlib
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

VERSION = "0.1.0"
PORT = 4653
OFF = False
SOCKET, TOKEN = "holdfast.sock", "token"  # in the state folder
LONGEST = 100  # bytes of a path that fit into a socket's address on every system


class BadConfig(Exception):
    """One clear sentence: where, what, and what to do."""


class Key(NamedTuple):
    kind: type
    default: Any
    about: str


KEYS: dict[str, Key] = {
    "agent": Key(str, "builtin", "the agent of a session that names none"),
    "model": Key(str, "", "provider:model; empty: the first provider with a key"),
    "mode": Key(str, "edits", "read-only, ask, edits or full"),
    "port": Key(int, PORT, "of the page and the API"),
    "allow_host": Key(list, [], "names under which a proxy reaches us"),
    "store": Key(str, "", "a PostgreSQL address; empty: SQLite in the state folder"),
    "budget_usd": Key(float, None, "dollars per run"),
    "budget_tokens": Key(int, None, "tokens per run"),
    "session_budget_usd": Key(float, None, "dollars for all runs of a session together"),
    "session_budget_tokens": Key(int, None, "tokens for all runs of a session together"),
    "max_tool_calls": Key(int, 50, "tool calls per run; 0: no limit"),
    "max_rounds": Key(int, None, "rounds per run"),
    "max_time": Key(float, None, "seconds per run"),
    "quiet_after": Key(
        float, 300.0, "seconds without a word from an agent: one notice, never a kill"
    ),
    "context_window": Key(
        int, 200_000, "tokens; near it a conversation is summarised; 0: only when the model refuses"
    ),
    "trash_days": Key(int, 30, "days that the trash keeps a session; 0: for ever"),
    "sandbox.network": Key(bool, OFF, "commands in the sandbox may use the network"),
    "sandbox.tools": Key(list, [], "folders of HOME that the sandbox may read"),
}
YES, NO = frozenset({"1", "true", "yes", "on"}), frozenset({"0", "false", "no", "off"})


class Setting(NamedTuple):
    value: Any
    source: str  # flag, environment, the file's path, or default


class Server(NamedTuple):
    """[mcp.NAME]: a program whose tools agents may use."""

    name: str
    command: tuple[str, ...]
    env: Mapping[str, str] = {}


class Config(NamedTuple):
    home: Path
    file: Path
    settings: Mapping[str, Setting]
    agents: Mapping[str, Any] = {}  # [agents.NAME]: profiles of the user's own, or changes to ours
    servers: tuple[Server, ...] = ()

    def get(self, key: str) -> Any:
        return self.settings[key].value

    def source(self, key: str) -> str:
        return self.settings[key].source


# --- folders --------------------------------------------------------------------------------------


def state_folder(environ: Mapping[str, str]) -> Path:
    if named := environ.get("HOLDFAST_HOME"):
        return Path(named).expanduser().absolute()
    user = Path(environ.get("HOME") or Path.home())
    if sys.platform == "darwin":
        return user / "Library" / "Application Support" / "holdfast"
    base = environ.get("XDG_STATE_HOME")
    return (Path(base) if base else user / ".local" / "state") / "holdfast"


def config_file(environ: Mapping[str, str]) -> Path:
    if environ.get("HOLDFAST_HOME"):
        return state_folder(environ) / "config.toml"
    user = Path(environ.get("HOME") or Path.home())
    base = environ.get("XDG_CONFIG_HOME")
    return (Path(base) if base else user / ".config") / "holdfast" / "config.toml"


def prepare(home: Path) -> None:
    """The state folder, ours alone: it holds what agents said and did, and the token."""
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        about = home.lstat()
    except OSError as error:
        raise BadConfig(f"The state folder {home} cannot be had: {error.strerror}.") from error
    if not stat.S_ISDIR(about.st_mode):
        raise BadConfig(f"{home} is not a folder: set HOLDFAST_HOME to one.")
    if about.st_uid != os.getuid():
        raise BadConfig(f"The state folder {home} belongs to somebody else.")
    if stat.S_IMODE(about.st_mode) & 0o077:
        raise BadConfig(f"The state folder {home} is open to others: chmod 700 {home}")


@contextlib.contextmanager
def short_address(path: Path) -> Iterator[str]:
    """A socket's address may have a hundred bytes or so; a folder's handle stands in for the rest."""
    if len(os.fsencode(path)) <= LONGEST:
        yield str(path)
        return
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


# --- values ---------------------------------------------------------------------------------------


def load(environ: Mapping[str, str], flags: Mapping[str, Any] | None = None) -> Config:
    file = config_file(environ)
    written, agents, servers = _read(file)
    settings: dict[str, Setting] = {}
    for name, key in KEYS.items():
        variable = "HOLDFAST_" + name.replace(".", "_").upper()
        flag = (flags or {}).get(name)
        if flag is not None and flag != ():
            settings[name] = Setting(flag, "flag")
        elif variable in environ:
            settings[name] = Setting(_from_text(key, environ[variable], variable), variable)
        elif name in written:
            settings[name] = Setting(written[name], str(file))
        else:
            settings[name] = Setting(key.default, "default")
    home = state_folder(environ)
    return Config(home=home, file=file, settings=settings, agents=agents, servers=servers)


def _read(file: Path) -> tuple[dict[str, Any], dict[str, Any], tuple[Server, ...]]:
    """The settings, and the tables of agents: these are checked by whoever runs agents."""
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}, {}, ()
    except (OSError, UnicodeDecodeError) as error:
        raise BadConfig(f"{file} cannot be read: {error}") from error
    import tomllib  # noqa: PLC0415  most commands read no file, and should be quick

    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadConfig(f"{file}: {error}") from error
    agents = {**_agents(tables, "agents"), **_agents(tables, "agent")}
    servers = tuple(_server(file, *named) for named in _agents(tables, "mcp").items())
    found = _flat(tables)
    for name in found:
        if name not in KEYS:
            raise BadConfig(_unknown(file, text, name))
    checked = {name: _checked(name, value, file, text) for name, value in found.items()}
    return checked, agents, servers


def _server(file: Path, name: str, table: Any) -> Server:
    """MCP over stdio: what to start, and what it is given."""
    where = f"{file}, [mcp.{name}]"
    if not isinstance(table, dict):
        raise BadConfig(f"{where} must be a table, not {table!r}.")
    if wrong := sorted(set(table) - {"command", "env"}):
        raise BadConfig(f"{where}: {wrong[0]!r} is not a key of it. Known: command, env.")
    command, env = table.get("command"), table.get("env", {})
    if not isinstance(command, list) or not command or not _texts(command):
        raise BadConfig(f"{where}: command must be a list of texts, like ['program', '--flag'].")
    if not isinstance(env, dict) or not _texts(env.values()):
        raise BadConfig(f"{where}: env must be a table of texts.")
    return Server(name, tuple(command), env)


def _texts(values: Iterable[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


def _agents(tables: dict[str, Any], name: str) -> dict[str, Any]:
    """`agent` may also be a setting; then its tables are called `agents`."""
    return tables.pop(name) if isinstance(tables.get(name), dict) else {}


def _flat(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in table.items():
        if isinstance(value, dict):
            found |= _flat(value, f"{prefix}{name}.")
        else:
            found[prefix + name] = value
    return found


def _unknown(file: Path, text: str, name: str) -> str:
    import difflib  # noqa: PLC0415  only for those who mistyped

    near = difflib.get_close_matches(name, KEYS, n=1)
    meant = f" Did you mean {near[0]!r}?" if near else f" Known: {', '.join(KEYS)}."
    return f"{file}, line {_line_of(name, text)}: {name!r} is not a setting.{meant}"


def _line_of(name: str, text: str) -> int:
    import re  # noqa: PLC0415  only for those who have to be told

    last = re.escape(name.rpartition(".")[2])
    lines = enumerate(text.splitlines(), 1)
    return next((n for n, row in lines if re.match(rf"\s*[\w.\"']*{last}[\"']?\s*=", row)), 0)


def _checked(name: str, value: Any, file: Path, text: str) -> Any:
    key = KEYS[name]
    if key.kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, key.kind) or (key.kind is int and isinstance(value, bool)):
        where = f"{file}, line {_line_of(name, text)}"
        raise BadConfig(f"{where}: {name} must be {_a(key.kind)}, not {value!r}.")
    return value


def _from_text(key: Key, text: str, variable: str) -> Any:
    if key.kind is bool:
        if text.lower() in YES | NO:
            return text.lower() in YES
        raise BadConfig(f"{variable} must be yes or no, not {text!r}.")
    if key.kind is list:
        return [part.strip() for part in text.split(",") if part.strip()]
    try:
        return key.kind(text)
    except ValueError as error:
        raise BadConfig(f"{variable} must be {_a(key.kind)}, not {text!r}.") from error


def _a(kind: type) -> str:
    words = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}
    return words.get(kind, "a list")


def without_password(store: str) -> str:
    """For people: an address may be shown, what opens it may not."""
    hidden = re.sub(r"(://[^:/@]*):[^@]*@", r"\1:***@", store)
    return re.sub(r"(password=)[^\s&]*", r"\1***", hidden)
