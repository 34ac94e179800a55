"""What the agent wants to do, readable before it is allowed."""

# spec: B11 K6 P9

from tests.browser.house import END, call
from tests.browser.tab import until


def asking(tab, house, *calls):
    id = house.create({"text": "May I?", "tool_calls": calls}, END, mode="ask")
    tab.open(id).drives()
    until(lambda: tab.part("question-about").count() == 1, "the question")
    return id, tab.part("question")


def test_a_command_is_shown_as_one_and_as_it_was_written_on_demand(tab, house):
    hidden = "echo one \u202e# &&\necho two"
    id, question = asking(tab, house, call("shell", command=hidden))
    shown = question.inner_text()
    assert "Run this command?" in shown and "echo two" in shown
    assert "{" not in shown and "\u202e" not in shown and "\\u202e" in shown
    assert tab.part("announcement").inner_text().startswith("The agent asks: Allow shell echo one")
    question.get_by_role("button", name="As it was written").click()
    assert '"command":' in question.inner_text().replace(" ", "")
    question.get_by_role("button", name="Yes").click()
    assert house.stopped(id)["last_stop"]["reason"] == "completed"
    until(lambda: tab.page.locator("[data-answered=true]").count() == 1, "the answer")
    answered = tab.page.locator("[data-answered=true]").inner_text()
    assert "Run this command? echo one" in answered and "Yes" in answered


def test_a_file_is_shown_with_its_content(tab, house):
    _, question = asking(
        tab, house, call("write", path="store.py", content="def put():\n    pass\n")
    )
    shown = question.inner_text()
    assert "Write this file?" in shown and "def put():" in shown and "store.py" in shown
    assert "{" not in shown
    question.get_by_role("button", name="No").click()
    until(lambda: tab.page.locator("[data-answered=true]").count() == 1, "the answer")
