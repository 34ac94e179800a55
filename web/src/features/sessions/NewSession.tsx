/** A session to begin: what to do, where, by whom, within which limits. */
import { type FormEvent, useMemo, useState } from "react";
import { Failure, post } from "@/connection/http";
import { mint } from "@/connection/socket";
import { folderOf } from "@/model/place";
import { Button } from "@/ui/Button";
import { Dialog } from "@/ui/Dialog";
import { Check, Choose, Field } from "@/ui/Field";
import type { Created, NewSession as Wanted, SessionOut } from "@/wire/types.gen";

interface Props {
  known: SessionOut[]; // newest first: their folders, agents and models are offered
  onCreated(created: Created): void;
  onClose(): void;
}

const MODES = [
  { value: "", text: "As configured" },
  { value: "read-only", text: "Read only" },
  { value: "ask", text: "Ask before every change" },
  { value: "edits", text: "Edit freely, shell in a sandbox" },
  { value: "full", text: "Full: no sandbox, no questions" },
] as const;

const blank = { prompt: "", folder: "", agent: "", model: "", mode: "", budget: "" };

export function NewSession({ known, onCreated, onClose }: Props) {
  const folders = useMemo(() => unique(known.map(folderOf)), [known]);
  const [wanted, setWanted] = useState({ ...blank, folder: folders[0] ?? "" });
  const [here, setHere] = useState(false);
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [input] = useState(mint); // one for all attempts: the second one is recognised
  const put = (name: keyof typeof blank) => (value: string) => setWanted({ ...wanted, [name]: value });
  const create = async (event: FormEvent) => {
    event.preventDefault();
    if (!(dollars(wanted.budget) >= 0)) return setFailure(new Failure("invalid", "The budget is a number of dollars, like 2.50."));
    setBusy(true);
    setFailure(null);
    try {
      onCreated(await post<Created>("/api/sessions", asked(wanted, here, input)));
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
          value={wanted.prompt}
          onChange={(event) => put("prompt")(event.target.value)}
          onKeyDown={(event) => event.key === "Enter" && (event.metaKey || event.ctrlKey) && event.currentTarget.form?.requestSubmit()}
          placeholder="What should the agent do?"
          aria-label="What should the agent do?"
          data-testid="new-prompt"
          className="field-sizing-content max-h-60 min-h-20 w-full resize-none rounded-lg border border-line-2 bg-page px-3 py-2 text-[0.9375rem] placeholder:text-ink-3 touch:text-base"
        />
        <Field label="Folder" value={wanted.folder} onChange={put("folder")} options={folders} required placeholder="/path/to/a/repository" testid="new-folder" />
        <div className="grid grid-cols-2 gap-3">
          <Field label="Agent" value={wanted.agent} onChange={put("agent")} options={unique(known.map(({ agent }) => agent))} placeholder="as configured" testid="new-agent" />
          <Field label="Model" value={wanted.model} onChange={put("model")} options={unique(known.map(({ model }) => model))} placeholder="as configured" testid="new-model" />
          <Choose label="Permissions" value={wanted.mode} options={MODES} onChange={put("mode")} testid="new-mode" />
          <Field label="Budget, US$" value={wanted.budget} onChange={put("budget")} inputMode="decimal" placeholder="none" testid="new-budget" />
        </div>
        <Check label="Work in this folder itself, not in a work tree of its own" checked={here} onChange={setHere} />
        {failure && (
          <p role="alert" className="text-sm text-bad" data-testid="new-failure">
            {failure.message} <span className="text-ink-3">{failure.hint}</span>
          </p>
        )}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" disabled={busy} data-testid="new-create">
            {busy ? "Starting…" : wanted.prompt.trim() ? "Start" : "Create"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function asked(wanted: typeof blank, here: boolean, input: string): Wanted {
  const { folder, prompt, agent, model, mode, budget } = wanted;
  const said = (text: string): string | null => text.trim() || null;
  const limits = said(budget) ? { budget_usd: dollars(budget) } : {};
  return { folder: folder.trim(), prompt: said(prompt), input, agent: said(agent), model: said(model), mode: said(mode), limits, here };
}

const dollars = (text: string): number => Number(text.trim().replace(",", "."));

const unique = (all: string[]): string[] => [...new Set(all.filter(Boolean))];
