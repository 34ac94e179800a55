/** What there is one of: the socket, the list, the open session; and what happens when the page goes. */
import { Socket, mint } from "@/connection/socket";
import { type Ground, TabLock, type Word, tokenOf } from "@/model/lock";
import { Observed } from "@/store/observed";
import { SessionStore } from "@/store/session";
import { shelf } from "@/store/shelf";
import { Sessions } from "@/store/sessions";
import type { SessionOut } from "@/wire/types.gen";

export class Page {
  readonly socket: Socket;
  readonly sessions: Sessions;
  readonly none = new Observed<{ document: SessionOut | null }>({ document: null }); // no session is open
  private open: { store: SessionStore; lock: TabLock } | null = null;
  private readonly channel = new BroadcastChannel("holdfast");
  private readonly ground: Ground;
  private readonly token: string;

  constructor() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    this.socket = new Socket(`${scheme}://${location.host}/api/ws`);
    this.sessions = new Sessions(this.socket);
    this.ground = ground(this.channel);
    this.token = tokenOf(this.ground);
    this.channel.onmessage = (event) => this.open?.lock.hear(event.data as Word);
    document.addEventListener("visibilitychange", () => (document.hidden ? this.hide() : this.open?.lock.shown()));
    document.addEventListener("freeze", () => this.save());
    addEventListener("pagehide", () => this.leave());
    addEventListener("pageshow", () => this.open?.lock.returned());
  }

  session(id: string | null): SessionStore | null {
    if (id === (this.open?.store.id ?? null)) return this.open?.store ?? null;
    this.open?.store.close();
    this.open = id === null ? null : this.opened(id);
    return this.open?.store ?? null;
  }

  private opened(id: string): { store: SessionStore; lock: TabLock } {
    const store = new SessionStore(id, this.socket, shelf);
    const lock = new TabLock(id, this.token, this.ground, store.turn);
    store.guard(lock);
    return { store, lock };
  }

  private save(): void {
    this.socket.flush();
    this.open?.store.remember();
  }

  private hide(): void {
    this.save();
    this.open?.lock.hidden();
  }

  private leave(): void {
    this.save();
    this.open?.lock.leaving();
  }
}

function ground(channel: BroadcastChannel): Ground {
  return {
    local: shelf,
    tab: sessionStorage,
    now: () => Date.now(),
    later: (what, millis) => {
      const timer = setTimeout(what, millis);
      return () => clearTimeout(timer);
    },
    post: (word) => channel.postMessage(word),
    mint,
  };
}
