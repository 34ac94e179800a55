"""More than one tab: one drives, the others watch; a reload keeps its place, a copy does not."""

# spec: K5, K3, K8, A7

import json
import sys

import pytest

from tests.browser.conftest import tab_of
from tests.browser.house import END, House, call, words
from tests.browser.stops import stop
from tests.browser.tab import until


@pytest.fixture(scope="module")
def quiet(house):
    id = house.create(END)
    house.stopped(id)
    return id


def watches(tab):
    until(lambda: tab.part("watching").count() == 1, "a tab that watches")
    assert "This chat is active in another tab" in tab.part("watching").inner_text()
    assert tab.input.count() == 0


def test_the_second_tab_watches_and_can_take_over(tab, house, quiet):
    tab.open(quiet).drives()
    second = tab_of(tab.page.context, house).open(quiet)
    watches(second)
    second.part("take-over").click()
    second.drives()
    watches(tab)
    tab.part("take-over").click()
    tab.drives()
    watches(second)


def test_a_tab_that_watches_sees_what_happens_and_cannot_resume(tab, house):
    id = stop(house, "tool_limit")
    tab.open(id).drives()
    second = tab_of(tab.page.context, house).open(id)
    watches(second)
    second.shows_banner("tool_limit")
    assert second.part("banner-resume").is_disabled()
    second.page.keyboard.press("Alt+r")
    tab.resume()
    tab.no_banner()
    second.no_banner()
    house.stopped(id)
    until(lambda: END["text"] in second.streamed(), "the answer")
    assert second.said("resume") == []


def test_a_reload_reclaims(tab, house, quiet):
    tab.open(quiet).drives()
    second = tab_of(tab.page.context, house).open(quiet)
    watches(second)
    tab.reload().drives()
    watches(second)


def test_a_cloned_tab_does_not(tab, house, quiet):
    tab.open(quiet).drives()
    tab.page.evaluate("sessionStorage.setItem('mark', 'copied')")
    with tab.page.context.expect_page() as opened:  # a window with an opener copies the storage
        tab.page.evaluate("void window.open(location.href)")
    clone = opened.value
    until(lambda: clone.get_by_test_id("watching").count() == 1, "a clone that watches")
    assert clone.evaluate("sessionStorage.getItem('mark')") == "copied"
    assert tab.input.count() == 1
    clone.reload()
    until(lambda: clone.get_by_test_id("watching").count() == 1, "a clone that watches")
    assert tab.input.count() == 1


def test_a_closed_tab_leaves_its_place_to_the_next(tab, house, quiet):
    tab.open(quiet).drives()
    context = tab.page.context
    tab.page.close(run_before_unload=True)
    tab_of(context, house).open(quiet).drives()


def test_two_sessions_are_open_at_once(tab, house):  # spec: K1 J2
    texts = {name: words(150, name) for name in "ab"}
    ids = {
        name: house.create({"text": text, "chunk_ms": 15}, prompt=None)
        for name, text in texts.items()
    }
    tabs = {"a": tab, "b": tab_of(tab.page.context, house)}
    for name, each in tabs.items():
        each.open(ids[name]).drives()
    for each in tabs.values():
        each.say("go")
    for name, each in tabs.items():
        house.stopped(ids[name])
        until(lambda each=each, name=name: each.streamed() == texts[name], "its own text")


def test_one_tab_goes_from_one_stream_to_another_and_back(tab, house):
    texts = {name: words(200, name) for name in "cd"}
    ids = {
        name: house.create({"text": text, "chunk_ms": 15}, title=name)
        for name, text in texts.items()
    }
    tab.open()
    for name in "cdcdc":
        tab.choose(ids[name])
        until(lambda name=name: f"{name}0" in tab.streamed(), "some of it")
        assert {word[0] for word in tab.streamed().split()} == {name}
    for name, id in ids.items():
        house.stopped(id)
        tab.choose(id)
        until(lambda name=name: tab.streamed() == texts[name], "all of it")


def test_what_was_not_seen_is_counted_in_the_title(visit, house):  # spec: K8
    tab = visit(house).open()
    until(lambda: "Holdfast" in tab.page.title(), "a title")
    before = counted(tab)
    id = stop(house, "tool_limit")
    until(lambda: counted(tab) == before + 1, "a badge")
    tab.choose(id).shows_banner("tool_limit")
    until(lambda: counted(tab) == before, "a badge that went")
    assert house.session(id)["stop_seen"]
    asking = house.create({"text": "So?", "tool_calls": [call("ask_user", question="Red?")]})
    until(lambda: counted(tab) == before + 1, "a badge for a question")
    house.ask("POST", f"/api/sessions/{asking}/cancel", {})


def counted(tab):
    title = tab.page.title()
    return int(title[1 : title.index(")")]) if title.startswith("(") else 0


# --- agents that must be brought back -----------------------------------------------------------


@pytest.fixture
def foreign(tmp_path):
    """A session of a scripted ACP agent whose process ended with its daemon."""
    house = House(tmp_path / "own")
    script = tmp_path / "agent.json"
    script.write_text(json.dumps({"can": ["resume"], "turns": [[{"text": "Hello."}]]}))
    command = json.dumps([sys.executable, "-m", "holdfast.testing.acp_agent", str(script)])
    house.home.mkdir(mode=0o700)
    profile = f'[agents.fake]\nvia = ["acp"]\n\n[agents.fake.acp]\ncommand = {command}\n'
    (house.home / "config.toml").write_text(profile)
    house.up()
    body = {"folder": str(house.repo), "prompt": "hi", "agent": "fake", "mode": "full"}
    id = house.ask("POST", "/api/sessions", body)["id"]
    until(lambda: house.session(id)["run"] is None, "the first turn")
    house.kill()
    house.up()
    assert house.session(id)["state"] == "WAITING_FOR_INPUT"
    yield house, id
    house.clean_up()


def test_opening_a_session_reattaches_once_and_never_continues(visit, foreign):  # spec: K3 G3 G6
    house, id = foreign
    status = house.ask("GET", f"/api/sessions/{id}/status")
    assert status["needs_resume"], status
    tab = visit(house).open(id).drives()
    running = lambda: house.ask("GET", f"/api/sessions/{id}/status")["is_agent_running"]  # noqa: E731
    until(running, "an agent that is back")
    assert len(tab.said("session.resume")) == 1
    tab.reload().drives()
    until(lambda: len(tab.said("session.status")) >= 2, "a second look")
    assert len(tab.said("session.resume")) == 1  # it runs: there is nothing to bring back
    assert len(house.events(id, "run_started")) == 1
    assert tab.said("resume") == [] and tab.part("reattach-failed").count() == 0
    assert len(house.events(id, "launch_requested")) == 2


@pytest.mark.parametrize("reason", ["interrupted", "error"])
def test_opening_a_stopped_session_continues_nothing(visit, own_house, reason):  # spec: K3 D3
    id = stop(own_house, reason)
    tab = visit(own_house).open(id)
    tab.shows_banner(reason)
    tab.reload().shows_banner(reason)
    assert len(own_house.events(id, "run_started")) == 1
    assert tab.said("resume") == []
