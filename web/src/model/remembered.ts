/**
 * What only the browser has, written down in one go when the page may be about to die (SPEC K4):
 * the draft, the cursor, and the last of what was shown. It buys an instant repaint and keeps what
 * was typed; the truth is the journal's, and comes a moment later.
 */
import type { ItemList } from "@/model/items";
import type { Shelf } from "@/model/outbox";
import type { Item, SessionOut } from "@/wire/types.gen";

export const SHOWN_BYTES = 15_000;
const SESSIONS = 20; // remembered at once; the longest unseen goes first

export interface Remembered {
  epoch: string;
  seq: number;
  run: number | null;
  at: number;
  document: SessionOut | null;
  items: Item[];
}

const pageKey = (session: string): string => `holdfast:page:${session}`;
const draftKey = (session: string): string => `holdfast:draft:${session}`;

export function remember(shelf: Shelf, session: string, page: Remembered): void {
  const text = JSON.stringify({ ...page, items: lastOf(page.items, SHOWN_BYTES) });
  try {
    shelf.setItem(pageKey(session), text);
  } catch {
    forgetOldest(shelf, 0); // full: room for this one matters more than a repaint of the others
    shelf.setItem(pageKey(session), text);
  }
  forgetOldest(shelf, SESSIONS);
}

export function recall(shelf: Shelf, session: string): Remembered | null {
  try {
    const page = JSON.parse(shelf.getItem(pageKey(session)) ?? "null") as Remembered | null;
    return page !== null && Array.isArray(page.items) ? page : null;
  } catch {
    return null;
  }
}

export function draftOf(shelf: Shelf, session: string): string {
  return shelf.getItem(draftKey(session)) ?? "";
}

export function keepDraft(shelf: Shelf, session: string, text: string): void {
  if (text) shelf.setItem(draftKey(session), text);
  else shelf.removeItem(draftKey(session));
}

/** The newest items that fit. One that is too long alone keeps its end, where the reader was. */
export function lastOf(items: ItemList, bytes: number): Item[] {
  const found: Item[] = [];
  let left = bytes;
  for (let index = items.length - 1; index >= 0; index -= 1) {
    const item = items[index]!;
    const size = JSON.stringify(item).length;
    if (size > left) {
      const cut = found.length === 0 ? shortened(item, left, size) : null;
      if (cut) found.unshift(cut);
      break;
    }
    found.unshift(item);
    left -= size;
  }
  return found;
}

function shortened(item: Item, bytes: number, size: number): Item | null {
  if (item.kind !== "assistant" && item.kind !== "user") return null;
  const keep = Math.max(0, Math.floor((item.text.length * bytes) / size) - 200);
  const cut = { ...item, text: item.text.slice(-keep) };
  return cut.kind === "assistant" ? { ...cut, thinking: "" } : cut;
}

function forgetOldest(shelf: Shelf, keep: number): void {
  const pages: { key: string; at: number }[] = [];
  for (let index = 0; index < shelf.length; index += 1) {
    const key = shelf.key(index);
    if (!key?.startsWith(pageKey(""))) continue;
    const page = recall(shelf, key.slice(pageKey("").length));
    pages.push({ key, at: page?.at ?? 0 });
  }
  pages.sort((a, b) => b.at - a.at);
  for (const page of pages.slice(keep)) shelf.removeItem(page.key);
}
