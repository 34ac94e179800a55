/**
 * What the user has not seen yet (SPEC K8): how many, in the title; one by one as notifications, if the
 * user asked for them. One tab of the browser notifies; the lock passes on when that tab is closed.
 */
import { useEffect, useSyncExternalStore } from "react";
import { go, hrefOf } from "@/app/route";
import { titled } from "@/model/moments";
import { useObserved } from "@/store/observed";
import type { Sessions } from "@/store/sessions";
import type { SessionOut } from "@/wire/types.gen";

const KEY = "holdfast:notify";

export function useAttention(sessions: Sessions, title: string): void {
  const unseen = useObserved(sessions, (state) => [...state.sessions.values()].filter(waits).length);
  useEffect(() => {
    document.title = `${unseen > 0 ? `(${unseen}) ` : ""}${title ? `${title} · ` : ""}Holdfast`;
  }, [unseen, title]);
}

/** Tells the user of each occurrence once, from the one tab that has the lock. */
export function notifyFrom(sessions: Sessions): void {
  void navigator.locks?.request(KEY, () => new Promise(() => watch(sessions)));
}

function watch(sessions: Sessions): void {
  let known: Map<string, string> | null = null; // what was there before we looked is not news
  const look = () => {
    const { sessions: all, loaded } = sessions.get();
    if (!loaded) return;
    const now = new Map([...all.values()].filter(waits).map((session) => [session.id, occurrence(session)]));
    for (const [id, what] of now) if (known && known.get(id) !== what) tell(all.get(id)!);
    known = now;
  };
  sessions.subscribe(look);
  look();
}

function tell(session: SessionOut): void {
  const looksAtIt = document.visibilityState === "visible" && location.pathname === hrefOf(session.id);
  if (looksAtIt || !wanted()) return;
  const body = session.pending[0]?.title ?? (session.banner ? titled(session.banner) : session.doing);
  const shown = new Notification(session.title || "Holdfast", { body, tag: session.id, icon: "/icon-192.png" });
  shown.onclick = () => {
    window.focus();
    go(hrefOf(session.id));
    shown.close();
  };
}

const waits = (session: SessionOut): boolean => session.unseen && !session.archived && !session.trashed;

const occurrence = ({ pending, stop }: SessionOut): string => `${pending.map((asked) => asked.id).join()} ${stop?.at ?? ""}`;

// --- the switch ---------------------------------------------------------------------------------------

export const canNotify = (): boolean => "Notification" in window && Notification.permission !== "denied";

function wanted(): boolean {
  return canNotify() && Notification.permission === "granted" && localStorage.getItem(KEY) === "on";
}

export function useNotifying(): [boolean, () => Promise<void>] {
  const on = useSyncExternalStore((changed) => {
    addEventListener(KEY, changed);
    return () => removeEventListener(KEY, changed);
  }, wanted);
  const toggle = async () => {
    if (!on && (await Notification.requestPermission()) === "granted") localStorage.setItem(KEY, "on");
    else localStorage.removeItem(KEY);
    dispatchEvent(new Event(KEY));
  };
  return [on, toggle];
}
