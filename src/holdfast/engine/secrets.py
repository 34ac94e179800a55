"""Which values must not be written down: the keys of this process, and those that sessions were lent.

A variable's name says whether its value is a secret (core/redact.py). What was lent is forgotten with
this process; it is never stored, and this is how it is kept out of the journal and the log too.
"""

import logging
from collections.abc import Callable, Mapping

from holdfast.core.ids import SessionId
from holdfast.core.redact import redact_text, secret_name
from holdfast.core.withhold import known_secret

FOLDERS = frozenset({"PWD", "OLDPWD"})  # where a shell stands; as a field's name it is a password


class Secrets:
    def __init__(self, own: Mapping[str, str]) -> None:
        self._own = secrets_in(own)
        self._lent: dict[SessionId, frozenset[str]] = {}

    def lent(self, session: SessionId, environ: Mapping[str, str]) -> None:
        """Also what it was lent before stays secret."""
        self._lent[session] = self.of(session) | secrets_in(environ)

    def of(self, session: SessionId) -> frozenset[str]:
        return self._lent.get(session, self._own)

    def every(self) -> frozenset[str]:
        return self._own.union(*self._lent.values())


def secrets_in(environ: Mapping[str, str]) -> frozenset[str]:
    named = (v for n, v in environ.items() if secret_name(n) and n not in FOLDERS)
    return frozenset(value for value in named if known_secret(value))


class DiscreetFormatter(logging.Formatter):
    """Whatever another one writes, without the secrets."""

    def __init__(self, inner: logging.Formatter, secrets: Callable[[], frozenset[str]]) -> None:
        super().__init__()
        self._inner, self._secrets = inner, secrets

    def format(self, record: logging.LogRecord) -> str:
        return redact_text(self._inner.format(record), secrets=self._secrets())


def keep_out_of_the_log(secrets: Callable[[], frozenset[str]]) -> None:
    for handler in logging.getLogger().handlers:
        inner = handler.formatter or logging.Formatter()
        handler.setFormatter(DiscreetFormatter(inner, secrets))
