/**
 * One open session: what is shown of it, kept current, and what the user does with it.
 *
 * Opened, it paints what was remembered, asks for the newest page, and goes on from there by the
 * socket. It never continues a run by itself; it reattaches once, if the session says that it needs
 * to (SPEC K3).
 */
import { Failure, NO_NETWORK, get } from "@/connection/http";
import { type Line, type Socket, mint } from "@/connection/socket";
import { type ItemList, before, put, stream } from "@/model/items";
import type { Role, TabLock } from "@/model/lock";
import { type Shelf, subject } from "@/model/outbox";
import { recall, remember } from "@/model/remembered";
import { Courier, type Sent } from "@/store/courier";
import { Observed } from "@/store/observed";
import type { Cursor, Push } from "@/wire/frames";
import type { ItemsOut, ResumeStatus, SessionOut } from "@/wire/types.gen";

export interface Shown {
  items: ItemList;
  document: SessionOut | null;
  more: boolean; // there are earlier items than the first
  fresh: boolean; // false: as it was remembered
  older: boolean; // an earlier page is being asked for
  failure: Failure | null;
  reattach: "idle" | "trying" | Failure;
  role: Role;
  line: Line;
  sent: readonly Sent[];
}

const PAGE = 200;
const AGAIN = 800;

export class SessionStore extends Observed<Shown> {
  readonly courier: Courier;
  private cursor: Cursor = { epoch: "", seq: 0 };
  private lock: TabLock | null = null;
  private readonly ends: (() => void)[];
  private subscribed = false;
  private reattached = false;
  private seen = "";
  private closed = false;

  constructor(
    readonly id: string,
    private readonly socket: Socket,
    private readonly shelf: Shelf,
  ) {
    super(painted(shelf, id, socket.line));
    const document = () => this.get().document;
    this.courier = new Courier(id, socket, shelf, document, () => this.set({ sent: this.courier.sent }));
    this.ends = [socket.watch((line) => this.heardLine(line))];
    void this.load();
  }

  /** The lock tells who drives; it is given after construction because it reports here. */
  guard(lock: TabLock): void {
    this.lock = lock;
    this.turn(lock.role);
  }

  turn = (role: Role): void => {
    this.set({ role });
    this.ready();
  };

  takeOver = (): void => this.lock?.takeOver();

  close(): void {
    this.closed = true;
    this.remember();
    this.lock?.close();
    for (const end of this.ends) end();
  }

  /** Written at once, from what is in memory: the page may be gone in a moment (SPEC K4). */
  remember(): void {
    const { items, document } = this.get();
    if (items.length === 0) return;
    const { epoch, seq } = this.cursor;
    const run = document?.run ?? null;
    remember(this.shelf, this.id, { epoch, seq, run, at: Date.now(), document, items: [...items] });
  }

  async load(): Promise<void> {
    try {
      const page = await get<ItemsOut>(`${this.path}/items?limit=${PAGE}`);
      if (this.closed) return;
      this.cursor = { epoch: page.epoch, seq: page.head };
      const { items, more, document } = page;
      this.set({ items, more, document, fresh: true, failure: null });
      this.settleSent();
      this.listen();
    } catch (error) {
      if (error instanceof Failure) this.set({ failure: error });
    }
  }

  async loadOlder(): Promise<void> {
    const { items, more, older, fresh } = this.get();
    const first = items[0];
    if (!more || older || !fresh || !first) return;
    this.set({ older: true });
    try {
      const query = new URLSearchParams({ limit: String(PAGE), before: first.id });
      const page = await get<ItemsOut>(`${this.path}/items?${query}`);
      this.set({ items: before(this.get().items, page.items), more: page.more, older: false });
    } catch {
      setTimeout(() => this.set({ older: false }), AGAIN);
    }
  }

  // --- what the user does ---------------------------------------------------------------------------

  prompt = (text: string): void =>
    this.courier.send({ type: "prompt", id: mint(), session: this.id, text, input: mint() });
  resume = (): void => this.once("resume");
  dismiss = (): void => this.once("dismiss");
  cancel = (): void => this.once("cancel");
  answer = (decision: string, answer: string): void =>
    this.courier.send({ type: "answer", id: mint(), session: this.id, decision, answer });

  /** A stop was painted on a page that somebody looks at. */
  sawStop = (): void => {
    const { document, line } = this.get();
    const stop = document?.stop;
    if (!stop || document.stop_seen || this.seen === stop.at || line !== "live") return;
    this.seen = stop.at;
    this.socket.request({ type: "seen", id: mint(), session: this.id, by: "page" }).catch(() => null);
  };

  // --- what comes in --------------------------------------------------------------------------------

  private listen(): void {
    if (this.subscribed) return this.socket.renew(this.id);
    this.subscribed = true;
    const frames = (batch: Push[]): void => this.hear(batch);
    this.ends.push(this.socket.subscribe(this.id, { cursor: () => this.cursor, frames }));
    this.ready();
  }

  private hear(batch: Push[]): void {
    let { items, document, more } = this.get();
    for (const frame of batch) {
      if (frame.type === "delta") items = stream(items, frame);
      else if (frame.type === "items") {
        items = put(items, frame.items, more);
        document = frame.document ?? document;
        if (frame.items.length > 0) this.cursor = { ...this.cursor, seq: Math.max(this.cursor.seq, frame.seq) };
      } else if (frame.type === "gap") setTimeout(() => this.socket.renew(this.id), AGAIN);
      else if (frame.reset) void this.load();
    }
    this.set({ items, document });
    this.settleSent();
  }

  /** What was said is shown as ours until the journal shows it as its own. */
  private settleSent(): void {
    const { items, document, sent } = this.get();
    const queued = new Set(document?.queue.map((input) => input.id));
    for (const { command, about, state } of sent) {
      if (command.type === "prompt") {
        const said = items.some((item) => item.kind === "user" && item.input === command.input);
        if (said || queued.has(command.input ?? "")) this.courier.drop(command.id);
      } else if (state === "done" && (about === null || about !== subject(command.type, document))) {
        this.courier.drop(command.id); // the document does not show any more what it was to change
      }
    }
  }

  private heardLine(line: Line): void {
    this.set({ line });
    if (line === "live") {
      if (!this.get().fresh) void this.load();
      this.ready();
    } else this.courier.waits();
  }

  /** On the line, and ours to drive: deliver what waited, bring the agent back. */
  private ready(): void {
    const { role, line, fresh } = this.get();
    if (role !== "driving" || line !== "live" || !fresh) return;
    void this.courier.carry();
    void this.reattach();
  }

  private async reattach(): Promise<void> {
    if (this.reattached) return;
    this.reattached = true;
    const about = { id: mint(), session: this.id };
    try {
      const status = await this.socket.request<ResumeStatus>({ type: "session.status", ...about });
      if (!status.needs_resume || !status.is_resumable) return;
      this.set({ reattach: "trying" });
      await this.socket.request({ type: "session.resume", id: mint(), session: this.id });
      this.set({ reattach: "idle" });
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (error.code === NO_NETWORK) this.reattached = false;
      this.set({ reattach: error.code === NO_NETWORK ? "idle" : error });
    }
  }

  private once(type: "resume" | "dismiss" | "cancel"): void {
    const under = this.get().sent.some((sent) => sent.command.type === type && sent.state !== "refused");
    if (!under) this.courier.send({ type, id: mint(), session: this.id });
  }

  private get path(): string {
    return `/api/sessions/${this.id}`;
  }
}

function painted(shelf: Shelf, id: string, line: Line): Shown {
  const page = recall(shelf, id);
  return {
    items: page?.items ?? [],
    document: page?.document ?? null,
    more: false,
    fresh: false,
    older: false,
    failure: null,
    reattach: "idle",
    role: "unknown",
    line,
    sent: [],
  };
}
