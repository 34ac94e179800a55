/** Go back to a round, here (rewind) or in another session (fork). */
import { type FormEvent, useMemo, useState } from "react";
import { Failure } from "@/connection/http";
import { type ItemList, standing } from "@/model/items";
import { Button } from "@/ui/Button";
import { Dialog } from "@/ui/Dialog";
import { Check } from "@/ui/Field";

export interface Chosen {
  round: number;
  code: boolean;
  conversation: boolean;
}

interface Props {
  way: "fork" | "rewind";
  items: ItemList;
  round: number | null; // chosen beforehand
  onDo(chosen: Chosen): Promise<void>;
  onClose(): void;
}

const WORDS = {
  fork: { title: "Fork from a round", button: "Fork", about: "Another session begins with everything up to the end of the round. This one stays as it is." },
  rewind: { title: "Rewind to a round", button: "Rewind", about: "Back to how it was at the end of the round. What is there now is kept first, and can be brought back." },
} as const;

export function RoundDialog({ way, items, round, onDo, onClose }: Props) {
  const rounds = useMemo(() => roundsOf(items), [items]);
  const [chosen, setChosen] = useState(round ?? rounds[0]?.round ?? 0);
  const [code, setCode] = useState(true);
  const [conversation, setConversation] = useState(true);
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure | null>(null);
  const { title, button, about } = WORDS[way];
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    try {
      await onDo({ round: chosen, code, conversation });
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      setFailure(error);
      setBusy(false);
    }
  };
  return (
    <Dialog title={title} onClose={onClose} testid={`${way}-dialog`}>
      <form onSubmit={(event) => void submit(event)} className="space-y-4 p-4">
        <p className="text-sm text-ink-2">{about}</p>
        <fieldset className="max-h-64 min-w-0 overflow-y-auto rounded-lg border border-line-2 p-1">
          <legend className="sr-only">Round</legend>
          {rounds.map((each) => (
            <label key={each.round} className="flex cursor-pointer items-center gap-3 rounded-md px-2.5 py-1.5 text-[0.8125rem] hover:bg-hover has-checked:bg-chosen touch:min-h-11">
              <input type="radio" name="round" checked={chosen === each.round} onChange={() => setChosen(each.round)} className="accent-purple-600" />
              <span className="tabular w-16 shrink-0 text-ink-3">{each.round === 0 ? "Beginning" : `Round ${each.round}`}</span>
              <span className="min-w-0 truncate">{each.words}</span>
            </label>
          ))}
        </fieldset>
        {way === "rewind" && (
          <div className="flex gap-5">
            <Check label="Files" checked={code} onChange={setCode} />
            <Check label="Conversation" checked={conversation} onChange={setConversation} />
          </div>
        )}
        {failure && (
          <p role="alert" className="text-sm text-bad">
            {failure.message} <span className="text-ink-3">{failure.hint}</span>
          </p>
        )}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" disabled={busy || (way === "rewind" && !code && !conversation)} data-testid={`${way}-confirm`}>
            {button}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

const plainly = (markdown: string): string => markdown.replace(/[#*`>_|]+/g, "").trim().slice(0, 120);

/** Those that are loaded, newest first, each by its first words; and the beginning. */
function roundsOf(items: ItemList): { round: number; words: string }[] {
  const found = new Map<number, string>();
  for (const item of standing(items)) {
    if (item.kind === "assistant" && item.round > 0 && !item.streaming) found.set(item.round, found.get(item.round) || plainly(item.text));
  }
  const rounds = [...found].map(([round, words]) => ({ round, words })).sort((a, b) => b.round - a.round);
  return [...rounds, { round: 0, words: "" }];
}
