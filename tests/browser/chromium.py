"""Chromium, in two ways: driven by Playwright, and left as a user has it.

Playwright's own defaults pin every page to "visible" and make freezing do nothing. So what is about
hidden, frozen and killed pages gets a Chromium of its own that they are not applied to.
"""

import contextlib
import re
import shutil
import subprocess
import tempfile

PATH = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]


@contextlib.contextmanager
def driven(playwright):
    browser = playwright.chromium.launch(executable_path=PATH, args=ARGUMENTS)
    try:
        yield browser
    finally:
        browser.close()


@contextlib.contextmanager
def plain(playwright):
    """Its one context: tabs hide each other, and CDP can freeze them."""
    profile = tempfile.mkdtemp(prefix="holdfast-chromium-")
    options = ["--headless", "--window-size=1280,1400", "--remote-debugging-port=0"]
    options += [f"--user-data-dir={profile}"]
    process = subprocess.Popen(
        [PATH, *ARGUMENTS, *options, "about:blank"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        found = (re.search(r"ws://\S+", line) for line in process.stderr)
        address = next(match[0] for match in found if match)
        browser = playwright.chromium.connect_over_cdp(address, no_defaults=True)
        yield browser.contexts[0]
        browser.close()
    finally:
        process.terminate()
        process.wait(60)
        process.stderr.close()
        shutil.rmtree(profile, ignore_errors=True)


def freeze(page):
    _turn(page, "frozen")


def thaw(page):
    """Frozen, it was hidden; it is shown again when something else was in front."""
    _turn(page, "active")
    other = page.context.new_page()
    other.bring_to_front()
    page.bring_to_front()
    other.close()


def _turn(page, state):
    session = page.context.new_cdp_session(page)
    session.send("Page.setWebLifecycleState", {"state": state})
    session.detach()
