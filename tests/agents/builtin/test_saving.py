"""What a model was heard to say is saved in time, also when it says no more (SPEC C3)."""

from holdfast.core import inputs as i
from holdfast.core.session import StopReason
from tests.agents.builtin.house import house


async def test_words_before_a_long_silence_are_saved_during_it(tmp_path):  # spec: C3
    async with house(tmp_path, {"text": "hello world", "chunk_ms": 600_000}) as opened:
        id = await opened.open()
        await opened.send(id)
        await opened.until(id, lambda s: s.response.text == "hello ")
        await opened.engine.submit(id, i.CancelRun())
        session = await opened.stopped(id)
        assert session.last_stop.reason is StopReason.CANCELLED
        assert session.response.text == "hello "


async def test_a_pause_lasts_until_its_file_is_there(tmp_path):
    go = tmp_path / "go"
    pauses = [{"after": 1, "until": str(go)}, {"after": 2, "until": str(tmp_path)}]
    async with house(tmp_path, {"text": "hello big world", "pauses": pauses}) as opened:
        id = await opened.open()
        await opened.send(id)
        await opened.until(id, lambda s: s.response.text == "hello ")
        go.touch()
        session = await opened.stopped(id)
        assert session.response.text == "hello big world"


async def test_every_word_is_saved_once_whatever_the_pace(tmp_path):  # spec: C3
    words = "".join(f"{n} " for n in range(60))
    async with house(tmp_path, {"text": words, "chunk_ms": 15}) as opened:
        session = await opened.run()
        assert session.response.text == words
