"""What may be chosen for a session, as far as no browser is needed to see it."""

import pytest

from holdfast.agents.builtin.providers.prices import window


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
