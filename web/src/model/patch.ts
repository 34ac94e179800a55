/**
 * A unified patch as rows that can be drawn one by one. Twenty thousand lines are read once, in order,
 * without looking back; only the rows on the screen are drawn.
 */
import type { FileOut } from "@/wire/types.gen";

export type DiffRow =
  | { row: "file"; key: string; file: FileOut; index: number }
  | { row: "hunk"; key: string; text: string }
  | { row: "line"; key: string; sign: " " | "+" | "-"; was: number | null; is: number | null; text: string; path: string }
  | { row: "note"; key: string; text: string; path: string | null };

/** Rows of all files; of folded ones only the head. */
export function diffRows(files: readonly FileOut[], folded: ReadonlySet<string>): DiffRow[] {
  const rows: DiffRow[] = [];
  files.forEach((file, index) => {
    rows.push({ row: "file", key: file.path, file, index });
    if (!folded.has(file.path)) fileRows(file, rows);
  });
  return rows;
}

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)$/;

function fileRows(file: FileOut, rows: DiffRow[]): void {
  const { path } = file;
  const note = (text: string, whole: boolean): void => {
    rows.push({ row: "note", key: `${path}!${text}`, text, path: whole ? path : null });
  };
  if (file.binary) return note("Binary file", false);
  let was = 0;
  let is = 0;
  let inside = false; // before the first hunk stands the patch's own head
  let number = 0;
  for (const line of lines(file.patch)) {
    const hunk = HUNK.exec(line);
    number += 1;
    const key = `${path}:${number}`;
    if (hunk) {
      inside = true;
      was = Number(hunk[1]);
      is = Number(hunk[2]);
      rows.push({ row: "hunk", key, text: hunk[3] ?? "" });
    } else if (inside) {
      const sign = line[0];
      const text = line.slice(1);
      if (sign === "+") rows.push({ row: "line", key, sign, was: null, is: is++, text, path });
      else if (sign === "-") rows.push({ row: "line", key, sign, was: was++, is: null, text, path });
      else if (sign === "\\") note("No newline at the end", false);
      else rows.push({ row: "line", key, sign: " ", was: was++, is: is++, text, path });
    }
  }
  if (file.truncated) note("The rest of this file is not shown", true);
  else if (!inside) note(file.status === "renamed" ? "Renamed, not changed" : "No lines changed", false);
}

function* lines(text: string): Generator<string> {
  let start = 0;
  while (start < text.length) {
    const end = text.indexOf("\n", start);
    yield text.slice(start, end < 0 ? text.length : end);
    if (end < 0) return;
    start = end + 1;
  }
}
