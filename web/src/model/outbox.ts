/**
 * What was asked for and not yet answered. Kept in the browser, so that a command given without a
 * network, or a moment before the phone was locked, is neither lost nor done twice.
 *
 * Rule 1: one key per command: two tabs that write at once cannot lose each other's.
 * Rule 2: a command is about something (this run, this stop). When that is gone, it is not meant any
 *         more: a Stop that waited an hour must not stop the run of now.
 * Rule 3: what the user typed is always meant.
 */
import type { Command } from "@/wire/frames";
import type { SessionOut } from "@/wire/types.gen";

export interface Kept {
  command: Command;
  about: string | null; // see `subject`
  at: number;
}

export interface Shelf {
  readonly length: number;
  key(index: number): string | null;
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

const PREFIX = "holdfast:outbox:";

export function keep(shelf: Shelf, kept: Kept): void {
  shelf.setItem(PREFIX + kept.command.id, JSON.stringify(kept));
}

export function forget(shelf: Shelf, id: string): void {
  shelf.removeItem(PREFIX + id);
}

/** Oldest first. Whatever cannot be read is thrown away: it was not ours. */
export function kept(shelf: Shelf, session: string): Kept[] {
  const found: Kept[] = [];
  for (const key of keys(shelf)) {
    const read = parsed(shelf.getItem(key));
    if (read === null) shelf.removeItem(key);
    else if (read.command.session === session) found.push(read);
  }
  return found.sort((a, b) => a.at - b.at);
}

/** What a command of this kind is about, in this session, now. */
export function subject(type: Command["type"], session: SessionOut | null): string | null {
  switch (type) {
    case "cancel":
      return session?.run == null ? null : `run ${session.run}`;
    case "resume":
    case "dismiss":
      return session?.stop == null ? null : `stop ${session.stop.at}`;
    case "prompt":
    case "answer": // bound to its question by its id
      return null;
  }
}

export function stillMeant(kept: Kept, session: SessionOut | null): boolean {
  return kept.about === null || session === null || kept.about === subject(kept.command.type, session);
}

function keys(shelf: Shelf): string[] {
  const all = Array.from({ length: shelf.length }, (_, index) => shelf.key(index));
  return all.filter((key): key is string => key?.startsWith(PREFIX) ?? false);
}

function parsed(text: string | null): Kept | null {
  try {
    const read = JSON.parse(text ?? "") as Kept;
    return typeof read.command.id === "string" && typeof read.command.session === "string" ? read : null;
  } catch {
    return null;
  }
}
