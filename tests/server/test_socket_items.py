"""The items view of the socket: what was missed, then what happens; all sessions; commands once."""

import asyncio
import json
from contextlib import asynccontextmanager

from tests.server.place import placed
from tests.server.test_socket import line


class Page:
    """What a page does with what it hears."""

    def __init__(self, line):
        self.line, self.items, self.seq, self.document = line, {}, 0, None

    async def until(self, condition):
        while not condition(self):
            frame = await self.line.hear("items", "delta")
            if frame["type"] == "delta":
                self.add(frame)
                continue
            assert frame["seq"] >= self.seq
            self.seq, self.document = frame["seq"], frame["document"] or self.document
            for item in frame["items"]:
                assert item["seq"] <= frame["seq"]
                assert item["seq"] >= self.items.get(item["id"], item)["seq"]
                self.items[item["id"]] = item
        return self

    def add(self, frame):
        item = self.items[frame["item"]]
        before = item[frame["field"]].encode("utf-16-le")[: 2 * frame["offset"]]
        assert len(before) == 2 * frame["offset"], "a piece is missing"
        item[frame["field"]] = before.decode("utf-16-le") + frame["text"]

    @property
    def kinds(self):
        return [item["kind"] for item in sorted(self.items.values(), key=lambda i: i["place"])]


def over(page):
    return "stop" in page.kinds and page.document["run"] is None


@asynccontextmanager
async def watching(place, id, **cursor):
    async with line(place) as client:
        await client.say("subscribe", id, view="items", **cursor)
        hello = await client.hear("hello")
        yield Page(client), hello


def visible(items):
    return [i for i in items if i["kind"] != "assistant" or i["text"] or i["thinking"]]


async def test_a_page_that_watches_has_what_a_page_that_asks_has(place):  # spec: J2
    id = place.create(None)
    async with watching(place, id) as (page, hello):
        assert hello["reset"] is False
        await page.line.say("prompt", id, text="go 🐚")
        await page.until(over)
    asked = place.ask("GET", f"/api/sessions/{id}/items")
    ordered = sorted(page.items.values(), key=lambda item: (item["place"], item["id"]))
    assert visible(ordered) == asked["items"]
    assert asked["more"] is False and asked["epoch"] == hello["epoch"]
    assert asked["items"][0]["kind"] == "user"
    assert {"user", "assistant", "tool", "stop"} == set(page.kinds)
    assert "resume" in asked["document"]["actions"] and "cancel" not in asked["document"]["actions"]


async def test_whoever_comes_back_gets_what_it_missed_and_nothing_twice(place):  # spec: J2
    place.hold()
    id = place.create(None)
    async with watching(place, id) as (page, hello):
        await page.line.say("prompt", id, text="go")
        await page.until(lambda p: "tool" in p.kinds)
        cursor, had = page.seq, dict(page.items)
    place.release()
    await asyncio.to_thread(place.stopped, id)
    async with watching(place, id, after=cursor, epoch=hello["epoch"]) as (again, _):
        again.items = dict(had)
        frame = await again.line.hear("items")
        assert all(i["seq"] > cursor or i.get("streaming") for i in frame["items"])
        again.items |= {item["id"]: item for item in frame["items"]}
    asked = place.ask("GET", f"/api/sessions/{id}/items")["items"]
    ordered = sorted(again.items.values(), key=lambda item: (item["place"], item["id"]))
    assert visible(ordered) == asked


async def test_a_cursor_of_another_history_gets_the_newest_page(place):  # spec: J2
    id = place.create()
    place.stopped(id)
    async with watching(place, id, after=3, epoch="another") as (page, hello):
        assert hello["reset"] is True
        await page.until(over)
        assert page.kinds[0] == "user"


def test_pages_upward_are_the_whole(place):  # spec: K6
    id = place.create()
    place.stopped(id)
    for n in range(4):
        place.ask("POST", f"/api/sessions/{id}/prompt", {"text": f"more {n}"})
        place.stopped(id)
    whole = place.ask("GET", f"/api/sessions/{id}/items?limit=500")["items"]
    found, before = [], ""
    while True:
        answer = place.ask("GET", f"/api/sessions/{id}/items?limit=3{before}")
        found = answer["items"] + found
        if not answer["more"]:
            break
        before = f"&before={answer['items'][0]['id']}"
    assert found == whole and len(whole) > 10


async def test_all_sessions_are_watched_by_one_subscription(place):  # spec: J2 K1
    async with line(place) as client:
        await client.say("subscribe", "*", view="items")
        assert (await client.hear("hello"))["session"] == "*"
        id = await asyncio.to_thread(place.create)
        while True:
            frame = await client.hear("items")
            assert frame["items"] == []
            if frame["session"] == id and frame["document"]["last_stop"]:
                break
        assert frame["document"]["id"] == id


async def test_a_command_said_twice_is_done_once(place):  # spec: J2 P8
    id = place.create(None)
    said = {"type": "prompt", "session": id, "id": "0123456789abcdef-1", "text": "once"}
    results = []
    for _ in range(2):
        async with line(place) as client:
            await client._socket.send(json.dumps(said))
            results.append(await client.hear("result"))
    assert results[0] == results[1] and results[0]["ok"]["run"] == 1
    place.stopped(id)
    events = place.ask("GET", f"/api/sessions/{id}/events")["events"]
    assert [e["type"] for e in events].count("input_accepted") == 1


async def test_it_is_done_once_also_by_the_next_daemon(tmp_path):  # spec: P8
    said = {"type": "prompt", "id": "0123456789abcdef-2", "text": "once"}
    with placed(tmp_path) as place:
        id = place.create(None)
        for _ in range(2):
            async with line(place) as client:
                await client._socket.send(json.dumps({**said, "session": id}))
                assert "ok" in await client.hear("result")
            place.stopped(id)
            place.kill()
            place.start()
        events = place.ask("GET", f"/api/sessions/{id}/events")["events"]
        assert [e["type"] for e in events].count("input_accepted") == 1


def test_a_call_is_had_whole(place):  # spec: K6
    id = place.create()
    place.stopped(id)
    items = place.ask("GET", f"/api/sessions/{id}/items")["items"]
    tool = next(item for item in items if item["kind"] == "tool")
    found = place.ask("GET", f"/api/sessions/{id}/calls/{tool['call']}")
    assert (found["name"], found["output"]) == (tool["name"], tool["output"])
