/**
 * The one socket of the page. Keeps itself open; everything that was subscribed to is asked for again
 * from its own cursor when it is.
 *
 * Rule 1: pushed frames are handed on in batches of about two display frames; in a hidden page at
 *         once, because nothing is drawn there and what is remembered must not be stale.
 * Rule 2: back in the foreground, or on a network again: reconnect now, not when some timer says so.
 *         A socket that survived a change of network is usually dead.
 * Rule 3: the daemon says something every quarter of a minute. Whoever comes back to a line that missed
 *         that opens another; nobody waits on one that is silent for longer than two.
 */
import { Failure, NO_NETWORK, failure } from "@/connection/http";
import type { Cursor, FrameIn, Push } from "@/wire/frames";
import type { Given, Result } from "@/wire/types.gen";

export type Line = "connecting" | "live" | "offline";

export interface Subscription {
  cursor(): Cursor;
  frames(batch: Push[]): void;
}

export const EVERY = "*"; // in place of a session: hears of all documents, whoever asked for them
const BATCH = 33;
const BEAT = 15_000; // of the daemon
const DEAD = 2 * BEAT + 5_000;
const OPENING = 8_000; // longer than that, an attempt has failed
const SLOWEST = 8_000; // between two attempts

interface Waiting {
  done(result: unknown): void;
  failed(error: Failure): void;
}

export class Socket {
  line: Line = "connecting";
  private socket: WebSocket | null = null;
  private readonly subscriptions = new Map<string, Subscription>();
  private readonly waiting = new Map<string, Waiting>();
  private readonly watchers = new Set<(line: Line) => void>();
  private batch: Push[] = [];
  private flushing = 0;
  private attempts = 0;
  private retrying = 0;
  private heard = 0;

  constructor(private readonly address: string) {
    addEventListener("online", () => this.reopen());
    addEventListener("offline", () => this.lost());
    addEventListener("pageshow", (event) => event.persisted && this.wake());
    document.addEventListener("resume", () => this.wake());
    document.addEventListener("visibilitychange", () => this.wake());
    setInterval(() => this.check(DEAD), DEAD / 7);
    this.open();
  }

  watch(watcher: (line: Line) => void): () => void {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  }

  subscribe(session: string, subscription: Subscription): () => void {
    this.subscriptions.set(session, subscription);
    if (this.line === "live") this.ask(session, subscription);
    return () => {
      if (this.subscriptions.get(session) !== subscription) return;
      this.subscriptions.delete(session);
      if (this.line === "live") void this.request({ type: "unsubscribe", id: mint(), session }).catch(() => null);
    };
  }

  /** From its cursor, as it is now. */
  renew(session: string): void {
    const subscription = this.subscriptions.get(session);
    if (subscription && this.line === "live") this.ask(session, subscription);
  }

  request<T>(frame: Given): Promise<T> {
    return new Promise((done, failed) => {
      if (this.line !== "live") return failed(dropped());
      this.waiting.set(frame.id, { done: done as Waiting["done"], failed });
      this.socket!.send(JSON.stringify(frame));
    });
  }

  /** Hand on what has arrived, now: the page may be about to die. */
  flush = (): void => {
    clearTimeout(this.flushing);
    this.flushing = 0;
    const batch = this.batch;
    this.batch = [];
    for (const [key, frames] of grouped(batch)) this.subscriptions.get(key)?.frames(frames);
    const documents = batch.filter((frame) => frame.type === "items" && frame.session !== EVERY);
    if (documents.length > 0) this.subscriptions.get(EVERY)?.frames(documents);
  };

  private ask(session: string, subscription: Subscription): void {
    const { epoch, seq } = subscription.cursor();
    const frame = { type: "subscribe", id: mint(), session, after: seq, epoch, view: "items" } as const;
    this.request(frame).catch(() => null);
  }

  private open(): void {
    clearTimeout(this.retrying);
    this.turn("connecting");
    this.heard = performance.now();
    const socket = new WebSocket(this.address);
    this.socket = socket;
    socket.onopen = () => {
      this.attempts = 0;
      this.turn("live");
      for (const [session, subscription] of this.subscriptions) this.ask(session, subscription);
    };
    socket.onmessage = (event) => this.hear(JSON.parse(event.data as string) as FrameIn);
    socket.onclose = () => this.lost();
  }

  private hear(frame: FrameIn): void {
    this.heard = performance.now();
    if (frame.type === "beat") return;
    if (frame.type === "result") return this.result(frame);
    this.batch.push(frame);
    if (document.hidden) this.flush();
    else if (!this.flushing) this.flushing = window.setTimeout(this.flush, BATCH);
  }

  private result(frame: Result): void {
    this.flush(); // what a command caused is shown before its sender hears that it is done
    const waiting = this.waiting.get(frame.id);
    this.waiting.delete(frame.id);
    if (frame.error) waiting?.failed(failure(frame.error));
    else waiting?.done(frame.ok);
  }

  private drop(): void {
    this.flush();
    if (this.socket) {
      this.socket.onopen = this.socket.onmessage = this.socket.onclose = null;
      this.socket.close();
      this.socket = null;
    }
    const waiting = [...this.waiting.values()];
    this.waiting.clear();
    for (const { failed } of waiting) failed(dropped());
  }

  private lost(): void {
    this.turn("offline");
    this.drop();
    clearTimeout(this.retrying);
    const wait = Math.min(SLOWEST, 250 * 2 ** this.attempts) * (0.5 + Math.random() / 2);
    this.attempts += 1;
    this.retrying = window.setTimeout(() => this.open(), wait);
  }

  private reopen(): void {
    this.attempts = 0;
    this.drop();
    this.open();
  }

  private wake(): void {
    if (document.visibilityState !== "visible") return;
    if (this.line === "offline") this.reopen();
    else this.check(BEAT + 1_000);
  }

  private check(patience: number): void {
    const silent = performance.now() - this.heard;
    const opening = this.line === "connecting" && silent > OPENING;
    if (opening || (this.line === "live" && silent > patience)) this.reopen();
  }

  private turn(line: Line): void {
    if (this.line === line) return;
    this.line = line;
    for (const watcher of this.watchers) watcher(line);
  }
}

/** Not `randomUUID`: that is missing where the page is not served over TLS or from this machine. */
export function mint(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

const dropped = (): Failure => new Failure(NO_NETWORK, "The connection was lost.");

function grouped(batch: Push[]): Map<string, Push[]> {
  const found = new Map<string, Push[]>();
  for (const frame of batch) found.set(frame.session, [...(found.get(frame.session) ?? []), frame]);
  return found;
}
