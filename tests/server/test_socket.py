"""The one socket: what was missed, then what happens; commands with answers."""

import asyncio
import json
from contextlib import asynccontextmanager

from websockets.asyncio.client import connect


class Line:
    def __init__(self, socket):
        self._socket = socket

    async def say(self, type, session, **given):
        await self._socket.send(json.dumps({"type": type, "id": "1", "session": session, **given}))

    async def hear(self, *types):
        """The next frame of these types."""
        async with asyncio.timeout(60):
            while True:
                frame = json.loads(await self._socket.recv())
                if frame["type"] in types:
                    return frame

    async def events(self, last):
        """Everything up to the first event of that type."""
        found = []
        while last not in [event["type"] for event in found]:
            frame = await self.hear("events")
            first, seq = frame["events"][0]["seq"], frame["events"][-1]["seq"]
            assert (frame["first"], frame["seq"]) == (first, seq)
            found += frame["events"]
        return found[: [event["type"] for event in found].index(last) + 1]


@asynccontextmanager
async def line(place):
    address = f"ws://127.0.0.1:{place.port}/api/ws"
    headers = {"Authorization": f"Bearer {place.token}"}
    async with connect(address, additional_headers=headers, close_timeout=1) as socket:
        yield Line(socket)


async def test_a_subscriber_gets_what_it_missed_and_then_what_happens(place):  # spec: J2
    id = place.create(None)
    async with line(place) as client:
        await client.say("subscribe", id)
        assert (await client.hear("result"))["ok"] == {"session": id}
        hello = await client.hear("hello")
        assert (hello["head"], hello["reset"]) == (1, False)
        await client.say("prompt", id, text="go")
        found = await client.events("run_stopped")
        assert [e["seq"] for e in found] == list(range(1, len(found) + 1))
    async with line(place) as client:
        await client.say("subscribe", id, after=5, epoch=hello["epoch"])
        rest = await client.events("run_stopped")
        assert rest == found[5:]


async def test_a_cursor_of_another_history_starts_again(place):  # spec: J2
    id = place.create()
    place.stopped(id)
    async with line(place) as client:
        await client.say("subscribe", id, after=3, epoch="another")
        assert (await client.hear("hello"))["reset"] is True
        assert (await client.events("run_stopped"))[0]["seq"] == 1
        await client.say("subscribe", id, after=10_000)
        assert (await client.hear("hello"))["reset"] is True


async def test_every_command_gets_one_result_with_its_id(place):  # spec: J2 M1
    id = place.create()
    place.stopped(id)
    async with line(place) as client:
        for given, code in (
            ({"type": "cancel", "session": id}, "refused"),
            ({"type": "cancel", "session": "ffffffffffff"}, "not_found"),
            ({"type": "nonsense", "session": id}, "invalid"),
            ({"type": "prompt", "session": id, "text": "look", "images": [{}]}, "invalid"),
            ({"type": "subscribe", "session": id, "view": "nothing"}, "invalid"),
        ):
            await client._socket.send(json.dumps({"id": "mine", **given}))
            result = await client.hear("result")
            assert (result["id"], result["error"]["code"]) == ("mine", code)
        await client._socket.send("{")
        assert (await client.hear("result"))["error"]["code"] == "invalid"
        await client.say("session.status", id)
        assert (await client.hear("result"))["ok"]["state"] == "WAITING_FOR_INPUT"
        await client.say("resume", id)
        assert (await client.hear("result"))["ok"]["run"] == 2


async def test_a_client_that_does_not_read_holds_up_nobody(place):  # spec: J2
    id = place.create(None)
    async with line(place) as lazy:
        for _ in range(50):
            await lazy.say("subscribe", id)
        place.ask("POST", f"/api/sessions/{id}/prompt", {"text": "go"})
        stopped = await asyncio.to_thread(place.stopped, id)
        assert stopped["last_stop"]["reason"] == "completed"
