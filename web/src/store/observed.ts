/** A value that changes, and whoever looks at it. */
import { useSyncExternalStore } from "react";

export class Observed<T extends object> {
  private readonly watchers = new Set<() => void>();

  constructor(private state: T) {}

  get = (): T => this.state;

  subscribe = (watcher: () => void): (() => void) => {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  };

  protected set(changes: Partial<T>): void {
    this.state = { ...this.state, ...changes };
    for (const watcher of this.watchers) watcher();
  }
}

/** `pick` must return the same thing for the same state, or the component draws without end. */
export function useObserved<T extends object, P>(observed: Observed<T>, pick: (state: T) => P): P {
  return useSyncExternalStore(observed.subscribe, () => pick(observed.get()));
}
