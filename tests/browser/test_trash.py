"""A session is put away: with a way back, and not with work in it that is nowhere else."""

# spec: A10 H2 P10

from pathlib import Path

from tests.browser.house import END, call
from tests.browser.tab import until


def put_away(tab):
    tab.part("session-menu").click()
    tab.page.get_by_role("menuitem", name="Move to trash").click()


def test_what_would_be_lost_is_named_and_kept_unless_that_is_meant(tab, house):
    work = {"text": "Writing.", "tool_calls": [call("write", path="precious.txt", content="1")]}
    id = house.create(work, END)
    tree = Path(house.stopped(id)["workspace"]["path"])
    tab.open(id).drives()
    put_away(tab)
    until(lambda: tab.part("loses-list").count() == 1, "what would be lost")
    assert "precious.txt" in tab.part("loses-list").inner_text()
    tab.page.get_by_role("button", name="Keep it").click()
    until(lambda: tab.part("loses-dialog").count() == 0, "the chat")
    assert not house.session(id)["trashed"] and (tree / "precious.txt").exists()
    put_away(tab)
    tab.part("loses-confirm").click()
    until(lambda: house.session(id)["trashed"], "the trash")
    until(lambda: not tree.exists(), "the end of its work tree")
    until(lambda: tab.page.locator(f"[data-session='{id}']").count() == 0, "a list without it")


def test_it_comes_back(tab, house):
    id = house.create(END)
    house.stopped(id)
    tab.open(id).drives()
    put_away(tab)
    until(lambda: house.session(id)["trashed"], "the trash")
    tab.part("toast-undo").click()
    until(lambda: not house.session(id)["trashed"], "it back")
    row = tab.page.locator(f"[data-testid=session-row][data-session='{id}']")
    until(lambda: row.count() == 1, "it in the list")
