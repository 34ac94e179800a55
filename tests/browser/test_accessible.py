"""axe finds nothing serious in any state, light or dark."""

# spec: K6

import time
from pathlib import Path

import pytest

from tests.browser.house import END, call, held, words
from tests.browser.stops import stop
from tests.browser.tab import until

AXE = Path(__file__).parent.parent.parent / "web/node_modules/axe-core/axe.min.js"
FOUND = """async () => {
  await Promise.all(document.getAnimations().map((each) => each.finished.catch(() => 0)));
  const { violations } = await axe.run();
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => [id, nodes.length, nodes[0].html.slice(0, 160), nodes[0].failureSummary]);
}"""
RICH = "# Title\n\nText with `code`, a [link](https://example.com) and\n\n```python\nprint('x')  # y\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |"


@pytest.fixture(scope="module")
def sessions(house):
    plan = call("update_plan", items=[{"text": "one", "state": "done"}])
    write = call("write", path="a.py", content="x = 1\n")
    ask = call("ask_user", question="Which?", options=["red", "blue"])
    found = {
        "rich": house.create(
            {"text": RICH, "thinking": "Hm.", "tool_calls": [plan, write]}, END, title="rich"
        ),
        "asking": house.create({"text": "So?", "tool_calls": [ask]}, END, title="asking"),
    }
    house.stopped(found["rich"])
    found |= {reason: stop(house, reason) for reason in ("error", "tool_limit", "interrupted")}
    return found


def faults(tab):
    """What stays: lines are drawn unseen at first, to be measured, and then have no name."""
    end = time.monotonic() + 5
    while (found := tab.page.evaluate(FOUND)) and time.monotonic() < end:
        pass
    return found


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_state_has_a_serious_fault(visit, house, sessions, scheme):
    if not AXE.is_file():
        pytest.skip("missing: axe-core (npm ci in web/)")
    # axe is put into the page from outside, which the page's policy forbids.
    tab = visit(house, color_scheme=scheme, bypass_csp=True, reduced_motion="reduce")
    found = {}

    def look(name):
        tab.page.mouse.move(1, 1)  # what is under it is lighter, as SPEC K2 has it
        if tab.page.evaluate("typeof axe") == "undefined":
            tab.page.add_script_tag(path=str(AXE))
        if seen := faults(tab):
            found[name] = seen

    tab.open()
    until(lambda: tab.part("session-row").count() >= 5, "the list")
    look("list")
    for name in ("error", "tool_limit", "interrupted"):
        tab.choose(sessions[name]).shows_banner(name)
        look(name)
    tab.choose(sessions["asking"])
    until(lambda: tab.part("question").count() == 1, "the question")
    look("question")
    tab.choose(sessions["rich"])
    until(lambda: tab.part("tool").count() >= 1, "the tool")
    tab.page.locator("[data-testid=tool] button").first.click()
    tab.part("changes-button").click()
    until(lambda: tab.part("diff-file").count() == 1, "the changes")
    look("changes")
    for key, dialog in (("?", "help-dialog"), ("n", "new-dialog"), ("p", "plan-dialog")):
        tab.page.keyboard.press(key)
        until(lambda dialog=dialog: tab.part(dialog).is_visible(), dialog)
        look(dialog)
        tab.page.keyboard.press("Escape")
        until(lambda dialog=dialog: tab.part(dialog).count() == 0, "the page")
    tab.page.goto(f"{house.network.address}/stats")
    until(lambda: tab.part("stats").count() == 1 and "Runs" in tab.part("stats").inner_text(), "it")
    look("stats")
    running = house.create(held(house.folder, words(300), 100))
    tab.open(running)
    until(lambda: "w0001" in tab.streamed(), "words")
    look("running")
    house.ask("POST", f"/api/sessions/{running}/cancel", {})
    assert found == {}
