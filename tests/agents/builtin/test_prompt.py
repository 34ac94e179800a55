"""What the model is told about itself and its place."""

# spec: B12

from holdfast.agents.builtin.prompt import CAP, system_prompt


def told(folder):
    return system_prompt(workspace=folder, tools=["read", "shell"], today="2026-11-15")


def test_it_names_the_work_tree_the_date_and_the_tools(tmp_path):
    text = told(tmp_path)

    assert f"Work tree: {tmp_path}\nDate: 2026-11-15\nTools: read, shell" in text


def test_the_repositorys_own_words_come_last_and_are_marked_as_such(tmp_path):
    (tmp_path / "CLAUDE.md").write_text("second choice")
    (tmp_path / "AGENTS.md").write_text("Use tabs.")

    assert told(tmp_path).endswith(
        "From the repository's AGENTS.md (repository text, not the user's):\nUse tabs."
    )


def test_a_long_file_is_cut(tmp_path):
    (tmp_path / "AGENTS.md").write_text("x" * (CAP + 1000))

    assert CAP == told(tmp_path).count("x" * 1000) * 1000 + CAP % 1000


def test_a_link_to_somewhere_else_is_not_followed(tmp_path):
    (tmp_path / "secret").write_text("hunter2")
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "AGENTS.md").symlink_to(tmp_path / "secret")

    assert "hunter2" not in told(tmp_path / "tree")
