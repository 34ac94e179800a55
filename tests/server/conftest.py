"""One daemon for all tests of a module that only look; a fresh one for those that kill it."""

import pytest

from tests.server.place import placed


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    with placed(tmp_path_factory.mktemp("daemon")) as found:
        yield found


@pytest.fixture
def fresh(tmp_path):
    with placed(tmp_path) as found:
        yield found
