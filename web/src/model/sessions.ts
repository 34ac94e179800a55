/** The list of sessions: whoever needs you first, then who works, then the rest by age. */
import type { SessionOut } from "@/wire/types.gen";

export type Group = "needs" | "working" | "pinned" | "recent";

export const GROUPS: readonly { group: Group; title: string }[] = [
  { group: "needs", title: "Needs you" },
  { group: "working", title: "Working" },
  { group: "pinned", title: "Pinned" },
  { group: "recent", title: "Recent" },
];

export function groupOf(session: SessionOut): Group {
  if (session.needs_you) return "needs";
  if (session.run !== null) return "working";
  return session.pinned ? "pinned" : "recent";
}

/** When it last did something. Looking at it, naming it, pinning it are not its doing. */
export function activeAt(session: SessionOut): string {
  return session.run === null ? (session.last_stop?.at ?? session.updated_at) : session.updated_at;
}

/** In the order in which they are shown; each group newest first. */
export function arranged(sessions: Iterable<SessionOut>, filter: string): SessionOut[] {
  const rank = new Map(GROUPS.map(({ group }, index) => [group, index]));
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  return [...sessions]
    .filter((session) => !session.archived && !session.trashed && matches(session, words))
    .sort(
      (a, b) =>
        rank.get(groupOf(a))! - rank.get(groupOf(b))! || (activeAt(a) < activeAt(b) ? 1 : -1),
    );
}

function matches(session: SessionOut, words: string[]): boolean {
  if (words.length === 0) return true;
  const { title, agent, model, status, tags, workspace, id } = session;
  const text = [id, title, agent, model, status, ...tags, workspace.branch, workspace.path];
  const haystack = text.join(" ").toLowerCase();
  return words.every((word) => haystack.includes(word));
}

/** The sessions by id, with this one as it is now. */
export function noted(sessions: ReadonlyMap<string, SessionOut>, session: SessionOut): Map<string, SessionOut> {
  const next = new Map(sessions);
  next.set(session.id, session);
  return next;
}
