/**
 * One tab of a browser drives a session; the others watch (SPEC K5). A courtesy between tabs: what
 * protects the session is the store's lease.
 *
 * Rule 1: the lock is a line in localStorage: owner and heartbeat. Older than a minute, it is nobody's.
 * Rule 2: who writes it reads it again a moment later: of two that wrote at once, the last one has it.
 * Rule 3: a tab's token lives in memory and is put into sessionStorage only while nobody looks at the
 *         page: a reload, and a page that was killed in the background, find it and reclaim; a cloned
 *         tab copies a storage without it. Should a clone have it all the same, the other one watches.
 * Rule 4: a tab that leaves says so, and leaves a lock that is stale in a moment (it may be a reload):
 *         then whoever watches takes it, also one that was opened too late to hear of it.
 */
import type { Shelf } from "@/model/outbox";

export const HEARTBEAT = 15_000;
export const STALE = 60_000;
const SETTLE = 40; // before a written lock is believed
const GRACE = 2_000; // for a reload to come back

export type Role = "unknown" | "driving" | "watching";

/** What a lock needs of its browser. */
export interface Ground {
  local: Pick<Shelf, "getItem" | "setItem" | "removeItem">;
  tab: Pick<Shelf, "getItem" | "setItem" | "removeItem">; // sessionStorage
  now(): number;
  later(what: () => void, millis: number): () => void;
  post(message: Word): void;
  mint(): string;
}

export interface Word {
  session: string;
  owner: string;
  word: "taken" | "leaving";
}

interface Held {
  owner: string;
  at: number;
}

const TOKEN = "holdfast:tab";

/** This tab's name: what a reload left for us, else one of our own. Taken out at once (rule 3). */
export function tokenOf(ground: Ground): string {
  const left = ground.tab.getItem(TOKEN);
  ground.tab.removeItem(TOKEN);
  return left ?? ground.mint();
}

export class TabLock {
  role: Role = "unknown";
  private stops: (() => void)[] = [];
  private closed = false;

  constructor(
    private readonly session: string,
    private readonly token: string,
    private readonly ground: Ground,
    private readonly changed: (role: Role) => void,
  ) {
    const held = this.held();
    if (held === null || held.owner === token) this.claim();
    else this.watch();
  }

  /** The user wants it here. */
  takeOver(): void {
    this.claim();
  }

  /** From another tab. */
  hear({ session, owner, word }: Word): void {
    if (this.closed || session !== this.session) return;
    if (word === "taken") this.watch();
    else if (this.role === "watching") this.after(GRACE, () => this.claimIfUnrenewed(owner));
  }

  /** The page is being left: put the token where a reload finds it. */
  leaving(): void {
    this.hidden();
    if (this.role !== "driving") return;
    this.write(GRACE - STALE);
    this.say("leaving");
  }

  /** Nobody looks: it may be killed without a word. */
  hidden(): void {
    this.ground.tab.setItem(TOKEN, this.token);
  }

  shown(): void {
    this.ground.tab.removeItem(TOKEN);
  }

  /** The page came back without having been unloaded. */
  returned(): void {
    this.shown();
    if (this.role !== "driving") return;
    if (this.held()?.owner === this.token) this.beat();
    else this.settle();
  }

  /** Another session was opened in this tab. */
  close(): void {
    this.closed = true;
    this.quiet();
    if (this.role === "driving" && this.held()?.owner === this.token) {
      this.ground.local.removeItem(this.key);
      this.say("leaving");
    }
  }

  private claim(): void {
    this.write();
    this.say("taken");
    this.quiet();
    this.after(SETTLE, () => this.settle());
  }

  private settle(): void {
    const held = this.held();
    if (held === null) this.claim();
    else if (held.owner !== this.token) this.watch();
    else {
      this.become("driving");
      this.beat();
    }
  }

  private beat(): void {
    this.quiet();
    this.write();
    this.after(HEARTBEAT, () => (this.held()?.owner === this.token ? this.beat() : this.settle()));
  }

  private watch(): void {
    this.quiet();
    this.become("watching");
    const left = (this.held()?.at ?? 0) + STALE + 1 - this.ground.now();
    this.after(Math.max(SETTLE, Math.min(HEARTBEAT, left)), () => (this.held() === null ? this.claim() : this.watch()));
  }

  private claimIfUnrenewed(owner: string): void {
    const held = this.held();
    if (this.role !== "watching") return;
    if (held === null || (held.owner === owner && this.ground.now() - held.at >= GRACE)) this.claim();
  }

  private get key(): string {
    return `holdfast:lock:${this.session}`;
  }

  /** Null: nobody's, or nobody's any more. */
  private held(): Held | null {
    try {
      const held = JSON.parse(this.ground.local.getItem(this.key) ?? "null") as Held | null;
      return held !== null && this.ground.now() - held.at <= STALE ? held : null;
    } catch {
      return null;
    }
  }

  private write(shift = 0): void {
    const held: Held = { owner: this.token, at: this.ground.now() + shift };
    this.ground.local.setItem(this.key, JSON.stringify(held));
  }

  private say(word: Word["word"]): void {
    this.ground.post({ session: this.session, owner: this.token, word });
  }

  private become(role: Role): void {
    if (this.role === role) return;
    this.role = role;
    this.changed(role);
  }

  private after(millis: number, what: () => void): void {
    this.stops.push(this.ground.later(() => this.closed || what(), millis));
  }

  private quiet(): void {
    for (const stop of this.stops) stop();
    this.stops = [];
  }
}
