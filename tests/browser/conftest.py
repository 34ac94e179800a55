"""One browser for all of it; a daemon for each module; tabs that are closed after each test."""

import pytest
from playwright.sync_api import sync_playwright

from holdfast.server.page import STATIC
from tests.browser import chromium
from tests.browser.house import House
from tests.browser.tab import Tab


def pytest_collection_modifyitems(items):
    for item in items:
        if "tests/browser/" in item.path.as_posix():
            item.add_marker("browser")


@pytest.fixture(scope="package")
def playwright():
    if chromium.PATH is None:
        pytest.skip("missing: chromium")
    if not (STATIC / "index.html").is_file():
        pytest.skip("missing: the built page (make page)")
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="package")
def browser(playwright):
    with chromium.driven(playwright) as found:
        yield found


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    """The daemon of the module."""
    found = House(tmp_path_factory.mktemp("house")).up()
    yield found
    found.clean_up()


@pytest.fixture
def own_house(tmp_path):
    """A daemon that the test may kill."""
    found = House(tmp_path / "own").up()
    yield found
    found.clean_up()


@pytest.fixture
def visit(browser):
    """visit(house, **context options): a fresh profile that has logged in; a tab in it."""
    contexts = []

    def go(house, **options):
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 1400}, **options})
        contexts.append(context)
        return tab_of(context, house, log_in=True)

    yield go
    for context in contexts:
        context.close()


@pytest.fixture
def tab(visit, house):
    found = visit(house)
    yield found
    assert found.errors == []


@pytest.fixture
def left_alone(playwright):
    """The context of a Chromium that Playwright changes nothing in."""
    with chromium.plain(playwright) as context:
        yield context


def tab_of(context, house, *, log_in=False):
    tab = Tab(context.new_page(), house)
    if log_in:
        tab.page.goto(house.link())
    return tab
