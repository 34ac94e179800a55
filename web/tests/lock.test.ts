// spec: K5
import { beforeEach, expect, test } from "vitest";
import { type Ground, TabLock, type Word, tokenOf } from "@/model/lock";
import { MemoryShelf } from "./shelf";

const HEARTBEAT = 15_000;
const STALE = 60_000;

/** A browser with tabs: one local storage, one clock, one channel. */
class Browser {
  now = 1_000_000;
  local = new MemoryShelf();
  tabs: Tab[] = [];
  private due: { at: number; what: () => void; tab: Tab }[] = [];
  private count = 0;

  tab(session = new MemoryShelf()): Tab {
    const tab = new Tab(this, session);
    this.tabs.push(tab);
    tab.open();
    return tab;
  }

  ground(tab: Tab): Ground {
    return {
      local: this.local,
      tab: tab.storage,
      now: () => this.now,
      later: (what, millis) => {
        const entry = { at: this.now + millis, what, tab };
        this.due.push(entry);
        return () => (this.due = this.due.filter((each) => each !== entry));
      },
      post: (word) => this.tabs.filter((other) => other !== tab && other.alive).forEach((other) => other.lock.hear(word)),
      mint: () => `t${(this.count += 1)}`,
    };
  }

  pass(millis: number): void {
    const end = this.now + millis;
    for (;;) {
      const next = this.due.filter((each) => each.at <= end).sort((a, b) => a.at - b.at)[0];
      if (!next) break;
      this.due = this.due.filter((each) => each !== next);
      this.now = Math.max(this.now, next.at);
      if (next.tab.alive) next.what();
    }
    this.now = end;
  }
}

class Tab {
  alive = true;
  lock!: TabLock;
  constructor(
    private readonly browser: Browser,
    readonly storage: MemoryShelf,
  ) {}
  open(): void {
    const ground = this.browser.ground(this);
    this.lock = new TabLock("s", tokenOf(ground), ground, () => undefined);
  }
  get role(): string {
    return this.lock.role;
  }
  leave(): MemoryShelf {
    this.lock.leaving();
    this.alive = false;
    return this.storage;
  }
  crash(): void {
    this.alive = false;
  }
}

let browser: Browser;
beforeEach(() => {
  browser = new Browser();
});

test("one tab drives, the next one watches", () => {
  const [one, two] = [browser.tab(), browser.tab()];
  browser.pass(100);
  expect([one.role, two.role]).toEqual(["driving", "watching"]);
  browser.pass(10 * HEARTBEAT);
  expect([one.role, two.role]).toEqual(["driving", "watching"]);
});

test("two that open in the same moment end with one driver", () => {
  const one = browser.tab();
  browser.local.removeItem("holdfast:lock:s"); // the second has not seen the first one's write
  const two = browser.tab();
  browser.pass(100);
  expect([one.role, two.role].sort()).toEqual(["driving", "watching"]);
});

test("a reload reclaims at once", () => {
  const one = browser.tab();
  const two = browser.tab();
  browser.pass(100);
  const again = browser.tab(one.leave());
  browser.pass(5_000);
  expect([again.role, two.role]).toEqual(["driving", "watching"]);
});

test("a cloned tab copies the storage and still watches", () => {
  const one = browser.tab();
  browser.pass(100);
  const clone = browser.tab(one.storage);
  browser.pass(100);
  expect([one.role, clone.role]).toEqual(["driving", "watching"]);
});

test("a tab that was killed while nobody looked at it reclaims", () => {
  const [one, two] = [browser.tab(), browser.tab()];
  browser.pass(100);
  one.lock.hidden();
  one.crash();
  browser.pass(1_000);
  const again = browser.tab(one.storage);
  browser.pass(100);
  expect([again.role, two.role]).toEqual(["driving", "watching"]);
});

test("a tab that was hidden and is shown again leaves nothing for a clone", () => {
  const one = browser.tab();
  browser.pass(100);
  one.lock.hidden();
  one.lock.shown();
  const clone = browser.tab(one.storage);
  browser.pass(100);
  expect([one.role, clone.role]).toEqual(["driving", "watching"]);
});

test("of a hidden tab and its clone, one drives", () => {
  const one = browser.tab();
  browser.pass(100);
  one.lock.hidden();
  const clone = browser.tab(one.storage);
  browser.pass(100);
  expect([one.role, clone.role]).toEqual(["watching", "driving"]);
});

test("a tab that is closed leaves it to the watcher, after a moment for a reload", () => {
  const [one, two] = [browser.tab(), browser.tab()];
  browser.pass(100);
  one.leave();
  browser.pass(1_000);
  expect(two.role).toBe("watching");
  browser.pass(2_000);
  expect(two.role).toBe("driving");
});

test("a tab that is opened after another was closed need not wait for a heartbeat", () => {
  const one = browser.tab();
  browser.pass(100);
  one.leave();
  const two = browser.tab();
  browser.pass(100);
  expect(two.role).toBe("watching");
  browser.pass(2_500);
  expect(two.role).toBe("driving");
});

test("a tab that died without a word is given up after a minute, not before", () => {
  const [one, two] = [browser.tab(), browser.tab()];
  browser.pass(100);
  one.crash();
  browser.pass(STALE - HEARTBEAT);
  expect(two.role).toBe("watching");
  browser.pass(2 * HEARTBEAT + 100);
  expect(two.role).toBe("driving");
});

test("taking over makes the other one watch", () => {
  const [one, two] = [browser.tab(), browser.tab()];
  browser.pass(100);
  two.lock.takeOver();
  browser.pass(100);
  expect([one.role, two.role]).toEqual(["watching", "driving"]);
});

test("a driver that was frozen and taken over learns it when it returns", () => {
  const one = browser.tab();
  browser.pass(100);
  one.alive = false; // frozen: hears nothing, its timers stand still
  browser.pass(STALE + HEARTBEAT);
  const two = browser.tab();
  browser.pass(100);
  one.alive = true;
  one.lock.returned();
  expect([one.role, two.role]).toEqual(["watching", "driving"]);
});

test("words about other sessions are not for us", () => {
  const one = browser.tab();
  browser.pass(100);
  const word: Word = { session: "another", owner: "x", word: "taken" };
  one.lock.hear(word);
  expect(one.role).toBe("driving");
});

test("leaving a session for another one frees it", () => {
  const [one, two] = [browser.tab(), browser.tab()];
  browser.pass(100);
  one.lock.close();
  browser.pass(3_000);
  expect(two.role).toBe("driving");
});
