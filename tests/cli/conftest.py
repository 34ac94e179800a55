"""A user for each test; for tests that only look, one for the whole module."""

import pytest

from tests.cli.desk import User


@pytest.fixture
def user(tmp_path):
    found = User(tmp_path)
    yield found
    found.clean_up()


@pytest.fixture(scope="module")
def regular(tmp_path_factory):
    found = User(tmp_path_factory.mktemp("regular"))
    yield found
    found.clean_up()
