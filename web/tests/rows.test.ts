// spec: K6
import { expect, test } from "vitest";
import { rowsOf } from "@/features/chat/rows";
import type { BannerOut, StopItem, ToolItem } from "@/wire/types.gen";
import { assistant, notice, session } from "./made";

const stop = (reason: StopItem["reason"]): StopItem => ({
  kind: "stop",
  id: "z",
  seq: 9,
  place: 9,
  at: "",
  reason,
  class: null,
  title: "",
  text: "",
  phase: "idle",
  round: 1,
  resumes_at: null,
  percent: null,
  dismissed: false,
});
const banner = (reason: BannerOut["reason"]): BannerOut => ({ reason }) as BannerOut;
const keys = (...given: Parameters<typeof rowsOf>): string[] => rowsOf(...given).map((row) => row.key);

test("a finished message without words is not drawn", () => {
  expect(keys([assistant("t", 1, 1, "", false), notice("a", 2)], [], session())).toEqual(["a"]);
});

test("the stop that the banner tells is not told twice; once it is resumed, the line is there", () => {
  expect(keys([notice("a", 1), stop("error")], [], session({ banner: banner("error") }))).toEqual(["a"]);
  expect(keys([notice("a", 1), stop("error")], [], session())).toEqual(["a", "z"]);
});

test("work is shown until words come, a tool runs or a question is open", () => {
  const running = session({ run: 1 });
  const tool = { kind: "tool", id: "c", seq: 2, place: 2, status: "running", name: "shell" } as ToolItem;
  expect(keys([notice("a", 1)], [], running)).toEqual(["a", "working"]);
  expect(keys([assistant("t", 1, 1, "words")], [], running)).toEqual(["t"]);
  expect(keys([tool], [], running)).toEqual(["c"]);
  const asks = session({ run: 1, pending: [{ id: "d", kind: "", title: "", text: "", options: [], call: null }] });
  expect(keys([notice("a", 1)], [], asks)).toEqual(["a"]);
});

test("what was said and is not in the journal yet stands at the end", () => {
  const command = { type: "prompt", id: "p", session: "s", text: "hi", input: "i" } as const;
  expect(keys([notice("a", 1)], [{ command, about: null, state: "queued", failure: null }], session())).toEqual(["a", "p"]);
});
