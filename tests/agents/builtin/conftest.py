"""What the tests of the loop share."""

import pytest

from holdfast.agents.builtin.scripted import ScriptedModel
from holdfast.core.validate import Rules, validate


@pytest.fixture
def folder(tmp_path):
    tmp_path.chmod(0o700)
    return tmp_path


@pytest.fixture
def requests(monkeypatch):
    """Every request that a model got, each of them valid (promise P6)."""
    seen = []
    stream = ScriptedModel.stream

    async def watched(self, request):
        assert [] == validate(request.messages, rules=Rules())
        seen.append(request)
        async for piece in stream(self, request):
            yield piece

    monkeypatch.setattr(ScriptedModel, "stream", watched)
    return seen
