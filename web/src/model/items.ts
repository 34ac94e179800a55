/**
 * What is shown of one session: a list of items in the order of `place`, then `id`.
 *
 * Rule 1: an item that is known is replaced, and put elsewhere if its place says so; one that is not
 *         known is put in; one from before the oldest that is loaded comes with its page.
 * Rule 2: of two versions of one item the one with the higher `seq` is right. While it streams its text
 *         only grows: the journal is a moment behind the live text, and takes no words off the screen.
 * Rule 3: a delta that was seen before changes nothing; one that leaves a hole is left out, because
 *         the whole item comes.
 * Nothing here knows why an item is there.
 */
import type { AssistantItem, Delta, Item } from "@/wire/types.gen";

export type ItemList = readonly Item[];

export function put(items: ItemList, incoming: ItemList, olderExist: boolean): ItemList {
  if (incoming.length === 0) return items;
  const next = items.slice();
  for (const item of incoming) {
    const at = next.findLastIndex((other) => other.id === item.id);
    const known = next[at];
    if (known && known.seq > item.seq) continue;
    const now = known ? merged(known, item) : item;
    if (known && known.place === item.place) next[at] = now;
    else {
      if (known) next.splice(at, 1);
      else if (olderExist && next[0] && precedes(item, next[0])) continue;
      next.splice(next.findLastIndex((other) => precedes(other, item)) + 1, 0, now);
    }
  }
  return next;
}

/** An earlier page in front; what is in both stays as it is here, which is later news. */
export function before(items: ItemList, older: ItemList): ItemList {
  const here = new Set(items.map((item) => item.id));
  return [...older.filter((item) => !here.has(item.id)), ...items];
}

/** Without what a rewind has cut away: it says itself from where on. */
export function standing(items: ItemList): ItemList {
  let since = Infinity; // of the rewinds further down
  const kept: Item[] = [];
  for (const item of items.toReversed()) {
    if (item.place >= since) continue;
    kept.push(item);
    if (item.kind === "rewound" && item.since !== null) since = item.since;
  }
  return kept.length === items.length ? items : kept.reverse();
}

export function stream(items: ItemList, delta: Delta): ItemList {
  const at = items.findLastIndex((item) => item.id === delta.item);
  const item = items[at];
  if (item === undefined) return delta.offset === 0 ? [...items, begun(delta, items.at(-1))] : items;
  if (item.kind !== "assistant") return items;
  const shown = item[delta.field];
  const end = delta.offset + delta.text.length;
  if (delta.offset > shown.length || end <= shown.length) return items;
  const next = items.slice();
  next[at] = { ...item, [delta.field]: shown.slice(0, delta.offset) + delta.text };
  return next;
}

/** Live text may arrive before the journal says that there is an item: it is shown at once. */
function begun(delta: Delta, last: Item | undefined): AssistantItem {
  const item: AssistantItem = {
    kind: "assistant",
    id: delta.item,
    seq: 0,
    place: (last?.place ?? 0) + 1,
    at: new Date().toISOString(),
    round: 0,
    text: "",
    thinking: "",
    streaming: true,
    model: "",
  };
  return { ...item, [delta.field]: delta.text };
}

function merged(shown: Item, item: Item): Item {
  if (shown.kind !== "assistant" || item.kind !== "assistant" || !item.streaming) return item;
  return {
    ...item,
    text: longer(shown.text, item.text),
    thinking: longer(shown.thinking, item.thinking),
  };
}

const longer = (shown: string, saved: string): string => (shown.startsWith(saved) ? shown : saved);

const precedes = (a: Item, b: Item): boolean =>
  a.place < b.place || (a.place === b.place && a.id < b.id);
