"""What concerns the whole page: figures, notifications, and opening without a network."""

# spec: K7 K8 L1 K4

from tests.browser.house import END, held, words
from tests.browser.stops import stop
from tests.browser.tab import Tab, until

# The browser shows a notification where no test can look: each is written down on its way there.
WRITTEN_DOWN = """
window.told = [];
window.Notification = class extends Notification {
  constructor(title, options) { super(title, options); window.told.push(`${title}: ${options.body}`); }
};
"""


def test_the_dashboard_counts_what_stopped_and_what_came_back(tab, house):
    id = stop(house, "tool_limit")
    house.ask("POST", f"/api/sessions/{id}/resume", {})
    house.stopped(id)
    tab.open()
    tab.part("dashboard").click()
    until(lambda: tab.page.get_by_text("Latest stops").count() > 0, "the figures")
    shown = tab.part("stats").inner_text()
    assert "1 of 1 resumes" in shown and "tool limit" in shown and "while using tools" in shown
    assert tab.part("stats").get_by_role("img", name="Stops by day").count() == 1
    tab.part("stats").get_by_role("link", name=id[:6]).first.click()
    until(lambda: tab.page.locator(f"[data-testid=chat][data-session='{id}']").count(), "it")


def test_who_asked_for_it_is_told_of_a_stop_elsewhere(visit, house):
    tab = visit(house, permissions=["notifications"])
    tab.page.add_init_script(WRITTEN_DOWN)
    one, other = (house.create(held(house.folder, words(40), 9), END, title=t) for t in "ab")
    tab.open(one).drives()
    told = lambda: tab.page.evaluate("window.told")  # noqa: E731
    house.ask("POST", f"/api/sessions/{other}/cancel", {})
    house.stopped(other)
    failed = stop(house, "tool_limit")
    row = tab.page.locator(f"[data-session='{failed}'] [aria-label='Not seen yet']")
    until(lambda: row.count() == 1, "a stop that nobody has seen")
    assert told() == []  # nobody asked for it yet
    tab.part("notifications").click()
    until(lambda: tab.part("notifications").get_attribute("aria-pressed") == "true", "the switch")
    stop(house, "error")
    until(lambda: told() == ["error: Something went wrong"], "the notification")
    house.ask("POST", f"/api/sessions/{one}/cancel", {})


def test_installed_it_opens_without_a_network(visit, house):
    tab = visit(house)
    id = house.create({"text": "Kept words."}, title="Kept")
    house.stopped(id)
    tab.open(id).drives()
    until(lambda: tab.streamed() == "Kept words.", "the conversation")
    page = tab.page
    icons = page.evaluate(
        "fetch('/manifest.webmanifest').then((r) => r.json()).then((m) => m.icons)"
    )
    assert len(icons) >= 2 and icons[0]["src"]
    tab.reload()  # by way of the worker, which is there now
    until(lambda: page.evaluate("Boolean(navigator.serviceWorker.controller)"), "the worker")
    tab.reload()
    kept = page.evaluate(
        "caches.keys().then((n) => Promise.all(n.map((k) => caches.open(k).then((c) => c.keys()))))"
        ".then((all) => all.flat().map((each) => new URL(each.url).pathname))"
    )
    assert "/" in kept and not [path for path in kept if path.startswith(("/api", "/login"))]
    page.goto("about:blank")
    house.network.cut()
    try:
        again = Tab(page, house).open(id, live=False)
        until(lambda: again.streamed() == "Kept words.", "what was shown last")
        until(lambda: again.line == "offline", "a page that knows")
    finally:
        house.network.heal()
    again.live()
