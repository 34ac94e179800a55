"""A provider that only streams: as fast as it is told, each word the moment it was sent.

python bench/provider.py DIALECT SESSIONS_PER_SECOND WORDS: prints its port. Plain HTTP on loopback; one
event, one chunk, one packet per word, as providers send them. A word is the clock's microseconds, so that
whoever reads it knows how old it is.
"""

import asyncio
import contextlib
import json
import sys
import time

CHAT, ANTHROPIC = "chat", "anthropic"


def _event(name, data):
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data)}\n\n".encode()


def _chat(delta, finish=None):
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return _event("", {**chunk, "choices": [choice]})


def _claude(kind, **more):
    return _event(kind, {"type": kind, **more})


def _before(dialect):
    if dialect == CHAT:
        return _chat({"role": "assistant", "content": ""})
    message = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": []}
    message |= {"stop_reason": None, "usage": {"input_tokens": 1, "output_tokens": 1}}
    text = {"type": "text", "text": ""}
    start = _claude("message_start", message=message)
    return start + _claude("content_block_start", index=0, content_block=text)


def _word(dialect, text):
    if dialect == CHAT:
        return _chat({"content": text})
    return _claude("content_block_delta", index=0, delta={"type": "text_delta", "text": text})


def _after(dialect):
    if dialect == CHAT:
        return _chat({}, "stop") + b"data: [DONE]\n\n"
    delta = {"stop_reason": "end_turn", "stop_sequence": None}
    ends = _claude("content_block_stop", index=0)
    ends += _claude("message_delta", delta=delta, usage={"output_tokens": 9})
    return ends + _claude("message_stop")


async def _serve(reader, writer, dialect, rate, words):
    with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(
                int(line.partition(b":")[2])
                for line in head.split(b"\r\n")
                if line.lower().startswith(b"content-length:")
            )
            await reader.readexactly(length)
            await _answer(writer, dialect, rate, words)
    writer.close()


async def _answer(writer, dialect, rate, words):
    def send(event):
        writer.write(b"%x\r\n%s\r\n" % (len(event), event))

    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n")
    writer.write(b"Transfer-Encoding: chunked\r\n\r\n")
    send(_before(dialect))
    begun = time.monotonic()
    for n in range(words):
        await asyncio.sleep(max(0.0, begun + n / rate - time.monotonic()))
        send(_word(dialect, f"{time.monotonic_ns() // 1000} "))
        await writer.drain()
    send(_after(dialect))
    writer.write(b"0\r\n\r\n")
    await writer.drain()


async def main(dialect, rate, words):
    async def connected(reader, writer):
        await _serve(reader, writer, dialect, float(rate), int(words))

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(main(*sys.argv[1:]))
