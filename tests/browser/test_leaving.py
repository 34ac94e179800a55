"""The page is hidden and killed; what only the browser had is there again."""

# spec: K4

import json
import os
import signal
from pathlib import Path

from tests.browser.conftest import tab_of
from tests.browser.house import END, call, words
from tests.browser.tab import until

UNTIL_TOLD = call("shell", command="until [ -e go ]; do sleep 0.1; done")  # the run goes on


def test_a_draft_survives_a_page_that_was_hidden_and_killed(left_alone, house):
    tab = tab_of(left_alone, house, log_in=True)
    id = house.create({"text": words(300), "chunk_ms": 15, "tool_calls": [UNTIL_TOLD]}, END)
    tab.open(id).drives()
    until(lambda: "w0030" in tab.streamed(), "the first words")
    tab.input.fill("half a thought")
    other = left_alone.new_page()
    other.bring_to_front()
    until(lambda: tab.page.evaluate("document.visibilityState") == "hidden", "a hidden page")
    kept = json.loads(tab.page.evaluate(f"localStorage.getItem('holdfast:page:{id}')"))
    assert kept["run"] == 1 and kept["epoch"] and kept["seq"] > 0
    assert "w0030" in json.dumps(kept["items"]) and len(json.dumps(kept["items"])) < 16_000
    tab_storage = tab.page.evaluate("({...sessionStorage})")
    with tab.page.expect_event("crash"):
        kill_renderers(left_alone)
    tab = brought_back(left_alone, house, tab_storage).open(id).drives()
    assert tab.input.input_value() == "half a thought"
    (Path(house.session(id)["workspace"]["path"]) / "go").touch()
    house.stopped(id)
    until(lambda: tab.streamed() == f"{words(300)} {END['text']}", "the whole text")


def brought_back(context, house, storage):
    """The same tab, as a browser restores it: with the storage it had."""
    tab = tab_of(context, house)
    tab.page.goto(f"{house.network.address}/icon.svg")
    tab.page.evaluate("(kept) => Object.assign(sessionStorage, kept)", storage)
    return tab


def kill_renderers(context):
    """The processes that draw pages are ended from outside: no event, no last word.

    It is over when the browser has noticed each death. One page says so earlier, by its "crash"; but
    until the last of them is missed, the browser may put its next page into a process that is dead.
    """
    session = context.browser.new_browser_cdp_session()
    killed = renderers(session)
    for process in killed:
        os.kill(process, signal.SIGKILL)
    until(lambda: not killed & renderers(session), "the end of the processes that draw")
    session.detach()


def renderers(session):
    found = session.send("SystemInfo.getProcessInfo")["processInfo"]
    return {process["id"] for process in found if process["type"] == "renderer"}
