/** The time, for what counts up or down. One clock for all who look at it at the same pace. */
import { useSyncExternalStore } from "react";

interface Clock {
  now: number;
  watchers: Set<() => void>;
  timer: number;
}

const clocks = new Map<number, Clock>();

export function useNow(every = 1_000): number {
  const clock = clockFor(every);
  return useSyncExternalStore(
    (watcher) => watch(clock, every, watcher),
    () => clock.now,
  );
}

function clockFor(every: number): Clock {
  const found = clocks.get(every) ?? { now: Date.now(), watchers: new Set(), timer: 0 };
  if (found.watchers.size === 0 && Date.now() - found.now > every) found.now = Date.now();
  clocks.set(every, found);
  return found;
}

function watch(clock: Clock, every: number, watcher: () => void): () => void {
  clock.watchers.add(watcher);
  if (clock.watchers.size === 1) {
    clock.timer = window.setInterval(() => {
      clock.now = Date.now();
      for (const each of clock.watchers) each();
    }, every);
  }
  return () => {
    clock.watchers.delete(watcher);
    if (clock.watchers.size === 0) clearInterval(clock.timer);
  };
}
