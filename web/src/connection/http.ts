/** Questions and commands over HTTP. Every failure is a `Failure` with the server's own words. */
import type { ErrorBody } from "@/wire/types.gen";

export class Failure extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly hint = "",
    readonly about: readonly string[] = [], // what it names
  ) {
    super(message);
  }
}

export const NO_NETWORK = "offline";

export function failure({ code, message, hint, candidates }: ErrorBody): Failure {
  return new Failure(code, message, hint, candidates);
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return answer<T>(path, signal ? { signal } : {});
}

export async function post<T>(path: string, body: unknown = {}): Promise<T> {
  const headers = { "content-type": "application/json" };
  return answer<T>(path, { method: "POST", headers, body: JSON.stringify(body) });
}

export async function remove<T>(path: string): Promise<T> {
  return answer<T>(path, { method: "DELETE" });
}

async function answer<T>(path: string, asked: RequestInit): Promise<T> {
  const response = await fetch(path, { credentials: "same-origin", ...asked }).catch((error) => {
    if (asked.signal?.aborted) throw error;
    throw new Failure(NO_NETWORK, "The daemon does not answer.", "Is it running? hold up");
  });
  const text = await response.text();
  if (response.ok) return (text ? JSON.parse(text) : null) as T;
  throw failure(said(text) ?? { code: String(response.status), message: response.statusText, hint: "", candidates: [] });
}

function said(text: string): ErrorBody | null {
  try {
    return (JSON.parse(text) as { error?: ErrorBody }).error ?? null;
  } catch {
    return null;
  }
}
