"""Byte for byte: what is merged, and that nothing else is touched."""
# spec: B1

import asyncio
import json
import random

import httpx2
import pytest

from holdfast.agents.builtin.providers.merge import Merger
from holdfast.agents.builtin.providers.paced import MOST, PacedStream


def chat(text: str | None = None, **delta: object) -> bytes:
    given = delta if text is None else {"content": text, **delta}
    chunk = {"id": "c1", "object": "chat.completion.chunk", "model": "m", "created": 1}
    chunk["choices"] = [{"index": 0, "delta": given, "finish_reason": None, "logprobs": None}]
    return b"data: " + json.dumps(chunk, ensure_ascii=False).encode() + b"\n\n"


def claude(text: str, index: int = 0, kind: str = "text") -> bytes:
    data = {"type": "content_block_delta", "index": index}
    data["delta"] = {"type": f"{kind}_delta", kind: text}
    return b"event: content_block_delta\ndata: " + json.dumps(data).encode() + b"\n\n"


def responses(text: str, number: int, **more: object) -> bytes:
    data = {"type": "response.output_text.delta", "item_id": "i", "output_index": 0}
    data |= {"content_index": 0, "delta": text, "sequence_number": number, "logprobs": [], **more}
    return b"event: response.output_text.delta\ndata: " + json.dumps(data).encode() + b"\n\n"


def events(raw: bytes) -> list[dict]:
    lines = [line for line in raw.split(b"\n") if line.startswith(b"data: {")]
    return [json.loads(line[6:]) for line in lines]


def whole(*reads: bytes) -> bytes:
    merger = Merger()
    return b"".join(merger.feed(read) for read in reads) + merger.rest()


def test_words_of_one_read_become_one_event():
    (chunk,) = events(whole(chat("Hel") + chat("lo, ") + chat("wörld 😀")))
    assert chunk["choices"][0]["delta"] == {"content": "Hello, wörld 😀"}
    assert (chunk["id"], chunk["model"]) == ("c1", "m")


def test_words_of_anthropic_become_one_event_with_its_name():
    raw = whole(claude("a") + claude("b") + claude("c", 1))
    assert [(x["index"], x["delta"]["text"]) for x in events(raw)] == [(0, "ab"), (1, "c")]
    assert raw.startswith(b"event: content_block_delta\ndata: ")


def test_words_of_the_responses_api_keep_a_number_that_rises():
    raw = whole(responses("a", 4, obfuscation="xx") + responses("b", 5, obfuscation="yyy"))
    (event,) = events(raw)
    assert (event["delta"], event["sequence_number"]) == ("ab", 5)


@pytest.mark.parametrize(
    "other",
    [
        chat("x", role="assistant"),
        chat(tool_calls=[{"index": 0, "function": {"arguments": '{"a'}}]),
        chat("x", reasoning_content="y"),
        chat(content=None),
        chat("x").replace(b'"finish_reason": null', b'"finish_reason": "stop"'),
        chat("x").replace(b'"model"', b'"usage": {"total_tokens": 1}, "model"'),
        chat("x").replace(b'"logprobs": null', b'"logprobs": {"content": []}'),
        claude("x", kind="thinking"),
        claude('{"a', kind="partial_json"),
        responses("x", 1, logprobs=[{"token": "x"}]),
        b"data: [DONE]\n\n",
        b": ping\n\n",
        b"event: ping\ndata: {}\n\n",
        b'data: {"chat.completion.chunk": \n\n',
        b"data: [1]\n\n",
        b'id: 7\ndata: {"object":"chat.completion.chunk"}\n\n',
        b'data: {"text_delta": 1}\n\n',
        b"\n\n",
    ],
)
def test_all_else_passes_byte_for_byte_and_in_its_place(other):
    raw = whole(chat("a") + other + other + chat("b"))
    assert raw == chat("a") + other + other + chat("b")


def test_one_event_alone_is_not_written_anew():
    assert whole(chat("a"), chat("b")) == chat("a") + chat("b")


def test_what_ends_a_line_for_some_readers_is_escaped():
    raw = whole(chat("a\u2028") + chat("\u0085b"))
    assert events(raw)[0]["choices"][0]["delta"]["content"] == "a\u2028\u0085b"
    assert b"\\u2028\\u0085" in raw


def test_half_a_pair_is_not_merged():
    half = chat("x").replace(b'"x"', b'"\\ud83d"')
    assert whole(half + half) == half + half


@pytest.mark.parametrize("line", [b"\r\n", b"\r"])
def test_other_ends_of_lines_are_read(line):
    raw = (claude("a") + claude("b")).replace(b"\n", line)
    out = whole(raw)
    assert out.count(b"content_block_delta") in (2, 4)
    assert b'"ab"' in out or out == raw


@pytest.mark.parametrize("seed", range(40))
def test_wherever_the_network_cuts_the_text_is_the_same(seed):
    rng = random.Random(seed)
    words = ["Grüße ", "日本 ", "😀", "plain ", '"quoted" ', "\n"]
    said = [rng.choice(words) for _ in range(30)]
    stream = b"".join(
        b": ping\n\n" + chat(word) if rng.random() < 0.2 else chat(word) for word in said
    )
    stream += b"data: [DONE]\n\n"
    cuts = sorted(rng.sample(range(1, len(stream)), 25))
    reads = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    out = whole(*reads)
    text = "".join(x["choices"][0]["delta"]["content"] for x in events(out))
    assert text == "".join(said) and out.endswith(b"data: [DONE]\n\n")
    assert out.count(b": ping") == stream.count(b": ping")


def test_what_was_cut_off_is_given_on_as_it_is():
    assert whole(chat("a")[:-20]) == chat("a")[:-20]


def test_what_is_no_stream_of_events_passes():
    raw = b"x" * (1 << 22) + b"yz"
    assert whole(raw, b"more\n\n") == raw + b"more\n\n"


# --- the pace -------------------------------------------------------------------------------------


class Source(httpx2.AsyncByteStream):
    """Packets; each is several chunks that come without waiting."""

    def __init__(self, *packets: list[bytes], fail: Exception | None = None, endless: bool = False):
        self.packets, self.fail, self.endless = packets, fail, endless
        self.closed = False

    async def __aiter__(self):
        for packet in self.packets:
            await asyncio.sleep(0.001)
            for chunk in packet:
                yield chunk
        if self.fail:
            raise self.fail
        while self.endless:
            await asyncio.sleep(0.01)

    async def aclose(self):
        self.closed = True


async def read(stream: PacedStream) -> list[bytes]:
    return [piece async for piece in stream]


def test_chunks_of_a_packet_leave_together():
    async def story():
        packets = [[chat(f"{n}a"), chat(f"{n}b")] for n in range(20)]
        pieces = await read(PacedStream(Source(*packets), 0.02))
        text = "".join(x["choices"][0]["delta"]["content"] for x in events(b"".join(pieces)))
        assert text == "".join(f"{n}a{n}b" for n in range(20))
        assert len(events(b"".join(pieces))) <= 21  # one for each packet, and the very first word

    asyncio.run(story())


def test_a_failure_comes_after_what_was_heard():
    async def story():
        stream = PacedStream(Source([b"data: 1\n\n", b"data: hal"], fail=httpx2.ReadError("cut")))
        heard = []
        with pytest.raises(httpx2.ReadError, match="cut"):
            async for piece in stream:
                heard.append(piece)
        assert b"".join(heard) == b"data: 1\n\ndata: hal"

    asyncio.run(story())


def test_closing_it_ends_the_reading_at_once():
    async def story():
        source = Source([b"data: 1\n\n"], endless=True)
        stream = PacedStream(source, 0.01)
        pieces = aiter(stream)
        assert await anext(pieces) == b"data: 1\n\n"
        await pieces.aclose()
        await stream.aclose()
        assert source.closed and stream._task.done()

    asyncio.run(story())


def test_a_reader_that_is_slow_makes_the_network_wait():
    async def story():
        large = b"data: " + b"x" * MOST + b"\n\n"
        source = Source(*([large] for _ in range(5)))
        stream = PacedStream(source, 0)
        total = 0
        async for piece in stream:
            total += len(piece)
            for _ in range(20):
                await asyncio.sleep(0)
            assert stream._size <= 2 * len(large)
        assert total == 5 * len(large)

    asyncio.run(story())
