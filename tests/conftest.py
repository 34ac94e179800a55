"""What all tests share: coroutines are run, and a PostgreSQL is there for those who ask."""

import asyncio
import contextlib
import inspect
import itertools

import pytest
from hypothesis import settings

from tests.postgres import NoPostgres, cluster

_schemas = itertools.count(1)
settings.register_profile("steady", deadline=None)  # how busy the machine is proves nothing
settings.load_profile("steady")


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """A test that is a coroutine function gets an event loop of its own."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    wanted = pyfuncitem._fixtureinfo.argnames
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in wanted}))
    return True


@pytest.fixture(scope="session")
def postgres_dsn():
    """One server for the whole session of tests."""
    with contextlib.ExitStack() as stack:
        try:
            dsn = stack.enter_context(cluster())
        except NoPostgres as missing:
            pytest.skip(f"missing: {missing}")
        yield dsn


@pytest.fixture
def postgres_schema():
    """A schema that no other test has; made by whoever uses it."""
    return f"test_{next(_schemas)}"
