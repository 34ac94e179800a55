"""Back to a round: what was said after it is gone, for everybody who looks."""

# spec: D8 K6

from tests.browser.house import END, call
from tests.browser.tab import Tab, until


def test_what_a_rewind_cuts_away_is_gone_everywhere(tab, house):
    first = {"text": "First words.", "tool_calls": [call("write", path="a.txt", content="1")]}
    second = {"text": "Second words.", "tool_calls": [call("write", path="a.txt", content="2")]}
    id = house.create(first, second, END, prompt="begin")
    house.stopped(id)
    tab.open(id).drives()
    other = Tab(tab.page.context.new_page(), house).open(id)
    until(lambda: "Second words." in other.streamed(), "the whole conversation")
    tab.part("session-menu").click()
    tab.page.get_by_role("menuitem", name="Rewind").click()
    tab.page.get_by_role("radio", name="Round 1").check()
    tab.part("rewind-confirm").click()
    for each in (tab, other):
        until(lambda each=each: each.part("rewound").count() == 1, "the rewind")
        until(lambda each=each: each.streamed() == "First words.", "what is left")
        assert each.texts("user") == ["begin"]
    house.stopped(id)
    tab.reload()
    until(lambda: tab.streamed() == "First words.", "the same after a reload")
    tab.part("session-menu").click()
    tab.page.get_by_role("menuitem", name="Rewind").click()
    until(lambda: tab.part("rewind-dialog").is_visible(), "the dialog")
    assert tab.page.get_by_role("radio").count() == 2  # round 1, and the beginning
