/** What a session is to be made of, as it was chosen, and as the daemon is asked for it. */
import type { AgentOut, FolderOut, NewSession } from "@/wire/types.gen";

export interface Chosen {
  prompt: string;
  folder: string;
  agent: string;
  model: string;
  mode: string;
  budget: string;
  here: boolean; // in the folder itself
  changes: boolean; // with what is not committed yet
}

const MODES = [
  { value: "", text: "As configured" },
  { value: "read-only", text: "Read only" },
  { value: "ask", text: "Ask before every change" },
  { value: "edits", text: "Edit freely, shell in a sandbox" },
  { value: "full", text: "Full: no sandbox, no questions" },
] as const;

export const modesOf = (agent: AgentOut | null) => MODES.filter(({ value }) => !value || !agent || agent.modes.length === 0 || agent.modes.includes(value));

/** Said before anything is sent; empty: nothing is wrong that can be told here. */
export function problemWith({ budget, here }: Chosen, place: FolderOut | null): string {
  if (!(dollars(budget) >= 0)) return "The budget is a number of dollars, like 2.50.";
  if (!place || place.state === "ready" || (here && (place.state === "no_git" || place.state === "no_commit"))) return "";
  return place.says;
}

export function requested(chosen: Chosen, place: FolderOut | null, minted: string): NewSession {
  const { folder, prompt, agent, model, mode, budget, here, changes } = chosen;
  const said = (text: string): string | null => text.trim() || null;
  const limits = said(budget) ? { budget_usd: dollars(budget) } : {};
  const git = !(here && place !== null && place.state !== "ready");
  return {
    folder: place?.path ?? folder.trim(),
    prompt: said(prompt),
    input: minted,
    id: minted.slice(0, 12),
    agent: said(agent),
    model: said(model),
    mode: said(mode),
    limits,
    here,
    git,
    with_changes: changes && !here,
  };
}

const dollars = (text: string): number => Number(text.trim().replace(",", "."));
