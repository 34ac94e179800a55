// spec: K1
import { expect, test } from "vitest";
import { type DiffRow, diffRows } from "@/model/patch";
import type { FileOut } from "@/wire/types.gen";

const file = (changes: Partial<FileOut>): FileOut => ({
  path: "a.py",
  status: "modified",
  before: "",
  binary: false,
  added: 1,
  removed: 1,
  patch: "",
  truncated: false,
  ...changes,
});
const PATCH = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -3,2 +3,3 @@ def f():\n one\n-two\n+--- two\n+three\n\\ No newline at end of file\n";
const lines = (rows: DiffRow[]) => rows.flatMap((row) => (row.row === "line" ? [[row.sign, row.was, row.is, row.text]] : []));

test("lines have their numbers on both sides, and the patch's head is not one of them", () => {
  expect(lines(diffRows([file({ patch: PATCH })], new Set()))).toEqual([
    [" ", 3, 3, "one"],
    ["-", 4, null, "two"],
    ["+", null, 4, "--- two"],
    ["+", null, 5, "three"],
  ]);
});

test("a folded file has its head and nothing else", () => {
  expect(diffRows([file({ patch: PATCH })], new Set(["a.py"])).map((row) => row.row)).toEqual(["file"]);
});

test("what has no lines says why", () => {
  const notes = (given: Partial<FileOut>) => diffRows([file(given)], new Set()).flatMap((row) => (row.row === "note" ? [row.text] : []));
  expect(notes({ binary: true })).toEqual(["Binary file"]);
  expect(notes({ status: "renamed" })).toEqual(["Renamed, not changed"]);
  expect(notes({ patch: PATCH, truncated: true })).toEqual(["No newline at the end", "The rest of this file is not shown"]);
});

test("all keys are different, or the list mixes up its rows", () => {
  const rows = diffRows([file({ patch: PATCH }), file({ path: "b.py", patch: PATCH })], new Set());
  expect(new Set(rows.map((row) => row.key)).size).toBe(rows.length);
});
