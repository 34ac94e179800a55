"""What every test with a real library needs: it is loaded once, and no key of the person is used."""

import os
import warnings

import pytest

from holdfast.agents.builtin.providers import catalogue


@pytest.fixture(scope="session", autouse=True)
def library():
    """One of them has a letter in its source that compilers warn of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from google import genai  # noqa: PLC0415, F401


@pytest.fixture(autouse=True)
def no_keys(monkeypatch):
    names = {name for p in catalogue.PROVIDERS for name in (*p.keys, *p.urls)}
    for name in names & set(os.environ):
        monkeypatch.delenv(name)
