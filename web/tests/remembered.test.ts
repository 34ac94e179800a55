// spec: K4
import { expect, test } from "vitest";
import { SHOWN_BYTES, draftOf, keepDraft, lastOf, recall, remember } from "@/model/remembered";
import type { Item } from "@/wire/types.gen";
import { assistant, notice, session, user } from "./made";
import { MemoryShelf } from "./shelf";

const page = (items: Item[], at = 0) => ({ epoch: "e", seq: 7, run: 3, at, document: session(), items });

test("what was shown comes back with its cursor", () => {
  const shelf = new MemoryShelf();
  remember(shelf, "s", page([notice("a", 1)]));
  expect(recall(shelf, "s")).toEqual(page([notice("a", 1)]));
  expect(recall(shelf, "other")).toBeNull();
});

test("at most fifteen kilobytes of it, the newest", () => {
  const items = Array.from({ length: 100 }, (_, n) => user(`u${n}`, n, "x".repeat(1_000)));
  const found = lastOf(items, SHOWN_BYTES);
  expect(JSON.stringify(found).length).toBeLessThanOrEqual(SHOWN_BYTES + 2);
  expect(found.at(-1)?.id).toBe("u99");
  expect(found.length).toBeGreaterThan(10);
});

test("one message that is too long alone keeps its end, where the reader was", () => {
  const found = lastOf([assistant("t", 1, 1, `${"x".repeat(40_000)}the end`)], SHOWN_BYTES);
  expect(JSON.stringify(found).length).toBeLessThanOrEqual(SHOWN_BYTES);
  expect(found[0]?.kind === "assistant" && found[0].text.endsWith("the end")).toBe(true);
});

test("a full storage makes room by forgetting other pages, never a draft", () => {
  const shelf = new MemoryShelf();
  keepDraft(shelf, "one", "typed");
  for (let n = 0; n < 8; n += 1) remember(shelf, `s${n}`, page([user("u", 1, "x".repeat(2_000))], n));
  shelf.room = 20_000;
  remember(shelf, "last", page([user("u", 1, "y".repeat(2_000))], 99));
  expect(recall(shelf, "last")).not.toBeNull();
  expect(draftOf(shelf, "one")).toBe("typed");
});

test("twenty sessions are remembered; the longest unseen goes first", () => {
  const shelf = new MemoryShelf();
  for (let n = 0; n < 25; n += 1) remember(shelf, `s${n}`, page([notice("a", 1)], n));
  expect(recall(shelf, "s4")).toBeNull();
  expect(recall(shelf, "s5")).not.toBeNull();
  expect(shelf.length).toBe(20);
});

test("something else under our name is not believed", () => {
  const shelf = new MemoryShelf();
  shelf.setItem("holdfast:page:s", "not json");
  expect(recall(shelf, "s")).toBeNull();
  shelf.setItem("holdfast:page:s", '{"items": 3}');
  expect(recall(shelf, "s")).toBeNull();
});
