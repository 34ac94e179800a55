"""The strip between messages and input, for each reason a run can stop for."""

# spec: K2, A8, D3

from datetime import datetime, timedelta, timezone

import pytest

from tests.browser.house import END, call, held, let_go, words
from tests.browser.stops import STOPS, cancelled, stop
from tests.browser.tab import until

# Tailwind's own palette, as it is published: background, border, text.
TINTS = {
    ("gray", "light"): (
        "oklch(98.5% 0.002 247.839)",
        "oklch(92.8% 0.006 264.531)",
        "oklch(27.8% 0.033 256.848)",
    ),
    ("gray", "dark"): (
        "oklch(27.8% 0.033 256.848 / 60%)",
        "oklch(37.3% 0.034 259.733)",
        "oklch(87.2% 0.01 258.338)",
    ),
    ("amber", "light"): (
        "oklch(98.7% 0.022 95.277)",
        "oklch(92.4% 0.12 95.746)",
        "oklch(47.3% 0.137 46.201)",
    ),
    ("amber", "dark"): (
        "oklch(41.4% 0.112 45.904 / 20%)",
        "oklch(47.3% 0.137 46.201 / 40%)",
        "oklch(92.4% 0.12 95.746)",
    ),
    ("red", "light"): (
        "oklch(97.1% 0.013 17.38)",
        "oklch(88.5% 0.062 18.334)",
        "oklch(44.4% 0.177 26.899)",
    ),
    ("red", "dark"): (
        "oklch(39.6% 0.141 25.723 / 20%)",
        "oklch(44.4% 0.177 26.899 / 40%)",
        "oklch(88.5% 0.062 18.334)",
    ),
}
PURPLE_600, PURPLE_500 = "oklch(55.8% 0.288 302.321)", "oklch(62.7% 0.265 303.9)"

PAINTED = """(colours) => colours.map((colour) => {
  const canvas = document.createElement("canvas").getContext("2d");
  canvas.fillStyle = "gray";
  canvas.fillRect(0, 0, 1, 1);
  canvas.fillStyle = colour;
  canvas.fillRect(0, 0, 1, 1);
  return [...canvas.getImageData(0, 0, 1, 1).data];
})"""


def same_colours(page, found, expected):
    pairs = zip(page.evaluate(PAINTED, found), page.evaluate(PAINTED, expected), strict=True)
    return all(abs(a - b) <= 2 for one, other in pairs for a, b in zip(one, other, strict=True))


@pytest.fixture(scope="module")
def stopped(house):
    """Only looked at, never resumed. The interrupted one last: the daemon is killed for it."""
    return {reason: stop(house, reason) for reason in STOPS}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_each_reason_has_its_words_its_tint_and_its_place(visit, house, stopped, scheme):
    tab = visit(house, color_scheme=scheme).open()
    for reason, (words_, tint) in STOPS.items():
        tab.choose(stopped[reason]).shows_banner(reason)
        assert tab.part("banner-title").inner_text().startswith(words_)
        colours = tab.style("banner", "backgroundColor", "borderTopColor", "color")
        assert same_colours(tab.page, colours, TINTS[tint, scheme]), (reason, colours)
        banner, log, input = (tab.box(part) for part in ("banner", "timeline", "composer"))
        assert 44 <= banner["height"] <= (96 if reason == "interrupted" else 56), (reason, banner)
        assert log["y"] + log["height"] <= banner["y"] + 1  # not over the messages
        assert banner["y"] + banner["height"] <= input["y"]
        assert tab.style("banner", "borderTopLeftRadius", "position") == ["8px", "static"]
        assert tab.part("banner-resume").inner_text() == "Resume"
        assert tab.part("banner-dismiss").count() == (reason == "interrupted")
        assert tab.banner.locator("svg").count() >= 1
    assert tab.errors == []


def test_the_button_is_purple_and_lighter_under_the_mouse(tab, stopped):
    tab.open(stopped["error"]).shows_banner("error")
    button = tab.part("banner-resume")
    colours = tab.style("banner-resume", "backgroundColor", "color", "borderTopLeftRadius")
    assert same_colours(tab.page, colours[:2], [PURPLE_600, "white"])
    assert colours[2] == "8px"
    button.hover()
    lighter = lambda: tab.style("banner-resume", "backgroundColor")  # noqa: E731
    until(lambda: same_colours(tab.page, lighter(), [PURPLE_500]), "a lighter button")


def test_what_is_said_beyond_the_title(tab, stopped):
    tab.open(stopped["rate_limited"]).shows_banner("rate_limited")
    assert "left" in tab.part("banner-countdown").inner_text()
    tab.choose(stopped["error"]).shows_banner("error")
    assert "400" in tab.part("banner-text").inner_text()
    tab.choose(stopped["interrupted"]).shows_banner("interrupted")
    where = tab.part("banner-where").inner_text()
    assert "Round 1" in where and "while answering" in where
    assert where.endswith(("just now", "ago"))  # a busy machine takes its time


def test_the_time_is_that_of_whoever_reads_it(visit, house, stopped):
    ends = datetime.fromisoformat(house.session(stopped["rate_limited"])["stop"]["resumes_at"])
    told = {}
    for zone, hours in (
        ("Asia/Tokyo", 9),
        ("America/Bogota", -5),
    ):  # neither ever changes its clocks
        tab = visit(house, timezone_id=zone, locale="en-GB").open(stopped["rate_limited"])
        tab.shows_banner("rate_limited")
        told[zone] = tab.part("banner-title").inner_text()
        assert told[zone].endswith(
            ends.astimezone(timezone(timedelta(hours=hours))).strftime("%H:%M")
        )
    assert all(text.startswith("Rate limited until ") for text in told.values())


@pytest.mark.parametrize("reason", STOPS)
def test_it_survives_a_reload_and_another_session(tab, stopped, reason):
    other = next(id for name, id in stopped.items() if name != reason)
    tab.open(stopped[reason]).shows_banner(reason)
    tab.reload().shows_banner(reason)
    tab.choose(other)
    until(lambda: tab.page.locator(f"[data-testid=banner][data-reason={reason}]").count() == 0)
    tab.choose(stopped[reason]).shows_banner(reason)


@pytest.mark.parametrize("reason", [reason for reason in STOPS if reason != "interrupted"])
def test_it_goes_when_the_run_is_resumed(tab, house, reason):
    id = stop(house, reason)
    tab.open(id).shows_banner(reason)
    tab.resume()
    tab.no_banner()
    assert house.stopped(id)["last_stop"]["reason"] == "completed"
    tab.no_banner()
    assert [event["data"]["run"] for event in house.events(id, "run_started")] == [1, 2]
    tab.reload().no_banner()


def test_it_goes_when_something_is_sent(tab, house):
    id = stop(house, "tool_limit")
    tab.open(id).shows_banner("tool_limit")
    tab.say("Something else, please.")
    tab.no_banner()
    house.stopped(id)
    until(lambda: "Something else, please." in " ".join(tab.texts("user")))
    tab.no_banner()


def test_a_double_click_resumes_once(tab, house):
    id = stop(house, "tool_limit")
    tab.open(id).shows_banner("tool_limit")
    tab.part("banner-resume").dblclick()
    tab.no_banner()
    house.stopped(id)
    assert len(tab.said("resume")) == 1
    assert len(house.events(id, "run_started")) == 2


def test_two_browsers_resume_at_once_and_one_run_begins(visit, house):  # spec: A7
    looks = {"text": "Looking.", "tool_calls": [call("list")]}
    goes_on = held(house.folder, words(3), 1)
    id = house.create(looks, goes_on, limits={"max_tool_calls": 1})
    house.stopped(id)
    tabs = [visit(house).open(id) for _ in range(2)]  # two profiles: no lock between them
    for tab in tabs:
        tab.shows_banner("tool_limit")
        until(lambda tab=tab: tab.part("banner-resume").is_enabled(), "a button")
    click = "document.querySelector('[data-testid=banner-resume]').click()"
    for tab in tabs:
        tab.page.evaluate(f"setTimeout(() => {click}, 50)")
    for tab in tabs:
        tab.no_banner()
        until(lambda tab=tab: len(tab.said("resume")) == 1, "a resume that was sent")
    assert len(house.events(id, "run_started")) == 2
    house.ask("POST", f"/api/sessions/{id}/cancel", {})


def test_the_button_is_dead_while_a_run_is_active(tab, house):
    reply = held(house.folder, words(3), 1)
    id = cancelled(house, reply)
    tab.open(id).shows_banner("cancelled")
    tab.say(words(3))
    tab.no_banner()
    assert tab.part("banner-resume").count() == 0
    tab.page.keyboard.press("Alt+r")
    let_go(reply)
    house.stopped(id)
    assert tab.said("resume") == []


def test_a_completed_run_has_none(tab, house):
    id = house.create(END)
    house.stopped(id)
    tab.open(id)
    until(lambda: tab.streamed() == "All is done.", "the answer")
    assert tab.banner.count() == 0
