/** All sessions, as their documents say they are. */
import { Failure, get } from "@/connection/http";
import { EVERY, type Line, type Socket } from "@/connection/socket";
import { noted } from "@/model/sessions";
import { Observed } from "@/store/observed";
import type { Cursor, Push } from "@/wire/frames";
import type { SessionOut, SessionsOut } from "@/wire/types.gen";

interface Listed {
  sessions: ReadonlyMap<string, SessionOut>;
  next: string | null;
  loaded: boolean;
  failure: Failure | null;
  line: Line;
}

export class Sessions extends Observed<Listed> {
  constructor(socket: Socket) {
    super({ sessions: new Map(), next: null, loaded: false, failure: null, line: socket.line });
    socket.watch((line) => this.set({ line }));
    socket.subscribe(EVERY, { cursor: () => NOWHERE, frames: (batch) => this.hear(batch) });
    void this.load();
  }

  /** Newest first; nothing is missed if this is asked for after `hello`. */
  async load(): Promise<void> {
    try {
      const { sessions, next } = await get<SessionsOut>("/api/sessions?limit=200");
      this.set({ sessions: byId(sessions), next, loaded: true, failure: null });
    } catch (error) {
      if (error instanceof Failure) this.set({ failure: error });
    }
  }

  async loadOlder(): Promise<void> {
    const { next, sessions } = this.get();
    if (next === null) return;
    const query = new URLSearchParams({ limit: "200", before: next });
    const older = await get<SessionsOut>(`/api/sessions?${query}`);
    this.set({ sessions: new Map([...byId(older.sessions), ...sessions]), next: older.next });
  }

  note(session: SessionOut): void {
    this.set({ sessions: noted(this.get().sessions, session) });
  }

  private hear(batch: Push[]): void {
    let { sessions } = this.get();
    for (const frame of batch) {
      if (frame.type === "items" && frame.document) sessions = noted(sessions, frame.document);
      else if (frame.type === "hello" || frame.type === "gap") void this.load();
    }
    if (sessions !== this.get().sessions) this.set({ sessions });
  }
}

const NOWHERE: Cursor = { epoch: "", seq: 0 };

const byId = (sessions: SessionOut[]): Map<string, SessionOut> =>
  new Map(sessions.map((session) => [session.id, session]));
