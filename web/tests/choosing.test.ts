import { expect, test } from "vitest";
import { type Chosen, modesOf, problemWith, requested } from "@/model/choosing";
import type { AgentOut, FolderOut } from "@/wire/types.gen";

const chosen: Chosen = { prompt: " go ", folder: "~/shop", agent: "", model: "", mode: "", budget: "", here: false, changes: true };
const place = (state: FolderOut["state"]): FolderOut => ({ path: "/home/me/shop", state, branch: "", uncommitted: 0, says: "No." });

test("what was left open is left to the daemon", () => {
  const asked = requested(chosen, place("ready"), "i");
  expect(asked).toMatchObject({ folder: "/home/me/shop", prompt: "go", agent: null, model: null, mode: null, limits: {} });
  expect(asked).toMatchObject({ here: false, git: true, with_changes: true });
});

test("said again it carries the same names", () => {
  expect(requested(chosen, null, "0123456789abcdef")).toMatchObject({ input: "0123456789abcdef", id: "0123456789ab" });
});

test("a folder without git is worked in as it is, or not at all", () => {
  expect(problemWith(chosen, place("no_git"))).toBe("No.");
  const here = { ...chosen, here: true };
  expect(problemWith(here, place("no_git"))).toBe("");
  expect(requested(here, place("no_git"), "i")).toMatchObject({ here: true, git: false, with_changes: false });
  expect(problemWith(here, place("missing"))).toBe("No.");
  expect(problemWith(chosen, null)).toBe(""); // not looked at yet: the daemon says it
});

test("a budget is a number, with a point or a comma", () => {
  expect(requested({ ...chosen, budget: "2,50" }, null, "i").limits).toEqual({ budget_usd: 2.5 });
  for (const budget of ["much", "-1", "1.2.3"]) expect(problemWith({ ...chosen, budget }, null)).toContain("number of dollars");
});

test("an agent offers the modes that it can be held to", () => {
  const modes = (of: string[] | null) => modesOf(of && ({ modes: of } as AgentOut)).map(({ value }) => value);
  expect(modes(["edits", "full"])).toEqual(["", "edits", "full"]);
  expect(modes(null)).toHaveLength(5);
});
