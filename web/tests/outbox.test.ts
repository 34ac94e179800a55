// spec: K4
import { expect, test } from "vitest";
import { type Kept, forget, keep, kept, stillMeant, subject } from "@/model/outbox";
import type { Command } from "@/wire/frames";
import { session, stopped } from "./made";
import { MemoryShelf } from "./shelf";

const prompt = (id: string, at: number, of = "s"): Kept => {
  const command: Command = { type: "prompt", id, session: of, text: id, input: `i${id}` };
  return { command, about: null, at };
};

test("what is kept comes back oldest first, each session for itself, until it is forgotten", () => {
  const shelf = new MemoryShelf();
  keep(shelf, prompt("b", 2));
  keep(shelf, prompt("a", 1));
  keep(shelf, prompt("other", 0, "x"));
  expect(kept(shelf, "s").map(({ command }) => command.id)).toEqual(["a", "b"]);
  forget(shelf, "a");
  expect(kept(shelf, "s").map(({ command }) => command.id)).toEqual(["b"]);
});

test("what cannot be read is thrown away and hides nothing", () => {
  const shelf = new MemoryShelf();
  shelf.setItem("holdfast:outbox:broken", "{");
  shelf.setItem("holdfast:outbox:odd", "{}");
  keep(shelf, prompt("a", 1));
  expect(kept(shelf, "s").map(({ command }) => command.id)).toEqual(["a"]);
  expect(shelf.length).toBe(1);
});

test("a Stop that waited is meant for the run it was pressed for, and no other", () => {
  const command: Command = { type: "cancel", id: "c", session: "s" };
  const pressed: Kept = { command, about: subject("cancel", session({ run: 4 })), at: 0 };
  expect(stillMeant(pressed, session({ run: 4 }))).toBe(true);
  expect(stillMeant(pressed, session({ run: 5 }))).toBe(false);
  expect(stillMeant(pressed, session({ run: null }))).toBe(false);
});

test("a Resume that waited is meant for the stop it was pressed at, and no later one", () => {
  const command: Command = { type: "resume", id: "r", session: "s" };
  const at = session({ stop: stopped("2026-01-01T10:00:00Z") });
  const pressed: Kept = { command, about: subject("resume", at), at: 0 };
  expect(stillMeant(pressed, at)).toBe(true);
  expect(stillMeant(pressed, session({ stop: stopped("2026-01-01T11:00:00Z") }))).toBe(false);
  expect(stillMeant(pressed, session({ stop: null }))).toBe(false);
});

test("what the user typed is always meant", () => {
  expect(stillMeant(prompt("a", 1), session({ run: 9 }))).toBe(true);
});
