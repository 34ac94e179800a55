/** What each key does on this page. */
import type { RefObject } from "react";
import type { Open } from "@/app/Dialogs";
import type { Key } from "@/app/keys";
import type { Page } from "@/app/page";
import { HOME, STATS, go, hrefOf } from "@/app/route";
import type { ComposerHandle } from "@/features/composer/Composer";
import { arranged } from "@/model/sessions";
import type { SessionStore } from "@/store/session";

interface Here {
  page: Page;
  store: SessionStore | null;
  current: string | null;
  filter: RefObject<HTMLInputElement | null>;
  composer: RefObject<ComposerHandle | null>;
  setChanges(change: (was: boolean) => boolean): void;
  setOpen(open: Open): void;
}

export function shortcuts({ page, store, current, filter, composer, setChanges, setOpen }: Here): Key[] {
  const step = (by: number) => () => {
    const all = arranged(page.sessions.get().sessions.values(), "");
    const at = all.findIndex((session) => session.id === current);
    const next = all[at < 0 ? 0 : at + by];
    if (next) go(hrefOf(next.id));
  };
  const drives = (action: string): boolean => {
    const shown = store?.get();
    return shown?.role === "driving" && (shown.document?.actions.includes(action) ?? false);
  };
  return [
    { keys: "?", what: "These keys", run: () => setOpen("help") },
    { keys: "n", what: "New session", run: () => setOpen("new") },
    { keys: "j", what: "Next session", run: step(1) },
    { keys: "k", what: "Previous session", run: step(-1) },
    { keys: "/", what: "Filter sessions", run: () => filter.current?.focus() },
    { keys: "c", what: "Write a message", run: () => composer.current?.focus() },
    { keys: "d", what: "Show or hide changes", run: () => setChanges((was) => !was) },
    { keys: "Alt+R", what: "Resume", typing: true, run: () => drives("resume") && store?.get().document?.banner?.button && store.resume() },
    { keys: "p", what: "What happens on resume", run: () => setOpen("plan") },
    { keys: "Esc", what: "Stop the agent; leave a field", typing: true, run: () => leave(() => drives("cancel") && store?.cancel()) },
    { keys: "Ctrl+K", what: "Search", typing: true, run: () => setOpen("search") },
    { keys: "g d", what: "Dashboard", run: () => go(STATS) },
    { keys: "g l", what: "Go to the list", run: () => go(HOME) },
  ];
}

/** Out of a field first; the next press is for the agent. */
function leave(otherwise: () => void): void {
  const active = document.activeElement;
  const typing = active instanceof HTMLInputElement || active instanceof HTMLSelectElement;
  if (typing) active.blur();
  else otherwise();
}
