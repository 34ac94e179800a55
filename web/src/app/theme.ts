/** Light, dark, or as the system says. public/theme.js paints it. */
import { useSyncExternalStore } from "react";

export type Theme = "system" | "light" | "dark";

const KEY = "holdfast:theme";
const NEXT: Record<Theme, Theme> = { system: "light", light: "dark", dark: "system" };

export function useTheme(): [Theme, () => void] {
  const theme = useSyncExternalStore(watch, read);
  return [theme, () => choose(NEXT[theme])];
}

function read(): Theme {
  const kept = localStorage.getItem(KEY);
  return kept === "light" || kept === "dark" ? kept : "system";
}

function choose(theme: Theme): void {
  if (theme === "system") localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, theme);
  dispatchEvent(new Event("holdfast:theme"));
}

function watch(changed: () => void): () => void {
  addEventListener("holdfast:theme", changed);
  addEventListener("storage", changed);
  return () => {
    removeEventListener("holdfast:theme", changed);
    removeEventListener("storage", changed);
  };
}
