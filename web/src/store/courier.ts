/**
 * Carries one session's commands to the daemon: in order, each until it was answered, also over a
 * lost connection and a dead page. What is refused comes back to the user with the reason.
 */
import { Failure, NO_NETWORK } from "@/connection/http";
import type { Socket } from "@/connection/socket";
import { type Kept, type Shelf, forget, keep, kept, stillMeant, subject } from "@/model/outbox";
import type { Command } from "@/wire/frames";
import type { SessionOut } from "@/wire/types.gen";

export interface Sent {
  command: Command;
  about: string | null; // see `subject`
  state: "sending" | "queued" | "done" | "refused";
  failure: Failure | null;
}

export class Courier {
  sent: readonly Sent[] = [];
  private carrying = false;

  constructor(
    private readonly session: string,
    private readonly socket: Socket,
    private readonly shelf: Shelf,
    private readonly document: () => SessionOut | null,
    private readonly changed: () => void,
  ) {}

  send(command: Command): void {
    const about = subject(command.type, this.document());
    keep(this.shelf, { command, about, at: Date.now() });
    this.note(command, about, this.socket.line === "live" ? "sending" : "queued");
    void this.carry();
  }

  /** What this or an earlier page left behind. Called when the line is live and this tab drives. */
  async carry(): Promise<void> {
    if (this.carrying) return;
    this.carrying = true;
    try {
      for (let next = this.first(); next; next = this.first()) {
        if (!(await this.deliver(next))) return;
      }
    } finally {
      this.carrying = false;
    }
  }

  /** The line went down: what was being sent waits. */
  waits(): void {
    this.change((sent) => (sent.state === "sending" ? { ...sent, state: "queued" } : sent));
  }

  /** It is visible elsewhere now (a message in the chat), or the user put it away. */
  drop(id: string): void {
    if (!this.sent.some((sent) => sent.command.id === id)) return;
    this.sent = this.sent.filter((sent) => sent.command.id !== id);
    this.changed();
  }

  private first(): Kept | undefined {
    return kept(this.shelf, this.session)[0];
  }

  private async deliver(next: Kept): Promise<boolean> {
    const { command } = next;
    if (!stillMeant(next, this.document())) {
      forget(this.shelf, command.id);
      this.drop(command.id);
      return true;
    }
    this.note(command, next.about, "sending");
    try {
      await this.socket.request(command);
      this.settle(command, "done", null);
    } catch (error) {
      if (!(error instanceof Failure) || error.code === NO_NETWORK) {
        this.waits();
        return false;
      }
      this.settle(command, "refused", error);
    }
    return true;
  }

  private settle(command: Command, state: Sent["state"], failure: Failure | null): void {
    forget(this.shelf, command.id);
    this.change((sent) => (sent.command.id === command.id ? { ...sent, state, failure } : sent));
  }

  private note(command: Command, about: string | null, state: Sent["state"]): void {
    if (this.sent.some((sent) => sent.command.id === command.id)) {
      return this.change((sent) => (sent.command.id === command.id ? { ...sent, state } : sent));
    }
    // A second try replaces the first: there is one Resume, however often it was pressed.
    const others = this.sent.filter((sent) => command.type === "prompt" || sent.command.type !== command.type);
    this.sent = [...others, { command, about, state, failure: null }];
    this.changed();
  }

  private change(how: (sent: Sent) => Sent): void {
    this.sent = this.sent.map(how);
    this.changed();
  }
}
