/**
 * The browser's storage, or memory where it is full or forbidden: what the user typed must go out even
 * then; it only cannot outlive the page.
 */
import type { Shelf } from "@/model/outbox";

export class BrowserShelf implements Shelf {
  private readonly spare = new Map<string, string>();

  get length(): number {
    return this.keys().length;
  }

  key(index: number): string | null {
    return this.keys()[index] ?? null;
  }

  getItem(key: string): string | null {
    return this.spare.get(key) ?? attempt(() => localStorage.getItem(key)) ?? null;
  }

  setItem(key: string, value: string): void {
    const write = () => attempt(() => (localStorage.setItem(key, value), true));
    const kept = write() ?? (this.makeRoom(), write());
    if (kept) this.spare.delete(key);
    else this.spare.set(key, value);
  }

  /** A repaint can be had again; a draft or a command cannot. */
  private makeRoom(): void {
    for (const key of this.keys()) if (key.startsWith("holdfast:page:")) this.removeItem(key);
  }

  removeItem(key: string): void {
    this.spare.delete(key);
    attempt(() => localStorage.removeItem(key));
  }

  private keys(): string[] {
    const kept = attempt(() => Object.keys(localStorage)) ?? [];
    return [...new Set([...kept, ...this.spare.keys()])];
  }
}

function attempt<T>(what: () => T): T | undefined {
  try {
    return what();
  } catch {
    return undefined;
  }
}

export const shelf = new BrowserShelf();
