"""`up`, `down`, `status`, `config`: the daemon itself. Only `up` ever starts one here."""

import os
import sys

import click

from holdfast.cli.output import (
    FAILED,
    NOT_FOUND,
    columns,
    connect,
    home,
    json_option,
    note,
    say_json,
)
from holdfast.client import Client, DaemonDown, DaemonLost
from holdfast.config import Config, load
from holdfast.wire import DownIn, LoginCode


@click.command()
@click.option("--foreground", is_flag=True, help="Stay, and log to standard error.")
@click.option("--port", type=click.IntRange(0, 65535), help="Default: 4653 or the next free.")
@click.option("--allow-host", multiple=True, metavar="NAME", help="A name a proxy reaches us by.")
@click.option("--no-open", is_flag=True, help="Do not open a browser.")
@json_option
def up(
    *, foreground: bool, port: int | None, allow_host: tuple[str, ...], no_open: bool, as_json: bool
) -> int:
    """Start the daemon and print a link to its page.

    One that runs already is used. It goes on when this terminal is closed.
    """
    config = load(os.environ, {"port": port, "allow_host": list(allow_host) or None})
    if foreground:
        return _stay(config)
    from holdfast.daemon import start_detached

    client = Client(config.home)
    try:
        client.health()
    except (DaemonDown, DaemonLost):
        given = ["--port", str(port)] if port is not None else []
        given += [part for name in allow_host for part in ("--allow-host", name)]
        start_detached(config.home, tuple(given))
    link = client.post("/api/login-codes", {}, LoginCode).link
    if as_json:
        say_json({**_status(client), "link": link})
    else:
        print(f"Holdfast is running. Its page, for one browser and a few minutes:\n  {link}")
    if not no_open and sys.stdout.isatty() and _display():
        import webbrowser

        webbrowser.open(link)
    return 0


def _display() -> bool:
    return sys.platform == "darwin" or bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )


def _stay(config: Config) -> int:
    from holdfast.daemon import Wanted, serve

    port = None if config.source("port") == "default" else config.get("port")
    serve(config, Wanted(port=port, allow_hosts=tuple(config.get("allow_host"))))
    return 0


@click.command()
@click.option("--kill", is_flag=True, help="End agents that would live on without it, too.")
@json_option
def down(*, kill: bool, as_json: bool) -> int:
    """Stop the daemon. What runs in it is interrupted, and can be resumed."""
    from holdfast.daemon import awaits_end

    client = connect(start=False)
    gone = awaits_end(client.home)
    try:
        client.call("POST", "/api/down", DownIn(kill=kill))
    except DaemonDown:
        say_json({"running": False}) if as_json else note("No daemon is running.")
        return 0
    if not gone():
        note("hold: the daemon did not stop in time; its log says more: " + str(client.home))
        return FAILED
    say_json({"running": False}) if as_json else print("The daemon has stopped.")
    return 0


@click.command()
@click.option("--link", is_flag=True, help="Also a link that logs a browser in, once.")
@json_option
def status(*, link: bool, as_json: bool) -> int:
    """Say whether the daemon runs, and where. Starts nothing."""
    client = connect(start=False)
    try:
        found = _status(client)
        if link:
            found["link"] = client.post("/api/login-codes", {}, LoginCode).link
    except (DaemonDown, DaemonLost):
        if as_json:
            say_json({"running": False, "home": str(home())})
        else:
            print("No daemon is running. `hold up` starts it.")
        return NOT_FOUND
    if as_json:
        say_json(found)
    else:
        columns([(name, str(value)) for name, value in found.items()])
    return 0


def _status(client: Client) -> dict[str, object]:
    health = client.health()
    return {
        "running": True,
        "pid": health.pid,
        "address": health.address,
        "socket": health.socket,
        "store": health.store,
        "version": health.version,
        "home": health.home,
    }


@click.command()
@json_option
def config(*, as_json: bool) -> int:
    """Every setting, its value and where that comes from."""
    found = load(os.environ)
    if as_json:
        values = {k: {"value": s.value, "source": s.source} for k, s in found.settings.items()}
        say_json({"home": str(found.home), "file": str(found.file), "settings": values})
        return 0
    rows = [
        (k, str(s.value if s.value is not None else ""), s.source)
        for k, s in found.settings.items()
    ]
    columns([("home", str(found.home), ""), ("file", str(found.file), ""), *rows])
    return 0
