"""What is done with a session: its queue, its changes, what a resume would do, a fork."""

# spec: K1 A9 H4 E7 A2

import subprocess
from pathlib import Path

from tests.browser.house import END, call, words
from tests.browser.tab import until
from tests.cli.desk import GIT


def git(folder, *command):
    done = subprocess.run(["git", *command], cwd=folder, env=GIT, capture_output=True, text=True)  # noqa: PLW1510
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_what_waits_is_edited_and_withdrawn(tab, house):
    id = house.create({"text": words(2000), "chunk_ms": 40}, END, END)
    tab.open(id).drives()
    until(lambda: "w0005" in tab.streamed(), "the first words")
    for text in ("first", "second"):
        tab.input.fill(text)
        tab.part("send-button").click()
        until(lambda text=text: text in tab.part("queue").inner_text(), "it in the queue")
    tab.part("queued").first.get_by_role("button", name="Edit").click()
    edited = tab.page.get_by_label("Edit the queued message")
    edited.fill("first, but better")
    edited.press("Enter")
    until(lambda: "but better" in tab.part("queue").inner_text(), "the better one")
    tab.part("queued").last.get_by_role("button", name="Withdraw").click()
    until(lambda: tab.part("queued").count() == 1, "one that waits")
    assert [each["text"] for each in house.session(id)["queue"]] == ["first, but better"]
    tab.part("stop-button").click()
    house.stopped(id)
    until(lambda: "held until you resume" in tab.part("queue").inner_text(), "why it waits")


def test_changes_of_every_kind_are_shown_and_applied(tab, house):
    (house.repo / "moved.txt").write_text("a line that stays the same\n" * 9)
    git(house.repo, "add", "-A")
    git(house.repo, "commit", "-qm", "something to move")
    work = call("write", path="fresh.py", content="x = 1\n")
    id = house.create({"text": "Writing.", "tool_calls": [work]}, END)
    tree = Path(house.stopped(id)["workspace"]["path"])
    git(tree, "mv", "moved.txt", "elsewhere.txt")
    (tree / "picture.bin").write_bytes(bytes(range(256)))
    tab.open(id).drives()
    tab.page.keyboard.press("d")
    until(lambda: tab.part("diff-file").count() == 3, "the files")
    lines = ("elsewhere.txt", "moved.txt", "picture.bin", "inary", "x = 1")  # one file moved
    shown = tab.part("changes")
    until(lambda: all(line in shown.inner_text() for line in lines), "what changed in them")
    tab.part("apply").click()
    tab.part("apply-confirm").click()
    here = house.repo
    until((here / "fresh.py").exists, "the work in the user's own tree")
    until(lambda: (here / "elsewhere.txt").exists() and not (here / "moved.txt").exists(), "a move")
    until((here / "picture.bin").is_file, "the picture")
    until(
        lambda: (here / "picture.bin").read_bytes() == (tree / "picture.bin").read_bytes(),
        "all of the picture",
    )


def test_a_resume_says_beforehand_what_it_will_do(tab, house):
    id = house.create(
        {"text": "Looking.", "tool_calls": [call("list")]}, END, limits={"max_rounds": 1}
    )
    house.stopped(id)
    tab.open(id).shows_banner("round_limit")
    tab.part("banner-plan").click()
    until(lambda: tab.part("plan-resume").count() == 1, "the plan")
    shown = tab.part("plan-dialog").inner_text()
    assert "the whole conversation, from our record" in shown and "as it was left" in shown
    assert len(house.events(id, "run_started")) == 1  # read, not done
    tab.part("plan-resume").click()
    tab.no_banner()
    assert house.stopped(id)["last_stop"]["reason"] == "completed"


def test_a_fork_begins_with_what_was_said(tab, house):
    id = house.create({"text": "One way.", "tool_calls": [call("list")]}, {"text": "The end."})
    house.stopped(id)
    tab.open(id).drives()
    tab.part("session-menu").click()
    tab.page.get_by_role("menuitem", name="Fork").click()
    tab.page.get_by_role("radio", name="Round 1").check()
    tab.part("fork-confirm").click()
    other = tab.page.locator(f"[data-testid=chat]:not([data-session='{id}'])")
    until(lambda: other.count() == 1, "the other session")
    until(lambda: tab.streamed() == "One way.", "what it begins with")
    assert "fork" in tab.part("title").inner_text()


def test_what_is_opened_stays_in_sight(tab, house):
    long = call("write", path="long.txt", content="a line\n" * 80)
    later = [{"text": words(120), "tool_calls": [call("list")]} for _ in range(3)]
    id = house.create({"text": "Writing.", "tool_calls": [long]}, *later, END)
    house.stopped(id)
    tab.page.set_viewport_size({"width": 1280, "height": 900})
    tab.open(id).drives()
    until(lambda: "All is done." in tab.streamed(), "the end")
    tool = tab.part("tool").filter(has_text="long.txt").first
    tool.get_by_role("button").first.click()
    until(lambda: tab.part("tool-body").count() == 1, "what it was given")
    house.ask("POST", f"/api/sessions/{id}/rename", {"title": "Something comes in"})
    until(lambda: "Something comes in" in tab.part("title").inner_text(), "news")
    box, log = tool.bounding_box(), tab.box("timeline")
    assert log["y"] - 1 <= box["y"] < log["y"] + log["height"]
