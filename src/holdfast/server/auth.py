"""Who may come in. Asked for every request and every upgrade, before anything is routed.

Rule 1: a credential on everything but `/login`: the token as `Authorization: Bearer`, or the cookie
        that a one-time code was exchanged for. Never in an address. Compared in constant time.
Rule 2: over TCP, a Host that is ours, or nothing: a name that was rebound to 127.0.0.1 is not ours.
Rule 3: over TCP, an Origin that is there must be ours. With a cookie, a change or an upgrade must
        have one: only a browser sends cookies, and a browser says where it comes from.
Rule 4: the Unix socket is exempt from 2 and 3 (its folder keeps others out), not from 1.
Rule 5: no CORS headers, ever.
"""

import hashlib
import hmac
import os
import secrets
import stat
from collections.abc import Callable, Iterable
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import NamedTuple

from holdfast.config import TOKEN

CODE_LIFE = 300.0  # seconds
SAFE = frozenset({"GET", "HEAD"})
SAME_SITE = frozenset({"same-origin", "none"})


class Denied(Exception):
    """`code` is of the fixed list in wire.py."""

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.code, self.message, self.hint = code, message, hint


class Asked(NamedTuple):
    """What matters of a request. Headers by lower-case name, each as often as it came."""

    method: str
    upgrade: bool
    unix: bool
    headers: dict[str, list[str]]

    def one(self, name: str) -> str | None:
        """None: not there, or there more than once, which is as good as not there."""
        found = self.headers.get(name, [])
        return found[0] if len(found) == 1 else None


def keep_token(home: Path) -> str:
    """The daemon's token; made at the first start, readable by its owner alone."""
    path = home / TOKEN
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    except FileExistsError:
        return read_token(path)
    with os.fdopen(file, "w") as out:
        token = secrets.token_urlsafe(32)
        out.write(token + "\n")
    return token


def read_token(path: Path) -> str:
    file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    with os.fdopen(file) as found:
        about = os.fstat(file)
        if about.st_uid != os.getuid() or stat.S_IMODE(about.st_mode) & 0o077:
            raise PermissionError(f"{path} is open to others: chmod 600 it, or remove it")
        token = found.read().strip()
    if len(token) < 32:  # noqa: PLR2004  half of what we write
        raise ValueError(f"{path} holds no token: remove it, and the next start makes one")
    return token


class Doorman:
    """Knows the token, our names, and the codes that were handed out."""

    def __init__(
        self, *, token: str, port: int, allowed: Iterable[str], clock: Callable[[], float]
    ) -> None:
        self._token = token
        self._pass = hmac.new(token.encode(), b"browser", hashlib.sha256).hexdigest()
        self._clock = clock
        self._codes: dict[str, float] = {}
        self.closing = False  # the daemon is going down: nothing is begun any more
        self.cookie = f"holdfast_{port}"
        ours = [f"127.0.0.1:{port}", f"localhost:{port}", f"[::1]:{port}"]
        names = [name.lower() for name in allowed]
        self._hosts = frozenset([*ours, *names, *(f"{name}:{port}" for name in names)])
        self._origins = frozenset(
            [*(f"http://{host}" for host in ours), *(f"https://{name}" for name in names)]
        )

    # --- the three questions ----------------------------------------------------------------------

    def check(self, asked: Asked) -> None:
        """Host and Origin first: whoever has the wrong ones learns nothing about tokens."""
        self.check_place(asked)
        self._check_credential(asked)

    def check_place(self, asked: Asked) -> None:
        if asked.unix:
            return
        host = asked.one("host")
        if host is None or host.lower() not in self._hosts:
            raise Denied(
                "forbidden",
                "This name is not ours.",
                "Use 127.0.0.1, or start with --allow-host NAME.",
            )
        origins = asked.headers.get("origin", [])
        if any(origin.lower() not in self._origins for origin in origins):
            raise Denied("forbidden", "Requests from other sites are refused.")

    def knows(self, asked: Asked) -> bool:
        """This browser has logged in before."""
        return self._has_pass(asked)

    def _check_credential(self, asked: Asked) -> None:
        bearer = asked.one("authorization")
        if bearer is not None:
            scheme, _, given = bearer.partition(" ")
            if scheme.lower() == "bearer" and _same(given.strip(), self._token):
                return
            raise Denied("unauthorized", "That is not the token.", "It is in the file `token`.")
        if not self._has_pass(asked):
            raise Denied(
                "unauthorized",
                "Who are you?",
                "Send the token as `Authorization: Bearer`; for a browser, `hold up` prints a link.",
            )
        self._check_browser(asked)

    def _check_browser(self, asked: Asked) -> None:
        """A cookie came along by itself: the browser must say who asked (SPEC J4)."""
        site = asked.one("sec-fetch-site")
        if site is not None and site not in SAME_SITE and not self._navigates(asked):
            raise Denied("forbidden", "Requests from other sites are refused.")
        changes = asked.upgrade or asked.method not in SAFE
        if changes and not asked.unix and asked.one("origin") is None:
            raise Denied("forbidden", "A browser must say where it comes from.")

    @staticmethod
    def _navigates(asked: Asked) -> bool:
        return asked.method in SAFE and asked.one("sec-fetch-mode") == "navigate"

    def _has_pass(self, asked: Asked) -> bool:
        for header in asked.headers.get("cookie", []):
            try:
                jar = SimpleCookie(header)
            except CookieError:
                continue
            if self.cookie in jar and _same(jar[self.cookie].value, self._pass):
                return True
        return False

    # --- logging in -------------------------------------------------------------------------------

    def mint(self) -> str:
        """A code that is good once, for a few minutes."""
        now = self._clock()
        self._codes = {digest: until for digest, until in self._codes.items() if until > now}
        code = secrets.token_urlsafe(24)
        self._codes[_digest(code)] = now + CODE_LIFE
        return code

    def exchange(self, code: str) -> str:
        """The cookie's value for a code, which is then used up."""
        until = self._codes.pop(_digest(code), 0.0)
        if until <= self._clock():
            raise Denied(
                "unauthorized",
                "This link was used already, or is too old.",
                "`hold up` prints a fresh one.",
            )
        return self._pass


def _digest(code: str) -> str:
    """Looked up by digest: how long the look-up takes says nothing about the code."""
    return hashlib.sha256(code.encode()).hexdigest()


def _same(given: str, ours: str) -> bool:
    return hmac.compare_digest(given.encode(), ours.encode())
