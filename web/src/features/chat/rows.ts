/** The lines of the conversation: what the journal shows, what was said and is not there yet, what goes on. */
import { type ItemList, standing } from "@/model/items";
import type { Sent } from "@/store/courier";
import type { Item, SessionOut } from "@/wire/types.gen";

export type Row =
  | { key: string; row: "item"; item: Item }
  | { key: string; row: "sent"; sent: Sent }
  | { key: string; row: "working"; session: SessionOut };

export function rowsOf(items: ItemList, sent: readonly Sent[], session: SessionOut | null): Row[] {
  const rows: Row[] = [];
  const last = items.at(-1);
  const told = last?.kind === "stop" && last.reason === session?.banner?.reason ? last : null; // by the banner
  for (const item of standing(items)) {
    if (item !== told && !isEmpty(item)) rows.push({ key: item.id, row: "item", item });
  }
  const writes = last?.kind === "assistant" && last.streaming && last.text !== "";
  const calls = last?.kind === "tool" && last.status === "running"; // it shows that itself
  const asks = (session?.pending.length ?? 0) > 0;
  if (session?.run != null && !writes && !calls && !asks) rows.push({ key: "working", row: "working", session });
  for (const each of sent) {
    if (each.command.type === "prompt") rows.push({ key: each.command.id, row: "sent", sent: each });
  }
  return rows;
}

/** A finished message without words; what a plan or a question shows itself. */
function isEmpty(item: Item): boolean {
  if (item.kind === "assistant") return !item.text && !item.thinking;
  if (item.kind !== "tool" || item.failed) return false;
  return item.name === "ask_user" || (item.name === "update_plan" && item.status === "finished");
}
