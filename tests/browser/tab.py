"""A tab of the browser, in the words of a user."""

import json
import time

from playwright.sync_api import Error

PATIENCE = 60.0


def until(condition, what="it", patience=PATIENCE):
    """What the condition says, as soon as it is true. (wait_for_function needs what our CSP forbids.)"""
    deadline = time.monotonic() + patience
    found = None
    while time.monotonic() < deadline:
        try:
            if found := condition():
                return found
        except Error as error:
            if "context" not in str(error) and "navigat" not in str(error):
                raise
        time.sleep(0.02)
    raise AssertionError(f"{what} did not come in {patience:.0f} s; last: {found!r}")


class Tab:
    def __init__(self, page, house):
        self.page, self.house = page, house
        self.errors, self.sent = [], []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("websocket", self._listen)
        page.set_default_timeout(PATIENCE * 1000)

    def _listen(self, socket):
        socket.on("framesent", lambda data: self.sent.append(json.loads(data)))

    # --- going places -----------------------------------------------------------------------------

    def open(self, id=None, *, live=True):
        self.page.goto(f"{self.house.network.address}/{f's/{id}' if id else ''}")
        if live:
            self.live()
        return self

    def reload(self):
        self.page.reload()
        return self.live()

    def choose(self, id):
        self.page.locator(f"[data-testid=session-row][data-session='{id}']").click()
        until(lambda: self.page.locator(f"[data-testid=chat][data-session='{id}']").count(), "it")
        return self

    def live(self):
        until(lambda: self.line == "live", "a connection")
        return self

    @property
    def line(self):
        return self.page.evaluate(
            "document.querySelector('[data-testid=line],[data-testid=connection]')?.dataset.line"
        )

    # --- what is there ----------------------------------------------------------------------------

    def part(self, testid):
        return self.page.get_by_test_id(testid)

    @property
    def banner(self):
        return self.part("banner")

    def shows_banner(self, reason):
        until(
            lambda: self.page.locator(f"[data-testid=banner][data-reason={reason}]").count(), reason
        )
        return self.banner

    def no_banner(self):
        until(lambda: self.banner.count() == 0, "the end of the banner")

    @property
    def input(self):
        return self.part("composer-input")

    def box(self, testid):
        return self.part(testid).bounding_box()

    def style(self, testid, *names):
        return self.part(testid).evaluate(
            "(node, names) => names.map((name) => getComputedStyle(node)[name])", list(names)
        )

    def texts(self, kind):
        """What each line of the conversation of a kind says, as far as it is drawn."""
        return self.page.locator(f"article[data-kind={kind}]").all_inner_texts()

    def streamed(self):
        """The words of all that the agent said, in order, spaces as one."""
        said = self.page.locator("article[data-kind=assistant] .prose").all_inner_texts()
        return " ".join(" ".join(said).split())

    def said(self, kind):
        """Frames of this type that the page sent. What it did is heard of when it is asked something."""
        self.page.evaluate("0")
        return [frame for frame in self.sent if frame["type"] == kind]

    # --- doing ------------------------------------------------------------------------------------

    def say(self, text):
        self.input.fill(text)
        self.input.press("Enter")

    def resume(self):
        self.part("banner-resume").click()

    def drives(self):
        until(self.input.count, "the input")
        return self
