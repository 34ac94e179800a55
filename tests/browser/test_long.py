"""A session of ten thousand messages: all of it can be read, and little of it is drawn."""

# spec: K6

import pytest

from tests.browser.house import END, House
from tests.browser.past import write_past
from tests.browser.tab import until

ID = "0123456789ab"
MESSAGES = 10_000
NODES = 1_500


@pytest.fixture(scope="module")
def long_house(tmp_path_factory):
    house = House(tmp_path_factory.mktemp("long"))
    write_past(house.home, ID, MESSAGES)
    yield house.up()
    house.clean_up()


def nodes(tab):
    return tab.page.evaluate("document.querySelectorAll('*').length")


def test_it_opens_at_its_end(visit, long_house):
    tab = visit(long_house).open(ID)
    until(lambda: f"found {MESSAGES // 2}" in tab.streamed(), "the end")
    assert nodes(tab) < NODES
    tab.say("And now?")
    until(lambda: "And now?" in tab.texts("user"), "the message")
    assert nodes(tab) < NODES


def test_all_of_it_can_be_read(visit, long_house):
    tab = visit(long_house).open(ID)
    until(lambda: f"found {MESSAGES // 2}" in tab.streamed(), "the end")
    most, pages = 0, set()
    tab.page.on(
        "request", lambda request: pages.add(request.url) if "before=" in request.url else 0
    )
    top = "document.querySelector('[data-testid=timeline] > div').scrollTop = 0"

    def at_the_top():
        nonlocal most
        tab.page.evaluate(top)
        most = max(most, nodes(tab))
        return "found 1:" in tab.streamed()

    until(at_the_top, "the beginning", patience=240)
    assert most < NODES
    assert len(pages) >= MESSAGES // 250
    numbers = [int(part.split(":")[0]) for part in tab.streamed().split("found ")[1:]]
    assert numbers == list(range(1, len(numbers) + 1))
    tab.part("jump").click()
    until(lambda: f"found {MESSAGES // 2}" in tab.streamed(), "the end")
    assert nodes(tab) < NODES and tab.errors == []


def test_who_reads_further_up_is_not_moved_by_what_comes(visit, long_house):
    id = long_house.create(
        *({"text": f"step {n} " * 60, "chunk_ms": 2} for n in range(6)), END, prompt=None
    )
    tab = visit(long_house, viewport={"width": 1000, "height": 500}).open(id).drives()
    tab.say("\n".join(f"line {n}" for n in range(60)))
    until(lambda: "step 0" in tab.streamed(), "the first words")
    tab.page.mouse.move(500, 200)
    tab.page.mouse.wheel(0, -900)
    until(lambda: tab.part("jump").count() == 1, "a way to the end")
    where = "document.querySelector('[data-testid=timeline] > div').scrollTop"
    before = tab.page.evaluate(where)
    long_house.stopped(id)
    assert abs(tab.page.evaluate(where) - before) < 4
