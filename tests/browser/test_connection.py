"""The network fails in the middle of a stream; what is read afterwards is exactly what was said."""

# spec: J2, K4

import pytest

from tests.browser.chromium import freeze, thaw
from tests.browser.conftest import tab_of
from tests.browser.house import END, held, let_go, words
from tests.browser.tab import until

TEXT = words(280)
SEEN, FURTHER = 60, 200  # words that come before anything fails, and while it does
LAST = TEXT.split()[-1]


def begin(tab, house, *after):
    """A stream of which all that was said has been seen; it goes on when it is let go."""
    reply = held(house.folder, TEXT, SEEN, *(after or [FURTHER]))
    id = house.create(reply, prompt=None)
    tab.open(id).drives()
    tab.say("go")
    until(lambda: tab.streamed() == words(SEEN), "the first words")
    return id, reply


def behind(tab, house, id, reply):
    """The daemon goes on, and the tab does not."""
    let_go(reply)

    def gone_on():
        where = house.ask("GET", f"/api/sessions/{id}/checkpoint")
        return (where.get("checkpoint") or where)["accumulated"].strip() == words(FURTHER)

    until(gone_on, "a daemon that goes on")
    assert tab.streamed() == words(SEEN)


def whole(tab, house, id, reply):
    """The stream ends, and the tab has every word of it once, in order."""
    let_go(reply, 1)
    house.stopped(id)
    until(lambda: tab.streamed().endswith(LAST), "the end of the text")
    assert tab.streamed() == TEXT
    assert tab.texts("user") == ["go"]
    assert tab.errors == []
    tab.reload()
    until(lambda: tab.streamed().endswith(LAST), "the end of the text")
    assert tab.streamed() == TEXT


def test_nothing_fails(tab, house):
    id, reply = begin(tab, house)
    let_go(reply)
    whole(tab, house, id, reply)


def test_the_connection_is_cut(tab, house):
    id, reply = begin(tab, house)
    house.network.cut()
    until(lambda: tab.line == "offline", "a page that knows")
    behind(tab, house, id, reply)
    house.network.heal()
    tab.live()
    whole(tab, house, id, reply)


def test_it_is_cut_again_and_again(tab, house):
    id, reply = begin(tab, house, 100, 140, 180)
    for n, count in enumerate((100, 140, 180, 280)):
        house.network.cut()
        until(lambda: tab.line == "offline", "a page that knows")
        let_go(reply, n)
        house.network.heal()
        tab.live()
        until(lambda count=count: tab.streamed() == words(count), "more words")
    whole(tab, house, id, reply)


def test_a_black_hole_that_ends(tab, house):
    id, reply = begin(tab, house)
    house.network.swallow()
    behind(tab, house, id, reply)
    house.network.heal()
    whole(tab, house, id, reply)


def test_a_black_hole_that_does_not_end_is_left_for_another_connection(visit, house):
    tab = visit(house)
    tab.page.clock.install()
    id, reply = begin(tab, house)
    before = house.network.connections
    house.network.swallow()
    behind(tab, house, id, reply)
    tab.page.clock.run_for(40_000)  # asked, and no answer: as the page's own clock has it
    until(lambda: house.network.connections > before, "another connection")
    let_go(reply, 1)
    house.stopped(id)
    until(lambda: tab.streamed().endswith(LAST), "the end of the text")
    assert tab.streamed() == TEXT and tab.errors == []


def test_the_browser_is_offline(tab, house):
    id, reply = begin(tab, house)
    tab.page.context.set_offline(True)
    until(lambda: tab.line != "live", "a page that knows")
    behind(tab, house, id, reply)
    tab.page.context.set_offline(False)
    tab.live()
    whole(tab, house, id, reply)


def test_the_page_is_frozen(left_alone, house):
    tab = tab_of(left_alone, house, log_in=True)
    id, reply = begin(tab, house)
    freeze(tab.page)
    for n in range(2):
        let_go(reply, n)
    house.stopped(id)
    thaw(tab.page)
    until(lambda: tab.page.evaluate("document.visibilityState") == "visible", "a visible page")
    whole(tab, house, id, reply)


def test_another_tab_is_in_front(left_alone, house):
    tab = tab_of(left_alone, house, log_in=True)
    id, reply = begin(tab, house)
    other = left_alone.new_page()
    other.bring_to_front()
    until(lambda: tab.page.evaluate("document.visibilityState") == "hidden", "a hidden page")
    let_go(reply)
    until(lambda: tab.streamed() == words(FURTHER), "words that come all the same")
    tab.page.bring_to_front()
    whole(tab, house, id, reply)


def test_a_resume_without_a_network_is_done_once_there_is_one(tab, house):  # spec: K4 P8
    reply = held(house.folder, TEXT, SEEN)
    id = house.create(reply, END)
    house.streaming(id)
    house.ask("POST", f"/api/sessions/{id}/cancel", {})
    tab.open(id).shows_banner("cancelled")
    house.network.cut()
    until(lambda: tab.line == "offline", "a page that knows")
    tab.resume()
    until(lambda: tab.part("banner-resume").inner_text() == "Queued", "a resume that waits")
    assert len(house.events(id, "run_started")) == 1
    let_go(reply)
    house.network.heal()
    tab.no_banner()
    house.stopped(id)
    assert len(house.events(id, "run_started")) == 2


@pytest.mark.parametrize("leaves", [False, True])
def test_what_was_typed_without_a_network_is_said_once(visit, house, leaves):  # spec: A9 P8
    tab = visit(house)
    id = house.create(END, END, END)
    house.stopped(id)
    tab.open(id).drives()
    house.network.cut()
    until(lambda: tab.line == "offline", "a page that knows")
    tab.say("From the tunnel.")
    until(lambda: tab.part("sent").count() == 1, "a message that waits")
    if leaves:
        context = tab.page.context
        tab.page.close()
        house.network.heal()
        tab = tab_of(context, house).open(id)
    house.network.heal()
    until(lambda: len(house.events(id, "input_accepted")) == 2, "the message")
    house.stopped(id)
    until(lambda: tab.texts("user") == ["please", "From the tunnel."], "the message, once")
    tab.reload()
    until(lambda: tab.texts("user") == ["please", "From the tunnel."], "the message, once")
    assert len(house.events(id, "input_accepted")) == 2
