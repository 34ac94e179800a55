// spec: K1
import { expect, test } from "vitest";
import { arranged } from "@/model/sessions";
import { session, stopped } from "./made";

const titles = (filter: string, ...all: Parameters<typeof session>): string[] =>
  arranged(all.map((each, n) => session({ id: String(n), ...each })), filter).map((each) => each.title);

test("who needs you comes first, then who works, then what is pinned, then the rest by age", () => {
  const found = arranged(
    [
      session({ id: "1", title: "old", updated_at: "2026-01-01T00:00:00Z" }),
      session({ id: "2", title: "recent", updated_at: "2026-01-03T00:00:00Z" }),
      session({ id: "3", title: "pinned", pinned: true, updated_at: "2026-01-02T00:00:00Z" }),
      session({ id: "4", title: "works", run: 1 }),
      session({ id: "5", title: "asks", run: 1, needs_you: true }),
      session({ id: "6", title: "put away", archived: true, needs_you: true }),
    ],
    "",
  );
  expect(found.map((each) => each.title)).toEqual(["asks", "works", "pinned", "recent", "old"]);
});

test("looking at a session does not move it: its last stop counts, not its last change", () => {
  const found = arranged(
    [
      session({ id: "1", title: "looked at", last_stop: stopped("2026-01-01T00:00:00Z"), updated_at: "2026-01-09T00:00:00Z" }),
      session({ id: "2", title: "later", last_stop: stopped("2026-01-02T00:00:00Z"), updated_at: "2026-01-02T00:00:00Z" }),
    ],
    "",
  );
  expect(found.map((each) => each.title)).toEqual(["later", "looked at"]);
});

test("all words of the filter must be found, anywhere in what is shown", () => {
  expect(titles("CLAUDE parser", { title: "Fix the parser", agent: "claude" })).toEqual(["Fix the parser"]);
  expect(titles("codex parser", { title: "Fix the parser", agent: "claude" })).toEqual([]);
});
