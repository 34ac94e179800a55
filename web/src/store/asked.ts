/** An answer of the daemon's, asked for again when the question changes; null until it is there. */
import { useEffect, useState } from "react";
import { get } from "@/connection/http";

const SETTLED = 250; // ms without a change, while somebody types

export function useAnswer<T>(path: string | null, wait = 0): T | null {
  const [found, setFound] = useState<{ path: string; answer: T } | null>(null);
  useEffect(() => {
    if (path === null) return;
    const stop = new AbortController();
    const ask = () =>
      get<T>(path, stop.signal)
        .then((answer) => setFound({ path, answer }))
        .catch(() => null); // what is asked here is a help, and can be done without
    const timer = setTimeout(() => void ask(), wait);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [path, wait]);
  return found?.path === path ? found.answer : null;
}

export const useTyped = <T>(path: string | null): T | null => useAnswer<T>(path, SETTLED);
