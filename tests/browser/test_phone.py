"""The page on a phone: one column, and everything large enough for a finger."""

# spec: K1, K2

import pytest

from tests.browser.house import END, call
from tests.browser.stops import STOPS, stop
from tests.browser.tab import until

SMALL = """() => [...document.querySelectorAll(
  "button, a[href], input, textarea, select, summary, [role=button], [role=menuitem]"
)].map((node) => node.closest("label:has([type=checkbox])") ?? node).filter((node) => {
  const box = node.getBoundingClientRect();
  const shown = box.width > 1 && box.height > 1 && node.checkVisibility({ visibilityProperty: true });
  const inside = box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
  const prose = node.closest(".prose");
  return shown && inside && !prose && (box.height < 43.5 || box.width < 43.5);
}).map((node) => {
  const box = node.getBoundingClientRect();
  const name = node.getAttribute("aria-label") || node.textContent.slice(0, 30);
  return `${node.tagName} "${name}" ${Math.round(box.width)}x${Math.round(box.height)}`;
})"""
SIDEWAYS = (
    "document.documentElement.scrollWidth > innerWidth || document.body.scrollWidth > innerWidth"
)


@pytest.fixture
def phone(visit, house, playwright):
    return visit(house, **playwright.devices["Pixel 7"])


@pytest.fixture(scope="module")
def sessions(house):
    found = {reason: stop(house, reason) for reason in ("error", "rate_limited", "interrupted")}
    made = [call("write", path="a.py", content="print(1)\n")]
    found["changed"] = house.create({"text": "Writing.", "tool_calls": made}, END, title="changed")
    house.stopped(found["changed"])
    return found


def fits(tab):
    assert tab.page.evaluate(SMALL) == []
    assert tab.page.evaluate(SIDEWAYS) is False


def test_the_list_and_the_chat_are_one_column(phone, sessions):
    phone.open()
    until(lambda: phone.part("session-row").count() >= 4, "the list")
    fits(phone)
    assert phone.part("chat").count() == 0
    phone.page.locator(f"[data-session='{sessions['error']}']").tap()
    phone.shows_banner("error")
    assert not phone.part("session-list").is_visible()
    assert phone.box("chat")["width"] == phone.page.viewport_size["width"]
    fits(phone)
    phone.part("back").tap()
    until(lambda: phone.part("session-list").is_visible(), "the list")


@pytest.mark.parametrize("reason", ["error", "rate_limited", "interrupted"])
def test_the_banner_is_low_and_its_buttons_are_not(phone, sessions, reason):
    phone.open(sessions[reason]).shows_banner(reason)
    assert phone.part("banner-title").inner_text().startswith(STOPS[reason][0])
    assert 44 <= phone.box("banner")["height"] <= 96
    fits(phone)


def test_changes_are_a_sheet_with_a_way_back(phone, sessions):  # spec: K1
    phone.open(sessions["changed"])
    phone.part("changes-button").tap()
    until(lambda: phone.part("diff-file").count() == 1, "the file")
    assert phone.box("changes")["width"] == phone.page.viewport_size["width"]
    fits(phone)
    phone.part("changes-close").tap()
    until(lambda: phone.part("changes").count() == 0, "the chat")


def test_menu_dialogs_and_a_tool_are_large_enough(phone, sessions):
    phone.open(sessions["changed"])
    phone.part("session-menu").tap()
    until(lambda: phone.page.get_by_role("menuitem").count() > 3, "the menu")
    fits(phone)
    phone.page.keyboard.press("Escape")
    phone.part("tool").first.tap()
    until(lambda: phone.part("tool-body").count() == 1, "the tool")
    fits(phone)
    phone.open()
    phone.part("new-session").tap()
    until(lambda: phone.part("new-dialog").is_visible(), "the dialog")
    fits(phone)


def test_the_dashboard_is_large_enough(phone):  # spec: K7
    phone.page.goto(f"{phone.house.network.address}/stats")
    until(lambda: phone.page.get_by_role("button", name="30 days").count() == 1, "the dashboard")
    fits(phone)


def test_enter_is_a_line_and_send_is_a_button(phone, house):
    id = house.create(END, END, prompt=None)
    phone.open(id).drives()
    phone.input.tap()
    phone.page.keyboard.type("one")
    phone.page.keyboard.press("Enter")
    phone.page.keyboard.type("two")
    assert phone.input.input_value() == "one\ntwo"
    phone.part("send-button").tap()
    until(lambda: phone.texts("user") == ["one\ntwo"], "the message")
    fits(phone)
