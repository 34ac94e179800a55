/** Where we are, kept after the #: no server needs to know, and a reload stays here. */
import { useSyncExternalStore } from "react";

export interface Route {
  session: string | null;
  place: "chat" | "stats" | "list";
}

export function parsed(hash: string, path: string): Route {
  const parts = hash.replace(/^#\/?/, "").split("/");
  if (parts[0] === "s" && parts[1]) return { session: parts[1], place: "chat" };
  if (parts[0] === "stats") return { session: null, place: "stats" };
  const asked = /^\/s\/([\w-]+)/.exec(path); // a link from the command line
  return asked && !hash ? { session: asked[1]!, place: "chat" } : { session: null, place: "list" };
}

export const hrefOf = (session: string): string => `#/s/${session}`;

export function go(href: string): void {
  if (location.hash !== href) location.hash = href;
}

export function useRoute(): Route {
  const where = useSyncExternalStore(
    (changed) => {
      addEventListener("hashchange", changed);
      return () => removeEventListener("hashchange", changed);
    },
    () => `${location.hash}\n${location.pathname}`,
  );
  const [hash, path] = where.split("\n");
  return parsed(hash ?? "", path ?? "");
}
