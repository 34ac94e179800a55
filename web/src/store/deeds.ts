/** What is done to a session over HTTP, once, while the user looks: no outbox for these. */
import { post, remove } from "@/connection/http";
import type { Created, Done, RewindIn, RewoundOut } from "@/wire/types.gen";

const path = (session: string, rest: string): string => `/api/sessions/${session}/${rest}`;

export const rename = (session: string, title: string) => post<Done>(path(session, "rename"), { title });
export const pin = (session: string, undo: boolean) => post<Done>(path(session, "pin"), { undo });
export const archive = (session: string, undo: boolean) => post<Done>(path(session, "archive"), { undo });
export const close = (session: string) => post<Done>(path(session, "close"), { cancelled: false });
export const reopen = (session: string) => post<Done>(path(session, "reopen"));
export const trash = (session: string, force: boolean) => post<Done>(path(session, "trash"), { force });
export const restore = (session: string) => post<Done>(path(session, "restore"));
export const fork = (session: string, at: number) => post<Created>(path(session, "fork"), { at });
export const rewind = (session: string, wanted: RewindIn) => post<RewoundOut>(path(session, "rewind"), wanted);
export const editQueued = (session: string, input: string, text: string) =>
  post<Done>(path(session, `queue/${encodeURIComponent(input)}`), { text });
export const withdraw = (session: string, input: string) => remove<Done>(path(session, `queue/${encodeURIComponent(input)}`));
