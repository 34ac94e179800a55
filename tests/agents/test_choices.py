"""What may be chosen for a session, as far as no browser is needed to see it."""

import pytest

from holdfast.agents.builtin.providers.prices import window
from holdfast.agents.choices import Choices
from holdfast.config import load
from holdfast.core.session import Session


@pytest.mark.parametrize(
    ("provider", "model", "least"),
    [
        ("anthropic", "claude-sonnet-4-5", 200_000),
        ("openai-responses", "gpt-5", 400_000),  # one of several ways to write a provider
        ("", "claude-opus-4-5", 200_000),  # an agent's own name for it says no provider
    ],
)
async def test_a_model_that_is_known_has_a_window(provider, model, least):  # spec: K6
    assert await window(provider, model) >= least


async def test_of_others_nothing_is_said():
    assert await window("anthropic", "claude-nobody-heard-of") is None
    assert await window("", "opus") is None


async def test_our_own_agent_summarises_before_the_model_is_full(tmp_path):  # spec: K6 B10
    config = load({"HOLDFAST_HOME": str(tmp_path), "HOLDFAST_CONTEXT_WINDOW": "150000"})
    choices = Choices(None, None, None, config)
    large = Session(id="s", via="builtin", model="anthropic:claude-sonnet-4-5", context=9)
    assert await choices.window(large) == 150_000
    other = Session(id="s", via="acp", model="claude-sonnet-4-5", context=9)
    assert await choices.window(other) == 200_000
    for unknown in ("", "scripted:/file", "opus"):
        assert await choices.window(Session(id="s", model=unknown, context=9)) is None
