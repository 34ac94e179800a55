"""JSON-RPC with a process that may do anything: order, limits, noise, and every kind of end."""

# spec: E10, E17, M1

import asyncio
import contextlib
import sys
import time

import msgspec
import pytest

from holdfast.agents.acp.frames import Message, parse
from holdfast.agents.acp.transport import Connection, Gone, RpcFailed, Silent
from holdfast.runtimes.piped import start

PRELUDE = """
import json, os, sys, time, subprocess
def say(**m): print(json.dumps({"jsonrpc": "2.0", **m}), flush=True)
def update(n): say(method="session/update", params={"n": n})
def hear(): return json.loads(sys.stdin.readline())
"""


class Talk:
    """A connection to a little program, and what came of it."""

    def __init__(self, program: str, **options) -> None:
        self.piped = start(
            [sys.executable, "-c", PRELUDE + program],
            cwd="/",
            env={"PATH": "/usr/bin:/bin"},
            cookie="talk:1",
        )
        self.heard: list[Message] = []
        self.ends: list[str] = []
        self.delay = 0.0
        self.connection = Connection(
            self.piped, on_message=self._message, on_gone=self._gone, **options
        )

    async def _wait(self) -> None:
        await asyncio.sleep(self.delay)

    def _message(self, message: Message):
        self.heard.append(message)
        return self._wait() if self.delay else None

    async def _gone(self, gone: Gone) -> None:
        self.ends.append(gone.why)

    def numbers(self) -> list[int]:
        return [msgspec.json.decode(m.params)["n"] for m in self.heard]

    async def ask(self, method="go", limit=10.0):
        return msgspec.json.decode(await self.connection.request(method, {}, limit=limit))


@contextlib.asynccontextmanager
async def talk(program: str, **options):
    talking = Talk(program, **options)
    await talking.connection.open()
    try:
        yield talking
    finally:
        await talking.piped.end()
        talking.connection.close()
        await talking.connection.finished()
        talking.piped.close()


ANSWER = "m = hear(); say(id=m['id'], result={'ok': 1})\n"


async def test_when_an_answer_is_there_every_update_before_it_was_handled():
    program = (
        "m = hear()\nfor n in range(500): update(n)\nsay(id=m['id'], result={'ok': 1})\nhear()"
    )
    async with talk(program) as talking:
        talking.delay = 0.0005  # handling takes a while, as the journal does
        assert {"ok": 1} == await talking.ask()
        assert list(range(500)) == talking.numbers()


NOISE = [
    "",
    "null",
    "123",
    '"s"',
    "[]",
    '[{"id": 1}]',
    "npm WARN old",
    '{"level":"info"}',
    "{broken",
]


async def test_noise_is_counted_and_loses_nothing():
    program = f"for line in {NOISE!r}: print(line, flush=True)\nupdate(1)\n" + ANSWER + "hear()"
    async with talk(program) as talking:
        assert {"ok": 1} == await talking.ask()
        assert [1] == talking.numbers()
        assert len(NOISE) - 1 == talking.connection.noise  # an empty line is nothing at all
        assert "null" == talking.connection.noise_seen[0]


async def test_an_escape_sequence_before_a_message_does_not_lose_it():
    assert parse(b'\x1b]0;title\x07{"id": 1, "result": null}').id == 1


async def test_an_answer_may_give_our_number_back_as_text():
    async with talk("m = hear(); say(id=str(m['id']), result={'ok': 1}); hear()") as talking:
        assert {"ok": 1} == await talking.ask()


async def test_an_error_is_told_with_all_that_came_with_it():
    program = "m = hear(); say(id=m['id'], error={'code': -32603, 'message': 'no', 'data': {'a': 1}}); hear()"
    async with talk(program) as talking:
        with pytest.raises(RpcFailed) as failed:
            await talking.ask()
        assert (-32603, 'no {"a": 1}') == (failed.value.code, str(failed.value))


async def test_a_flood_on_stderr_blocks_nobody_and_its_last_words_are_kept():
    program = "m = hear()\nsys.stderr.write('e' * 4_000_000 + 'the end'); sys.stderr.flush()\nsay(id=m['id'], result={'ok': 1}); hear()"
    async with talk(program) as talking:
        assert {"ok": 1} == await talking.ask()
        kept = talking.connection.stderr()
        assert kept.endswith("the end") and len(kept) <= 65536


async def test_a_line_without_end_is_a_clear_failure():
    program = "m = hear()\nwhile True: os.write(1, b'x' * 65536)"
    async with talk(program, longest_line=1 << 20) as talking:
        with pytest.raises(Gone, match="longer than 1 MB"):
            await talking.ask()
        assert ["It sent a line longer than 1 MB."] == talking.ends


async def test_everybody_who_waits_is_told_of_the_end():
    async with talk("hear(); hear(); hear(); os._exit(7)") as talking:
        asked = [asyncio.create_task(talking.ask()) for _ in range(3)]
        for task in asked:
            with pytest.raises(Gone):
                await task
        with pytest.raises(Gone):  # also whoever asks afterwards
            await talking.ask()
        assert 1 == len(talking.ends)


async def test_the_exit_is_the_end_though_a_grandchild_holds_the_pipe():
    program = (
        "hear(); update(1); subprocess.Popen(['sleep', '60'], start_new_session=True); os._exit(7)"
    )
    async with talk(program) as talking:
        begun = time.monotonic()
        with pytest.raises(Gone):
            await talking.ask()
        assert [1] == talking.numbers() and time.monotonic() - begun < 40


async def test_silence_has_a_limit():
    async with talk("hear(); time.sleep(60)") as talking:
        with pytest.raises(Silent, match="did not answer go within 0 s"):
            await talking.ask(limit=0.2)


async def test_a_long_replay_is_not_silence():
    program = "m = hear()\nfor n in range(8): time.sleep(0.1); update(n)\nsay(id=m['id'], result={'ok': 1}); hear()"
    async with talk(program) as talking:
        assert {"ok": 1} == await talking.ask(limit=0.5)


async def test_what_is_not_handled_yet_is_bounded():
    """The agent says 60 MB; while the first message is handled, reading stops."""
    program = "m = hear()\nline = json.dumps({'method': 'x', 'params': 'y' * 60000})\nfor n in range(1000): print(line)\nsys.stdout.flush(); say(id=m['id'], result={'ok': 1}); hear()"
    async with talk(program) as talking:
        lines = talking.connection._lines
        most = 0

        def message(_message):
            nonlocal most
            most = max(most, lines._bytes)

        talking.connection._on_message = message
        assert {"ok": 1} == await talking.ask(limit=30)
        assert 0 < most < 9 << 20


async def test_a_handler_that_fails_is_the_end_and_says_why():
    async with talk("hear(); update(1); time.sleep(60)") as talking:

        def message(_message):
            raise ValueError("the journal is full")

        talking.connection._on_message = message
        with pytest.raises(Gone, match="ValueError: the journal is full"):
            await talking.ask()


async def test_an_agent_that_reads_nothing_holds_up_nobody():
    async with talk("time.sleep(60)") as talking:
        with pytest.raises(Silent):
            await talking.connection.request("go", {"x": "y" * 4_000_000}, limit=0.3)
