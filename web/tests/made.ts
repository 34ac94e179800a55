/** Items and documents for tests, with only what a test is about. */
import type { AssistantItem, Delta, NoticeItem, SessionOut, StopOut, UserItem } from "@/wire/types.gen";

export function notice(id: string, place: number, seq = place, text = id): NoticeItem {
  return { kind: "notice", id, seq, place, at: "2026-01-01T00:00:00Z", level: "info", text, until: null };
}

export function user(id: string, place: number, text: string): UserItem {
  return { kind: "user", id, seq: place, place, at: "2026-01-01T00:00:00Z", text, input: id };
}

export function assistant(id: string, place: number, seq: number, text: string, streaming = true): AssistantItem {
  const at = "2026-01-01T00:00:00Z";
  return { kind: "assistant", id, seq, place, at, round: 1, text, thinking: "", streaming, model: "m" };
}

export function delta(item: string, offset: number, text: string): Delta {
  return { type: "delta", session: "s", item, field: "text", offset, text };
}

export function session(changes: Partial<SessionOut> = {}): SessionOut {
  const usual: Partial<SessionOut> = {
    id: "s",
    title: "A session",
    state: "WAITING_FOR_INPUT",
    agent: "builtin",
    via: "",
    model: "m",
    mode: "edits",
    workspace: { path: "/home/a/repo", branch: "main", repo: "", base: "" },
    stop: null,
    last_stop: null,
    stop_seen: false,
    run: null,
    phase: "idle",
    round: 0,
    head: 0,
    agent_session_id: null,
    pending: [],
    queue: [],
    cost: 0,
    tokens: { input: 0, output: 0 },
    launch: null,
    created_at: "2026-01-01T00:00:00Z",
    updated_at: "2026-01-01T00:00:00Z",
    pinned: false,
    tags: [],
    archived: false,
    task: null,
    trashed: false,
    actions: [],
    banner: null,
    doing: "",
    needs_you: false,
    unseen: false,
    progress: null,
    status: null,
    quarantined: null,
  };
  return { ...usual, ...changes } as SessionOut;
}

export function stopped(at: string): StopOut {
  return {
    reason: "interrupted",
    class: null,
    message: "",
    phase: "idle",
    round: 1,
    at,
    resumes_at: null,
    percent: null,
    evidence: {},
    fingerprint: null,
  };
}
