"""The daemon is killed under an open page; the page says so, and the user chooses."""

# spec: D1, D3, K2, K3, A7, P4

from pathlib import Path

import pytest

from tests.browser.house import END, NAP, call, held, let_go, words
from tests.browser.tab import until

WORK = call("delegate", task="Make a.txt.", context="It holds an A.")
DURING = {
    "streaming": "while answering",
    "tools": "while using tools",
    "coder": "while a coder worked",
}
PHASES = tuple(DURING)


def script(phase, reply):
    match phase:
        case "streaming":
            return reply, END
        case "tools":
            return {"text": "A nap.", "tool_calls": [NAP]}, END
        case "coder":
            return {"text": "Over to you.", "tool_calls": [WORK]}, END, {"coder": True, **reply}


def killed(tab, house, phase):
    """Killed while the page looks on; started again by the user."""
    reply = held(house.folder, words(200), 40)
    id = house.create(*script(phase, reply), prompt=None)
    tab.open(id).drives()
    tab.say("go")
    if phase == "streaming":
        until(lambda: tab.streamed() == words(40), "the first words")
    elif phase == "tools":
        house.napping(id)
    else:
        until(lambda: house.session(id)["phase"] == "delegating_coder", "a coder at work")
    had = tab.streamed()
    house.kill()
    until(lambda: tab.line != "live", "a page that knows")
    assert tab.streamed().startswith(had)  # what was read stays readable
    let_go(reply)
    house.up()
    tab.shows_banner("interrupted")
    return id


@pytest.mark.parametrize("phase", PHASES)
def test_resume_carries_on(visit, own_house, phase):
    tab = visit(own_house)
    id = killed(tab, own_house, phase)
    assert "Resume where you left off?" in tab.part("banner-title").inner_text()
    assert DURING[phase] in tab.part("banner-where").inner_text()
    until(lambda: tab.part("banner-resume").is_enabled(), "a button")
    tab.resume()
    tab.no_banner()
    over = own_house.stopped(id)
    assert over["last_stop"]["reason"] == "completed"
    assert [event["data"]["run"] for event in own_house.events(id, "run_started")] == [1, 2]
    until(lambda: "divider" in kinds(tab), "a divider")
    if phase == "tools":  # what may have happened is not done again
        assert (Path(over["workspace"]["path"]) / "ledger").read_text() == "ran\n"
    assert tab.errors == []


@pytest.mark.parametrize("phase", PHASES)
def test_dismiss_leaves_it_as_it_is(visit, own_house, phase):
    tab = visit(own_house)
    id = killed(tab, own_house, phase)
    until(lambda: tab.part("banner-dismiss").is_enabled(), "a button")
    tab.part("banner-dismiss").click()
    tab.no_banner()
    tab.reload().no_banner()
    session = own_house.session(id)
    assert (session["stop"], session["run"]) == (None, None)
    assert len(own_house.events(id, "run_started")) == 1
    assert tab.input.is_enabled()
    assert tab.errors == []


def kinds(tab):
    return tab.page.locator("article").evaluate_all("all => all.map(one => one.dataset.kind)")
