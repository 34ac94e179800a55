"""Pictures of every state, light, dark and on a phone: `python -m tests.browser.shots FOLDER`."""

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.browser import chromium
from tests.browser.house import House, call, words
from tests.browser.stops import STOPS, stop
from tests.browser.tab import Tab, until

RICH = """## What I found

The cursor is moved **before** the row is written, see `store.py`:

```python
def append(self, row):
    self.cursor += 1  # too early
    self.rows.append(row)
```

| case | before | after |
|---|---|---|
| crash in between | a gap | nothing |

1. Write the row.
2. Move the cursor.
"""
BUILD = "export SOURCE_DATE_EPOCH=0\nmake clean all && sha256sum dist/*.whl"


TITLES = {
    "cancelled": "Rename the settings module",
    "budget_exceeded": "Port the importer to streams",
    "tool_limit": "Sort the open issues by area",
    "round_limit": "Find the slow query",
    "time_limit": "Bisect the failing build",
    "rate_limited": "Translate the help pages",
    "error": "Upgrade the HTTP client",
    "interrupted": "Split the journal into segments",
}


def sessions(house):
    plan = [{"text": "Find it", "state": "done"}, {"text": "Repair it", "state": "in_progress"}]
    calls = [
        call("update_plan", items=plan),
        call("write", path="store.py", content="def append(row):\n    rows.append(row)\n"),
        call("shell", command="ls -l"),
        call("read", path="missing.py"),
    ]
    ask = call("ask_user", question="Shall I also rewrite the tests?", options=["yes", "no"])
    usage = {"input": 41_800, "output": 2_300}
    found = {
        "chat": house.create(
            {"text": "I will look.", "thinking": "Where is it?", "tool_calls": calls},
            {"text": RICH, "usage": usage},
            title="Find the gap in the journal",
            prompt="Why are there gaps in the journal after a crash?",
        ),
        "question": house.create({"text": "One thing.", "tool_calls": [ask]}, title="Tests"),
        "permission": house.create(
            {"text": "I need to run the build.", "tool_calls": [call("shell", command=BUILD)]},
            title="Make the build reproducible",
            mode="ask",
        ),
    }
    house.stopped(found["chat"])
    for reason in STOPS:
        found[reason] = stop(house, reason)
        house.ask("POST", f"/api/sessions/{found[reason]}/rename", {"title": TITLES[reason]})
    return found


class Camera:
    def __init__(self, tab, house, folder):
        self.tab, self.house, self.folder = tab, house, folder

    def shot(self, name):
        self.tab.page.wait_for_timeout(350)  # what rises has risen
        self.tab.page.screenshot(path=self.folder / f"{name}.png")

    def dialogs(self, found):
        tab = self.tab
        tab.open(found["interrupted"]).drives()
        tab.part("session-menu").click()
        tab.page.get_by_role("menuitem", name="What happens on resume").click()
        until(lambda: tab.part("plan-resume").count() == 1, "the plan")
        self.shot("plan")
        tab.page.keyboard.press("Escape")
        tab.open()
        tab.part("new-session").click()
        until(lambda: tab.part("new-place").count() == 1, "the folder")
        until(lambda: tab.part("new-agent").locator("option").count() > 3, "the agents")
        self.shot("new")
        tab.page.keyboard.press("Escape")
        tab.open(found["chat"]).drives()
        for name, part in (("Move to trash", "loses-list"), ("Rewind", "rewind-confirm")):
            tab.part("session-menu").click()
            tab.page.get_by_role("menuitem", name=name).click()
            until(lambda part=part: tab.part(part).count() == 1, name)
            self.shot(name.lower().replace(" ", "-"))
            tab.page.keyboard.press("Escape")
        tab.page.keyboard.press("?")
        self.shot("help")
        tab.page.keyboard.press("Escape")

    def at_work(self):
        tab = self.tab
        running = self.house.create({"text": words(400), "chunk_ms": 40}, title="At work")
        tab.open(running).drives()
        until(lambda: "w0020" in tab.streamed(), "the first words")
        tab.input.fill("And then the tests.")
        tab.part("send-button").click()
        until(lambda: tab.part("queued").count() == 1, "the queue")
        self.shot("running")
        self.house.network.cut()
        until(lambda: tab.line == "offline", "a page that knows")
        self.shot("offline")
        self.house.network.heal()
        self.house.ask("POST", f"/api/sessions/{running}/cancel", {})

    def watching(self, id):
        self.tab.open()  # or a reload would reclaim it
        second = Tab(self.tab.page.context.new_page(), self.house).open(id).drives()
        self.tab.open(id)
        until(lambda: self.tab.part("watching").count() == 1, "a tab that watches")
        self.shot("watching")
        second.page.close()


def shoot(camera, found):
    tab, house = camera.tab, camera.house
    tab.open()
    until(lambda: tab.part("session-row").count() >= 5, "the list")
    camera.shot("list")
    for name, id in found.items():
        tab.open(id)
        until(lambda: tab.page.locator("article").count() > 0, "the chat")
        camera.shot(name)
    tab.open(found["chat"])
    tab.page.locator("[data-testid=tool] button").first.click()
    camera.shot("tool")
    tab.part("changes-button").click()
    until(lambda: tab.part("diff-file").count() == 1, "the changes")
    camera.shot("changes")
    tab.part("changes-close").click()
    tab.part("session-menu").click()
    camera.shot("menu")
    tab.page.goto(f"{house.network.address}/stats")
    until(lambda: tab.page.get_by_text("Latest stops").count() > 0, "the dashboard")
    camera.shot("stats")
    camera.dialogs(found)
    camera.watching(found["chat"])
    camera.at_work()
    tab.page.context.clear_cookies()
    tab.page.goto(house.link().replace("code=", "code=x"))
    camera.shot("link-used-up")
    tab.page.goto(house.network.address)
    camera.shot("stranger")


def main():
    goal = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        house = House(Path(folder) / "house").up()
        try:
            found = sessions(house)
            looks = {
                "light": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "light"},
                "dark": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "dark"},
                "phone": {**playwright.devices["Pixel 7"], "color_scheme": "dark"},
            }
            with chromium.driven(playwright) as browser:
                for look, options in looks.items():
                    (goal / look).mkdir(parents=True, exist_ok=True)
                    context = browser.new_context(**options)
                    tab = Tab(context.new_page(), house)
                    tab.page.goto(house.link())
                    shoot(Camera(tab, house, goal / look), found)
                    context.close()
        finally:
            house.clean_up()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main()
