// spec: J2
import { expect, test } from "vitest";
import { type ItemList, before, put, standing, stream } from "@/model/items";
import { assistant, delta, notice } from "./made";

const ids = (items: ItemList): string[] => items.map((item) => item.id);
const textOf = (items: ItemList, id: string): string => {
  const item = items.find((each) => each.id === id);
  return item?.kind === "assistant" ? item.text : "";
};

test("an item that is not known goes where its place says, whatever the order of arrival", () => {
  const items = put([], [notice("c", 3), notice("a", 1), notice("b", 2)], false);
  expect(ids(items)).toEqual(["a", "b", "c"]);
});

test("of two at one place the id decides", () => {
  expect(ids(put([notice("b", 1)], [notice("c", 1), notice("a", 1)], false))).toEqual(["a", "b", "c"]);
});

test("an item that is known is replaced, and an earlier version of it is not taken", () => {
  const items = put([notice("a", 1, 5, "later")], [notice("a", 1, 4, "earlier")], false);
  expect(items).toEqual([notice("a", 1, 5, "later")]);
  expect(put(items, [notice("a", 1, 6, "latest")], false)).toEqual([notice("a", 1, 6, "latest")]);
});

test("an item that moved is where it is now, once", () => {
  const items = put([notice("plan", 1), notice("b", 2)], [notice("plan", 3, 9)], false);
  expect(ids(items)).toEqual(["b", "plan"]);
});

test("what lies before the oldest that is loaded waits for its page", () => {
  expect(ids(put([notice("d", 4)], [notice("a", 1)], true))).toEqual(["d"]);
  expect(ids(put([notice("d", 4)], [notice("a", 1)], false))).toEqual(["a", "d"]);
});

test("saying everything twice changes nothing", () => {
  const said = [notice("a", 1), assistant("t", 2, 2, "words"), notice("b", 3)];
  expect(put(put([], said, false), said, false)).toEqual(said);
});

test("an earlier page goes in front, and what is in both stays as it is here", () => {
  const items = before([notice("b", 2, 9, "later"), notice("c", 3)], [notice("a", 1), notice("b", 2, 2, "earlier")]);
  expect(items.map((item) => (item.kind === "notice" ? item.text : ""))).toEqual(["a", "later", "c"]);
});

test("a text comes out whole from pieces that come twice, overlapping and late", () => {
  let items: ItemList = [assistant("t", 1, 1, "")];
  for (const [offset, text] of [[0, "one "], [0, "one "], [2, "e two "], [4, "two "], [8, "three"], [0, "one"]] as const) {
    items = stream(items, delta("t", offset, text));
  }
  expect(textOf(items, "t")).toBe("one two three");
});

test("a piece behind a hole is left out: the whole item comes", () => {
  const items = stream([assistant("t", 1, 1, "one ")], delta("t", 8, "three"));
  expect(textOf(items, "t")).toBe("one ");
});

test("offsets count as strings do here, with two units for an emoji", () => {
  const items = stream([assistant("t", 1, 1, "🙂")], delta("t", 2, "!"));
  expect(textOf(items, "t")).toBe("🙂!");
});

test("live text is shown before the journal knows its item, and then becomes that item", () => {
  const early = stream([notice("a", 1)], delta("t", 0, "Hel"));
  expect(textOf(early, "t")).toBe("Hel");
  const known = put(early, [assistant("t", 2, 2, "H")], false);
  expect(ids(known)).toEqual(["a", "t"]);
  expect(textOf(known, "t")).toBe("Hel");
});

test("the journal is behind the live text and takes no words off the screen, until it is finished", () => {
  const items = [assistant("t", 1, 1, "Hello wor")];
  expect(textOf(put(items, [assistant("t", 1, 2, "Hello")], false), "t")).toBe("Hello wor");
  expect(textOf(put(items, [assistant("t", 1, 2, "Hello!", false)], false), "t")).toBe("Hello!");
  expect(textOf(put(items, [assistant("t", 1, 2, "Other")], false), "t")).toBe("Other");
});

const rewound = (id: string, place: number, since: number | null) =>
  ({ kind: "rewound", id, seq: place, place, at: "", text: "", round: 1, since }) as const;

test("what a rewind has cut away is not shown; what came before it and after it is", () => {
  const items = [notice("a", 1), notice("b", 2), notice("c", 3), rewound("r", 4, 2), notice("d", 5)];
  expect(ids(standing(items))).toEqual(["a", "r", "d"]);
});

test("a rewind may go back over another one", () => {
  const first = [notice("a", 1), notice("b", 2), rewound("r", 3, 2), notice("c", 4)];
  expect(ids(standing([...first, rewound("s", 5, 4)]))).toEqual(["a", "r", "s"]);
  expect(ids(standing([...first, rewound("s", 5, 2)]))).toEqual(["a", "s"]);
});

test("a rewind of the files alone takes no words away", () => {
  const items = [notice("a", 1), rewound("r", 2, null)];
  expect(standing(items)).toBe(items);
});
