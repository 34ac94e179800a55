import { useCallback, useEffect, useState } from "react";
import { Failure, get } from "@/connection/http";
import type { DiffOut } from "@/wire/types.gen";

export interface Loaded {
  diff: DiffOut | null;
  failure: Failure | null;
  loading: boolean;
  load(): void;
  whole(path: string): void;
}

/** The session's changes; asked for again whenever `moment` is another. */
export function useDiff(session: string, moment: string): Loaded {
  const [diff, setDiff] = useState<DiffOut | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [loading, setLoading] = useState(true);
  const path = `/api/sessions/${session}/diff`;
  const failed = (error: unknown) => error instanceof Failure && setFailure(error);

  const load = useCallback(
    (signal?: AbortSignal) => {
      setLoading(true);
      get<DiffOut>(path, signal)
        .then((found) => (setDiff(found), setFailure(null)))
        .catch(failed)
        .finally(() => setLoading(false));
    },
    [path],
  );
  useEffect(() => {
    const asked = new AbortController();
    load(asked.signal);
    return () => asked.abort();
  }, [load, moment]);

  const whole = (file: string) =>
    void get<DiffOut>(`${path}?${new URLSearchParams({ path: file })}`)
      .then((found) => setDiff((shown) => shown && { ...shown, files: shown.files.map((each) => found.files.find((one) => one.path === each.path) ?? each) }))
      .catch(failed);
  return { diff, failure, loading, load: () => load(), whole };
}
