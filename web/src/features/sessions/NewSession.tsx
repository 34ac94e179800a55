/** A session to begin: what to do, where, by whom, within which limits. What was chosen last is offered first. */
import { type FormEvent, type ReactNode, useMemo, useState } from "react";
import { Failure, post } from "@/connection/http";
import { mint } from "@/connection/socket";
import { type Chosen, modesOf, problemWith, requested } from "@/model/choosing";
import { folderOf } from "@/model/place";
import { useAnswer, useTyped } from "@/store/asked";
import { useObserved } from "@/store/observed";
import type { Sessions } from "@/store/sessions";
import { shelf } from "@/store/shelf";
import { Button } from "@/ui/Button";
import { Dialog } from "@/ui/Dialog";
import { Check, Choose, Field } from "@/ui/Field";
import type { AgentOut, AgentsOut, Created, FolderOut, ModelsOut, SessionOut } from "@/wire/types.gen";

interface Props {
  sessions: Sessions; // their folders and models are offered
  onCreated(created: Created): void;
  onClose(): void;
}

const LAST = "holdfast:last-choice";
const BLANK: Chosen = { prompt: "", folder: "", agent: "", model: "", mode: "", budget: "", here: false, changes: false };

export function NewSession({ sessions, onCreated, onClose }: Props) {
  const all = useObserved(sessions, (state) => state.sessions);
  const known = useMemo(() => [...all.values()].sort((a, b) => (a.updated_at < b.updated_at ? 1 : -1)), [all]);
  const folders = useMemo(() => unique(known.map(folderOf)), [known]);
  const [changed, setChanged] = useState<Partial<Chosen>>(last);
  const chosen: Chosen = { ...BLANK, folder: folders[0] ?? "", ...changed };
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [minted, setMinted] = useState(mint); // said again, it is the same session; said otherwise, another
  const put = (changes: Partial<Chosen>) => (setChanged({ ...changed, ...changes }), setFailure(null), setMinted(mint()));
  const agents = useAnswer<AgentsOut>("/api/agents");
  const place = useTyped<FolderOut>(chosen.folder.trim() ? `/api/folder?${new URLSearchParams({ path: chosen.folder.trim() })}` : null);
  const agent = agents?.agents.find(({ name }) => name === (chosen.agent || agents.usual)) ?? null;
  const create = async (event: FormEvent) => {
    event.preventDefault();
    const problem = problemWith(chosen, place);
    if (problem) return setFailure(new Failure("invalid", problem));
    setBusy(true);
    try {
      const created = await post<Created>("/api/sessions", requested(chosen, place, minted));
      shelf.setItem(LAST, JSON.stringify({ ...chosen, prompt: "", changes: false }));
      onCreated(created);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      setFailure(error);
      setBusy(false);
    }
  };
  return (
    <Dialog title="New session" onClose={onClose} testid="new-dialog">
      <form onSubmit={(event) => void create(event)} className="space-y-4 p-4">
        <textarea
          data-first
          rows={3}
          value={chosen.prompt}
          onChange={(event) => put({ prompt: event.target.value })}
          onKeyDown={(event) => event.key === "Enter" && (event.metaKey || event.ctrlKey) && event.currentTarget.form?.requestSubmit()}
          placeholder="What should the agent do?"
          aria-label="What should the agent do?"
          data-testid="new-prompt"
          className="field-sizing-content max-h-60 min-h-20 w-full resize-none rounded-lg border border-line-2 bg-page px-3 py-2 text-[0.9375rem] placeholder:text-ink-3 touch:text-base"
        />
        <div className="space-y-1.5">
          <Field label="Folder" value={chosen.folder} onChange={(folder) => put({ folder })} options={folders} required placeholder="/path/to/a/repository" hint={<Place place={place} here={chosen.here} />} testid="new-folder" />
          <Check label={place?.state === "no_git" ? "Work in this folder as it is, without git" : "Work in this folder itself, not in a work tree of its own"} checked={chosen.here} onChange={(here) => put({ here })} />
          {!chosen.here && (place?.uncommitted ?? 0) > 0 && <Check label="Bring my uncommitted changes along" checked={chosen.changes} onChange={(changes) => put({ changes })} />}
        </div>
        <div className="grid grid-cols-2 gap-3">
          <Choose label="Agent" value={agent?.name ?? chosen.agent} options={offered(agents, chosen.agent)} onChange={(name) => put({ agent: name, model: "", mode: "" })} testid="new-agent" />
          <Model agent={agent} known={known} value={chosen.model} onChange={(model) => put({ model })} />
          <Choose label="Permissions" value={chosen.mode} options={modesOf(agent)} onChange={(mode) => put({ mode })} testid="new-mode" />
          <Field label="Budget, US$" value={chosen.budget} onChange={(budget) => put({ budget })} inputMode="decimal" placeholder="no limit" testid="new-budget" />
        </div>
        {agent?.hint && <Hint agent={agent} />}
        {failure && (
          <p role="alert" className="text-sm text-bad" data-testid="new-failure">
            {failure.message} <span className="text-ink-3">{failure.hint}</span>
          </p>
        )}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" disabled={busy} data-testid="new-create">
            {busy ? "Starting…" : chosen.prompt.trim() ? "Start" : "Create"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function Place({ place, here }: { place: FolderOut | null; here: boolean }): ReactNode {
  if (!place) return "\u00a0"; // the line is there before its words are
  if (place.state !== "ready") {
    return (
      <span className={here && place.state !== "missing" ? "" : "text-warn"} data-testid="new-place" data-state={place.state}>
        {place.says}
      </span>
    );
  }
  const changes = place.uncommitted === 1 ? "1 uncommitted change" : `${place.uncommitted} uncommitted changes`;
  const left = place.uncommitted === 0 ? "" : here ? ` · ${changes}` : ` · ${changes}, not in the session's own tree`;
  return (
    <span data-testid="new-place" data-state="ready">
      On {place.branch}
      {left}
    </span>
  );
}

/** For the built-in agent every model of the providers with a key: the list takes a second. */
function Model({ agent, known, value, onChange }: { agent: AgentOut | null; known: SessionOut[]; value: string; onChange(model: string): void }) {
  const all = useAnswer<ModelsOut>(agent?.name === "builtin" ? "/api/models" : null);
  const used = known.filter((session) => session.agent === agent?.name).map(({ model }) => model);
  const options = unique([...(agent?.models ?? []), ...used, ...(all?.models ?? [])]);
  return <Field label="Model" value={value} onChange={onChange} options={options} placeholder={agent?.name === "builtin" ? (agent.models[0] ?? "provider:model") : "its own default"} testid="new-model" />;
}

function Hint({ agent }: { agent: AgentOut }) {
  const text = agent.logged_in === null ? `If ${agent.title} is not logged in: ${agent.hint}` : agent.hint;
  return (
    <p className={`text-xs ${agent.logged_in === false ? "text-warn" : "text-ink-3"}`} data-testid="new-hint">
      {text}
    </p>
  );
}

function offered(agents: AgentsOut | null, wanted: string) {
  if (!agents) return [{ value: wanted, text: wanted || "…" }];
  return agents.agents.map(({ name, title, version, installed }) => ({
    value: name,
    text: installed ? [title, version].filter(Boolean).join(" ") : `${title}, not installed`,
    disabled: !installed,
  }));
}

function last(): Partial<Chosen> {
  try {
    return JSON.parse(shelf.getItem(LAST) ?? "{}") as Partial<Chosen>;
  } catch {
    return {};
  }
}

const unique = (all: string[]): string[] => [...new Set(all.filter(Boolean))];
