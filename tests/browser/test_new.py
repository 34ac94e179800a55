"""The dialog for a session: what there is to choose from, what is wrong with a choice, what was chosen last."""

# spec: K1 H2 E1

import pytest

from tests.browser.house import END, House
from tests.browser.tab import until


class Equipped(House):
    """With one agent installed and logged in, which only says its version."""

    @property
    def environ(self):
        found = super().environ
        keys = {name: "" for name in found if name.endswith(("_API_KEY", "_TOKEN"))}
        return {**found, **keys, "PATH": f"{self.folder / 'bin'}:{found['PATH']}"}


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    found = Equipped(tmp_path_factory.mktemp("equipped"))
    program = found.folder / "bin" / "codex"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho codex-cli 9.8.7\n")
    program.chmod(0o755)
    login = found.folder / ".codex" / "auth.json"
    login.parent.mkdir()
    login.write_text("{}")
    yield found.up()
    found.clean_up()


def opened(tab):
    tab.open()
    tab.part("new-session").click()
    until(lambda: tab.part("new-agent").locator("option").count() > 3, "the agents")
    return tab


def options(tab):
    return {
        each.get_attribute("value"): each for each in tab.part("new-agent").locator("option").all()
    }


def test_agents_are_offered_with_what_is_known_of_them(tab, house):
    opened(tab)
    found = options(tab)
    assert found["builtin"].inner_text() == "Built-in agent"
    assert "not installed" in found["auggie"].inner_text() and found["auggie"].is_disabled()
    assert "No provider's key" in tab.part("new-hint").inner_text()
    tab.part("new-agent").select_option("codex")
    until(lambda: tab.part("new-hint").count() == 0, "an agent that is logged in")
    until(lambda: "9.8.7" in options(opened(tab))["codex"].inner_text(), "its version")
    row = next(a for a in house.ask("GET", "/api/agents")["agents"] if a["name"] == "codex")
    assert (row["installed"], row["logged_in"], row["version"]) == (True, True, "9.8.7")
    assert "oneshot" in row["ways"]


def test_a_folder_is_looked_at_before_anything_is_made(tab, house):
    opened(tab)
    bare = house.folder / "bare"
    bare.mkdir(exist_ok=True)

    def says(folder, state):
        tab.part("new-folder").fill(str(folder))
        shown = tab.page.locator(f"[data-testid=new-place][data-state={state}]")
        until(lambda: shown.count() == 1, state)
        return shown.inner_text()

    assert "no such folder" in says(house.folder / "nowhere", "missing")
    tab.part("new-create").click()
    assert "no such folder" in tab.part("new-failure").inner_text()
    assert "not in a git repository" in says(bare, "no_git")
    assert "On main" in says(house.repo, "ready")
    (house.repo / "notes.txt").write_text("mine")
    try:
        says(bare, "no_git")
        assert "1 uncommitted change" in says(house.repo, "ready")
        assert tab.page.get_by_label("Bring my uncommitted changes along").count() == 1
    finally:
        (house.repo / "notes.txt").unlink()
    tab.part("new-budget").fill("much")
    tab.part("new-create").click()
    assert "number of dollars" in tab.part("new-failure").inner_text()
    assert house.ask("GET", "/api/sessions")["sessions"] == []


def test_a_session_begins_and_the_choice_is_kept(tab, house):
    opened(tab)
    model = house.script([END])
    tab.part("new-prompt").fill("Do it")
    tab.part("new-folder").fill(str(house.repo))
    tab.part("new-model").fill(model)
    tab.part("new-mode").select_option("full")
    tab.part("new-budget").fill("2,50")
    tab.part("new-create").click()
    until(lambda: tab.part("chat").count() == 1, "the session")
    id = tab.part("chat").get_attribute("data-session")
    assert house.stopped(id)["mode"] == "full"
    started = house.events(id, "run_started")[0]["data"]
    assert started["limits"]["cost_micros"] == 2_500_000
    opened(tab)
    kept = [tab.part(f"new-{name}").input_value() for name in ("folder", "model", "mode", "budget")]
    assert kept == [str(house.repo), model, "full", "2,50"]
    assert tab.part("new-prompt").input_value() == ""


def test_a_folder_without_git_can_be_worked_in_as_it_is(tab, house):
    plain = house.folder / "plain"
    plain.mkdir()
    opened(tab)
    tab.part("new-prompt").fill("Do it")
    tab.part("new-folder").fill(str(plain))
    tab.part("new-model").fill(house.script([END]))
    until(lambda: tab.page.locator("[data-state=no_git]").count() == 1, "what is known of it")
    tab.page.get_by_label("as it is, without git").check()
    tab.part("new-create").click()
    until(lambda: tab.part("chat").count() == 1, "the session")
    id = tab.part("chat").get_attribute("data-session")
    assert house.stopped(id)["workspace"]["path"] == str(plain)
    assert not (plain / ".git").exists()
