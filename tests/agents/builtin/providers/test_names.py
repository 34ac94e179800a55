"""Names of models, keys and where they come from."""
# spec: B1 B13

import ast
import inspect
import os

import pytest
from pydantic_ai import providers

from holdfast.agents.builtin.providers import catalogue
from holdfast.agents.builtin.providers.keys import Keys, read_file
from holdfast.config import BadConfig

# --- names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["anthropic:claude-sonnet-5-5", "openai:gpt-5", "google:gemini-x"])
def test_a_model_of_an_installed_provider_is_fine(name):
    assert catalogue.problem(name) is None


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("antropic:claude-sonnet-5-5", "anthropic:claude-sonnet-5-5"),
        ("claude:claude-sonnet-5-5", "anthropic:claude-sonnet-5-5"),
        ("gemini:gemini-3.8-flash", "google:gemini-3.8-flash"),
        ("claude-sonnet-5-5", "anthropic:claude-sonnet-5-5"),
        ("gpt-5", "openai:gpt-5"),
        ("o3", "openai:o3"),
        ("anthropic:", "anthropic:claude-sonnet-5-5"),
        ("anthropic", "anthropic:claude-sonnet-5-5"),
    ],
)
def test_a_name_that_is_nearly_right_is_put_right(name, meant):
    assert f"Did you mean {meant}?" in catalogue.problem(name)


def test_a_name_that_is_like_no_other_gets_the_list():
    problem = catalogue.problem("qqqqq:x")
    assert "no provider 'qqqqq'" in problem and "anthropic" in problem and "ollama" in problem


def test_a_provider_whose_package_is_missing_says_which():
    missing = [p for p in catalogue.PROVIDERS if not catalogue.is_installed(p)]
    assert missing, "every package is installed: this proves nothing here"
    for provider in missing:
        assert f"pydantic-ai-slim[{provider.extra}]" in catalogue.problem(f"{provider.name}:m")


KNOWN = ("anthropic:claude-sonnet-5-5", "anthropic:claude-opus-5", "anthropic:claude-sonnet-4-5")


def test_a_slip_of_the_pen_is_refused_and_a_version_nobody_knows_is_tried():
    slip = catalogue.misspelt("anthropic:claude-sonet-5-5", KNOWN)
    assert slip is not None and "anthropic:claude-sonnet-5-5?" in slip
    assert catalogue.misspelt("anthropic:claude-sonnet-5-5", KNOWN) is None
    assert catalogue.misspelt("anthropic:claude-sonnet-5-6", KNOWN) is None
    assert catalogue.misspelt("anthropic:something-else", KNOWN) is None


# --- which model, when none is named --------------------------------------------------------------


def test_the_first_provider_with_a_key_gives_the_model():
    environ = {"OPENAI_API_KEY": "k", "GEMINI_API_KEY": "k"}
    assert catalogue.default_model(environ).startswith("openai:")
    assert catalogue.default_model({**environ, "ANTHROPIC_API_KEY": "k"}).startswith("anthropic:")
    assert catalogue.default_model({"GEMINI_API_KEY": "k"}).startswith("google:")
    assert catalogue.default_model({"ANTHROPIC_API_KEY": "", "PATH": "/bin"}) == ""


def test_without_any_key_the_installed_providers_are_listed():
    text = catalogue.no_model()
    assert "anthropic (ANTHROPIC_API_KEY)" in text and "openai (OPENAI_API_KEY)" in text


@pytest.mark.slow
def test_every_default_model_is_one_that_the_library_knows():
    from holdfast.agents.builtin.providers.library import models_of  # noqa: PLC0415

    for provider in catalogue.PROVIDERS:
        known = models_of(provider.name)
        if provider.model and known:
            assert f"{provider.name}:{provider.model}" in known


# --- keys -----------------------------------------------------------------------------------------


def write(folder, text, mode=0o600):
    file = folder / "env"
    file.write_text(text)
    file.chmod(mode)
    return file


def test_what_was_lent_comes_before_our_own_and_that_before_the_file(tmp_path):
    file = write(tmp_path, "A_API_KEY=file\nB_API_KEY=file\nC_API_KEY=file\n")
    keys = Keys(file, {"A_API_KEY": "own", "B_API_KEY": "own", "D_API_KEY": ""})
    found = keys.environ({"A_API_KEY": "lent", "B_API_KEY": ""})
    assert found == {"A_API_KEY": "lent", "B_API_KEY": "own", "C_API_KEY": "file"}


def test_the_file_is_read_as_people_write_it(tmp_path):
    text = "# keys\n\nexport A_API_KEY='a b'\n B_API_KEY = \"c=d\" \nC_API_KEY=e\n"
    assert read_file(write(tmp_path, text)) == {
        "A_API_KEY": "a b",
        "B_API_KEY": "c=d",
        "C_API_KEY": "e",
    }


def test_no_file_is_no_keys(tmp_path):
    assert read_file(tmp_path / "env") == {}


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o700])
def test_a_file_that_others_may_read_is_refused(tmp_path, mode):
    file = write(tmp_path, "A_API_KEY=secret-value\n", mode)
    with pytest.raises(BadConfig, match="chmod 600") as caught:
        read_file(file)
    assert "secret-value" not in str(caught.value)


def test_a_line_that_is_no_variable_is_named_by_its_number_and_not_quoted(tmp_path):
    with pytest.raises(BadConfig, match="line 2: write NAME=value") as caught:
        read_file(write(tmp_path, "A=1\nsk-secret\n"))
    assert "sk-secret" not in str(caught.value)


def test_what_is_not_a_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / "env", 0o600)
    with pytest.raises(BadConfig, match="not a file"):
        read_file(tmp_path / "env")


def test_an_address_of_ones_own_needs_no_key_where_it_speaks_like_openai():
    assert catalogue.no_key("openai:m", {"OPENAI_BASE_URL": "http://localhost/v1"}) is None
    assert catalogue.no_key("ollama:m", {}) is None
    assert "OPENAI_API_KEY" in catalogue.no_key("openai:m", {})
    assert "ANTHROPIC_API_KEY" in catalogue.no_key(
        "anthropic:m", {"ANTHROPIC_BASE_URL": "http://x"}
    )


# No language models that answer a conversation, or logins of a browser.
NOT_FOR_US = {
    "elevenlabs",
    "openai-chatgpt",
    "openai-codex",
    "openai-decisions",
    "sentence-transformers",
    "typesafe",
    "voyageai",
}


@pytest.mark.slow
def test_every_provider_of_the_library_is_taken():  # spec: B1
    tree = ast.parse(inspect.getsource(providers.infer_provider_class))
    patterns = [node.value for node in ast.walk(tree) if isinstance(node, ast.MatchValue)]
    known = {p.value for p in patterns if isinstance(p, ast.Constant)}
    ours = {p.name for p in catalogue.PROVIDERS} | set(catalogue.OTHERS)
    assert known - NOT_FOR_US == ours


def test_a_provider_that_only_the_library_knows_is_tried_and_its_own_words_are_told():  # spec: B1
    assert catalogue.problem("xai:grok-5") is None
    assert catalogue.problem("xia:grok-5") is not None
    assert catalogue.no_key("azure:gpt-5", {}) is None, "it has rules of its own"
