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


def sessions(house):
    plan = [{"text": "Find it", "state": "done"}, {"text": "Repair it", "state": "in_progress"}]
    calls = [
        call("update_plan", items=plan),
        call("write", path="store.py", content="def append(row):\n    rows.append(row)\n"),
        call("shell", command="ls -l"),
        call("read", path="missing.py"),
    ]
    ask = call("ask_user", question="Shall I also rewrite the tests?", options=["yes", "no"])
    found = {
        "chat": house.create(
            {"text": "I will look.", "thinking": "Where is it?", "tool_calls": calls},
            {"text": RICH},
            title="Find the gap in the journal",
            prompt="Why are there gaps in the journal after a crash?",
        ),
        "question": house.create({"text": "One thing.", "tool_calls": [ask]}, title="Tests"),
    }
    house.stopped(found["chat"])
    return found | {reason: stop(house, reason) for reason in STOPS}


def shoot(tab, house, found, folder, phone):
    def shot(name):
        tab.page.wait_for_timeout(350)  # what rises has risen
        tab.page.screenshot(path=folder / f"{name}.png")

    tab.open()
    until(lambda: tab.part("session-row").count() >= 5, "the list")
    shot("list")
    for name, id in found.items():
        tab.open(id)
        until(lambda: tab.page.locator("article").count() > 0, "the chat")
        shot(name)
    tab.open(found["chat"])
    tab.page.locator("[data-testid=tool] button").first.click()
    shot("tool")
    tab.part("changes-button").click()
    until(lambda: tab.part("diff-file").count() == 1, "the changes")
    shot("changes")
    tab.part("changes-close").click()
    tab.part("session-menu").click()
    shot("menu")
    tab.page.goto(f"{house.network.address}/stats")
    until(lambda: tab.part("stats").count() == 1, "the dashboard")
    shot("stats")
    if not phone:
        tab.open(found["interrupted"])
        for key, name in (("p", "plan"), ("n", "new"), ("?", "help")):
            tab.page.keyboard.press(key)
            shot(name)
            tab.page.keyboard.press("Escape")
    second = Tab(tab.page.context.new_page(), house).open(found["chat"])
    tab.open(found["chat"])
    until(lambda: tab.part("watching").count() == 1, "a tab that watches")
    shot("watching")
    second.page.close()
    running = house.create({"text": words(400), "chunk_ms": 40}, title="At work")
    tab.open(running).drives()
    until(lambda: "w0020" in tab.streamed(), "the first words")
    tab.input.fill("And then the tests.")
    tab.part("send-button").click()
    until(lambda: tab.part("queued").count() == 1, "the queue")
    shot("running")
    house.network.cut()
    until(lambda: tab.line == "offline", "a page that knows")
    shot("offline")
    house.network.heal()
    house.ask("POST", f"/api/sessions/{running}/cancel", {})


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
                    shoot(tab, house, found, goal / look, look == "phone")
                    context.close()
        finally:
            house.clean_up()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main()
