/** Where we are: an address that can be opened, kept and sent, like those the command line prints. */
import { useEffect, useSyncExternalStore } from "react";

export interface Route {
  session: string | null;
  place: "chat" | "stats" | "list";
}

export const HOME = "/";
export const STATS = "/stats";
export const hrefOf = (session: string): string => `/s/${session}`;

export function parsed(path: string): Route {
  const [, first, second] = path.split("/");
  if (first === "s" && second) return { session: second, place: "chat" };
  return { session: null, place: first === "stats" ? "stats" : "list" };
}

const MOVED = "holdfast:moved";

export function go(href: string): void {
  if (href === location.pathname) return;
  history.pushState(null, "", href);
  dispatchEvent(new Event(MOVED));
}

/** A plain click on a link of ours changes the view; every other one is the browser's. */
export function followLinks(): void {
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    const ours = link && link.origin === location.origin && link.target !== "_blank" && !link.hasAttribute("download");
    const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (!ours || !plain || event.defaultPrevented) return;
    event.preventDefault();
    go(link.pathname);
  });
}

export function useRoute(): Route {
  return parsed(useSyncExternalStore(watch, () => location.pathname));
}

/** A session may be asked for by the beginning of its id; from then on it has its whole one. */
export function useWholeId(session: string | undefined): void {
  useEffect(() => {
    const { session: asked } = parsed(location.pathname);
    if (!session || !asked || session === asked || !session.startsWith(asked)) return;
    history.replaceState(null, "", hrefOf(session));
    dispatchEvent(new Event(MOVED));
  }, [session]);
}

function watch(moved: () => void): () => void {
  addEventListener("popstate", moved);
  addEventListener(MOVED, moved);
  return () => {
    removeEventListener("popstate", moved);
    removeEventListener(MOVED, moved);
  };
}
