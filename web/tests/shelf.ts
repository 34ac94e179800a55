/** A storage in memory, with the interface of the browser's. */
import type { Shelf } from "@/model/outbox";

export class MemoryShelf implements Shelf {
  private readonly rows = new Map<string, string>();
  room = Infinity;

  get length(): number {
    return this.rows.size;
  }
  key(index: number): string | null {
    return [...this.rows.keys()][index] ?? null;
  }
  getItem(key: string): string | null {
    return this.rows.get(key) ?? null;
  }
  setItem(key: string, value: string): void {
    const used = [...this.rows].reduce((sum, [name, row]) => sum + (name === key ? 0 : row.length), 0);
    if (used + value.length > this.room) throw new Error("QuotaExceededError");
    this.rows.set(key, value);
  }
  removeItem(key: string): void {
    this.rows.delete(key);
  }
}
