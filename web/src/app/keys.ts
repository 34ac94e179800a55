/** Every key, in one table: what it does is what the help says. */
import { useEffect, useRef } from "react";

export interface Key {
  keys: string; // as shown; "Alt+R", "g s"
  what: string;
  run(): void;
  typing?: boolean; // also while the user types
}

/** Keys that the browser or a component handles, for the help. */
export const ELSEWHERE: readonly Pick<Key, "keys" | "what">[] = [
  { keys: "Enter", what: "Send (Shift+Enter: a new line)" },
  { keys: "1–9", what: "Choose an option of a question that has the focus" },
];

const PAUSE = 900; // between the two keys of a sequence

export function useKeys(keys: readonly Key[]): void {
  const table = useRef(keys);
  table.current = keys;
  useEffect(() => {
    let first = "";
    let timer = 0;
    const press = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing || document.querySelector("dialog[open]")) return;
      const pressed = nameOf(event);
      const sequence = first ? `${first} ${pressed}` : pressed;
      const typing = isTyping(event.target);
      const found = table.current.find((key) => (key.keys === sequence || key.keys === pressed) && (!typing || key.typing));
      first = !typing && table.current.some((key) => key.keys.startsWith(`${pressed} `)) ? pressed : "";
      clearTimeout(timer);
      timer = window.setTimeout(() => (first = ""), PAUSE);
      if (!found) return;
      event.preventDefault();
      found.run();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}

function nameOf(event: KeyboardEvent): string {
  if (event.altKey) return `Alt+${event.code.replace(/^Key/, "")}`; // what Alt types differs by keyboard
  if (event.ctrlKey || event.metaKey) return `Ctrl+${event.key.toUpperCase()}`;
  return event.key === "Escape" ? "Esc" : event.key;
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}
