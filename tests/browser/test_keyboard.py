"""Everything can be done without a mouse."""

# spec: K6

from tests.browser.house import END, call, held, words
from tests.browser.stops import cancelled, stop
from tests.browser.tab import until

ASK = {"text": "So?", "tool_calls": [call("ask_user", question="Which?", options=["red", "blue"])]}


def focus(tab):
    return tab.page.evaluate(
        "document.activeElement?.dataset.testid ?? document.activeElement?.tagName"
    )


def tab_to(tab, testid, most=60):
    """By the Tab key alone; the focus must be visible where it stops."""
    for _ in range(most):
        tab.page.keyboard.press("Tab")
        if focus(tab) == testid:
            outline = "getComputedStyle(document.activeElement).outlineStyle"
            assert tab.page.evaluate(outline) != "none" or testid == "composer-input"
            return
    raise AssertionError(f"{testid} is out of reach")


def test_resume_and_stop(tab, house):
    id = cancelled(house, held(house.folder, words(600), 100), END)  # held again in every run
    tab.open(id).shows_banner("cancelled")
    until(lambda: tab.part("banner-resume").is_enabled(), "a button")
    tab_to(tab, "banner-resume")
    tab.page.keyboard.press("Enter")
    tab.no_banner()
    house.streaming(id)
    tab.page.keyboard.press("Escape")
    tab.shows_banner("cancelled")
    until(lambda: tab.part("banner-resume").is_enabled(), "a button")
    tab.page.keyboard.press("Alt+r")
    tab.no_banner()
    assert len(house.events(id, "run_started")) == 3
    tab.page.keyboard.press("Escape")
    tab.shows_banner("cancelled")


def test_sessions_are_gone_through(tab, house):
    ids = {house.create(END, title=f"s{n}") for n in range(3)}
    for id in ids:
        house.stopped(id)
    tab.open()
    until(lambda: tab.part("session-row").count() >= 3, "the list")
    seen = set()
    for _ in range(tab.part("session-row").count()):
        tab.page.keyboard.press("j")
        seen.add(tab.page.url.rpartition("/")[2])
    assert ids <= seen
    last = tab.page.url
    tab.page.keyboard.press("k")
    until(lambda: tab.page.url != last, "the one before")
    tab.page.keyboard.press("/")
    until(lambda: focus(tab) == "session-filter", "the filter")
    tab.page.keyboard.type("s1")
    until(lambda: tab.part("session-row").count() == 1, "one session")
    tab.page.keyboard.press("Escape")


def test_a_message_is_written_and_sent(tab, house):
    id = house.create(END, prompt=None)
    tab.open(id).drives()
    tab.page.keyboard.press("c")
    until(lambda: focus(tab) == "composer-input", "the input")
    tab.page.keyboard.type("one")
    tab.page.keyboard.press("Shift+Enter")
    tab.page.keyboard.type("two")
    tab.page.keyboard.press("Enter")
    until(lambda: tab.texts("user") == ["one\ntwo"], "the message")


def test_a_question_is_answered(tab, house):
    id = house.create(ASK, END)
    tab.open(id)
    until(lambda: tab.part("question-option").count() == 2, "the question")
    until(tab.part("question-option").first.is_enabled, "a button")
    tab_to(tab, "question-option")
    tab.page.keyboard.press("2")
    house.stopped(id)
    assert [e["data"]["answer"] for e in house.events(id, "decision_answered")] == ["blue"]


def test_menu_help_changes_and_a_tool(tab, house):
    id = house.create({"text": "See.", "tool_calls": [call("list")]}, {"text": words(5)})
    house.stopped(id)
    tab.open(id).drives()
    tab.page.keyboard.press("?")
    until(lambda: tab.part("help-dialog").is_visible(), "the help")
    tab.page.keyboard.press("Escape")
    until(lambda: tab.part("help-dialog").count() == 0, "the chat")
    tab.page.keyboard.press("d")
    until(lambda: tab.part("changes").count() == 1, "the changes")
    tab.page.keyboard.press("d")
    until(lambda: tab.part("changes").count() == 0, "the chat")
    tab_to(tab, "session-menu")
    tab.page.keyboard.press("Enter")
    until(lambda: tab.page.evaluate("document.activeElement.getAttribute('role')") == "menuitem")
    tab.page.keyboard.press("ArrowDown")
    tab.page.keyboard.press("Escape")
    until(lambda: focus(tab) == "session-menu", "the button again")
    for _ in range(30):
        tab.page.keyboard.press("Tab")
        if tab.page.evaluate("!!document.activeElement.closest('[data-testid=tool]')"):
            break
    tab.page.keyboard.press("Enter")
    until(lambda: tab.part("tool-body").count() == 1, "the tool, open")


def test_a_stop_is_told_to_those_who_listen(tab, house):
    id = stop(house, "tool_limit")
    tab.open(id).shows_banner("tool_limit")
    assert "Tool call limit reached. Resume available." in tab.part("announcement").inner_text()
    assert tab.part("announcement").get_attribute("aria-live") == "polite"
    assert tab.part("timeline").get_attribute("aria-live") == "off"
