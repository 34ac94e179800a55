"""What the page costs, in a headless Chromium against a real daemon: `python -m bench.page`.

Wall times are of this machine as it is now; its load is printed with them.
"""

import gzip
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

from bench.machine import load
from bench.report import table
from holdfast.server.page import STATIC
from tests.browser import chromium
from tests.browser.house import House, words
from tests.browser.past import write_past
from tests.browser.tab import Tab, until

FIVE, TEN = "0000000005aa", "0000000010aa"
LINES = 20_000
# To the top, and a pixel away from it when it is there: only what moves is heard of.
SCROLLED = """(() => {
  const box = document.querySelector('[data-testid=timeline] > div');
  box.scrollTop = box.scrollTop > 0 ? 0 : 1;
})()"""

# From the click until two frames after the text is there: what a person waits for.
UNTIL_DRAWN = """([click, shown]) => new Promise((done) => {
  const started = performance.now();
  document.querySelector(click).click();
  const look = () => {
    if (!document.querySelector("main")?.innerText.includes(shown)
        && !document.querySelector("[data-testid=changes]")?.innerText.includes(shown))
      return requestAnimationFrame(look);
    requestAnimationFrame(() => done(performance.now() - started));
  };
  look();
})"""
COUNT_FRAMES = """() => {
  window.frames_seen = [];
  const tick = (at) => { window.frames_seen.push(at); window.ticking = requestAnimationFrame(tick); };
  requestAnimationFrame(tick);
}"""


def script_bytes() -> int:
    """What a first visit fetches before anything is drawn: the scripts, packed."""
    return sum(len(gzip.compress(path.read_bytes(), 9)) for path in STATIC.rglob("*.js"))


def drawn(tab: Tab, click: str, shown: str) -> float:
    """Milliseconds; the median of three."""
    taken = []
    for _ in range(3):
        tab.open()
        until(lambda: tab.page.locator(click).count() == 1, "the list")
        taken.append(tab.page.evaluate(UNTIL_DRAWN, [click, shown]))
    return statistics.median(taken)


def row(id: str) -> str:
    return f"[data-testid=session-row][data-session='{id}']"


def heap_mb(tab: Tab) -> float:
    session = tab.page.context.new_cdp_session(tab.page)
    session.send("HeapProfiler.collectGarbage")
    used = session.send("Runtime.getHeapUsage")["usedSize"]
    session.detach()
    return used / 1e6


def nodes_read_to_the_top(tab: Tab) -> int:
    tab.open(TEN)
    until(lambda: "found 5000" in tab.streamed(), "the end")
    most = 0

    def at_the_top() -> bool:
        nonlocal most
        tab.page.evaluate(SCROLLED)
        most = max(most, tab.page.evaluate("document.querySelectorAll('*').length"))
        return "found 1:" in tab.streamed()

    until(at_the_top, "the beginning", patience=120)
    return most


def frames_per_second(tab: Tab, house: House) -> float:
    """While 200 words a second arrive under five thousand messages."""
    id = house.create({"text": words(1_200), "chunk_ms": 5}, prompt=None)
    tab.open(id).drives()
    tab.say("go")
    until(lambda: "w0050" in tab.streamed(), "the first words")
    tab.page.evaluate(COUNT_FRAMES)
    time.sleep(4)
    seen = tab.page.evaluate("(cancelAnimationFrame(window.ticking), window.frames_seen)")
    house.ask("POST", f"/api/sessions/{id}/cancel", {})
    return (len(seen) - 1) / (seen[-1] - seen[0]) * 1000


def diff_ms(tab: Tab, house: House) -> float:
    id = house.create({"text": "Done."})
    folder = Path(house.stopped(id)["workspace"]["path"])
    for n in range(20):
        (folder / f"f{n:02}.py").write_text(
            "".join(f"line_{i} = {i}\n" for i in range(LINES // 20))
        )
    taken = []
    for _ in range(3):
        tab.open(id).drives()
        taken.append(tab.page.evaluate(UNTIL_DRAWN, ["[data-testid=changes-button]", "line_0"]))
    return statistics.median(taken)


def first_page_ms(browser, folder: Path) -> float:
    """A daemon that has just started, a browser that was never here: until the list is drawn."""
    house = House(folder).up()
    try:
        context = browser.new_context()
        tab, link = Tab(context.new_page(), house), house.link()
        started = time.perf_counter()
        tab.page.goto(link)
        until(lambda: "No sessions yet" in tab.page.inner_text("body"), "the page")
        taken = time.perf_counter() - started
        context.close()
        return taken * 1000
    finally:
        house.clean_up()


def measured(folder: Path) -> list[tuple[str, float, str, float, str]]:
    """name, value, unit, target, how it compares."""
    found = [("scripts, gzipped", script_bytes() / 1000, "kB", 160, "<=")]
    house = House(folder / "house")
    write_past(house.home, FIVE, 5_000)
    write_past(house.home, TEN, 10_000)
    house.up()
    try:
        with sync_playwright() as playwright, chromium.driven(playwright) as browser:
            context = browser.new_context(viewport={"width": 1200, "height": 800})
            tab = Tab(context.new_page(), house)
            tab.page.goto(house.link())
            opened = drawn(tab, row(FIVE), "found 2500")
            found.append(("5,000 messages, its end drawn", opened, "ms", 500, "<="))
            found.append(("heap with it", heap_mb(tab), "MB", 20, "<="))
            found.append(("10,000 read to the top", nodes_read_to_the_top(tab), "nodes", 1500, "<"))
            found.append(
                ("200 tokens a second", frames_per_second(tab, house), "frames/s", 50, ">=")
            )
            found.append(("a diff of 20,000 lines", diff_ms(tab, house), "ms", 400, "<="))
            first = first_page_ms(browser, folder / "first")
            found.append(("first page of a fresh daemon", first, "ms", 1000, "<="))
    finally:
        house.clean_up()
    return found


def reached(value: float, sign: str, target: float) -> bool:
    return value >= target if sign == ">=" else value <= target if sign == "<=" else value < target


def main() -> int:
    if chromium.PATH is None or not (STATIC / "index.html").is_file():
        print("missing: chromium, or the built page (make page)", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="holdfast-page-") as folder:
        found = measured(Path(folder))
    rows = [
        [
            name,
            f"{value:,.0f} {unit}",
            f"{sign} {target:,.0f}",
            "yes" if reached(value, sign, target) else "NO",
        ]
        for name, value, unit, target, sign in found
    ]
    table(
        "The page, in headless Chromium",
        ["what", "measured", "target", "reached"],
        rows,
        f"load {load()}",
    )
    if "--json" in sys.argv:
        print(json.dumps({name: value for name, value, *_ in found}))
    return int(not all(reached(value, sign, target) for _, value, _, target, sign in found))


if __name__ == "__main__":
    sys.exit(main())
