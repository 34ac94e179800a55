"""What a resume will cost to begin with: known where the model's price is, and never guessed."""

# spec: B4, I1

import pytest

from holdfast.assembly import System
from holdfast.config import load
from holdfast.core.session import Session


@pytest.fixture
def system(tmp_path):
    home = tmp_path / "state"
    home.mkdir(mode=0o700)
    return System(home, load({"HOLDFAST_HOME": str(home)}))


def session(model, via="builtin"):
    return Session(id="0" * 12, model=model, via=via)


async def test_reading_twice_as_much_costs_twice_as_much(system):
    once = await system.choices.price(session("anthropic:claude-sonnet-4-5"), 10_000)
    twice = await system.choices.price(session("anthropic:claude-sonnet-4-5"), 20_000)

    assert once is not None and 0 < once < 10**6
    assert twice == 2 * once


@pytest.mark.parametrize(
    ("model", "via"),
    [
        ("scripted:/x", "builtin"),
        ("anthropic:no-such-model", "builtin"),
        ("nobody:x", "builtin"),
        ("", "builtin"),
        ("anthropic:claude-sonnet-4-5", "acp"),
    ],
)
async def test_what_nobody_knows_stays_unknown(system, model, via):
    assert await system.choices.price(session(model, via), 10_000) is None
