/** What was said while the agent worked, in the order in which it will hear it. */
import { type FormEvent, useState } from "react";
import { IconButton } from "@/ui/Button";
import { Icon } from "@/ui/Icon";
import type { QueuedOut } from "@/wire/types.gen";

interface Props {
  queue: QueuedOut[];
  held: boolean;
  enabled: boolean;
  onEdit(input: string, text: string): Promise<void>;
  onWithdraw(input: string): Promise<void>;
}

export function Queue({ queue, held, enabled, onEdit, onWithdraw }: Props) {
  if (queue.length === 0) return null;
  return (
    <section aria-label="Queue" data-testid="queue" className="rounded-xl border border-line bg-side px-2 py-1.5">
      <h2 className="flex items-center gap-1.5 px-1.5 pb-0.5 text-2xs font-medium text-ink-3">
        <Icon name="clock" size={12} />
        {held ? `${queue.length} held until you resume` : `${queue.length} queued`}
      </h2>
      <ol>
        {queue.map((input) => (
          <Queued key={input.id} input={input} enabled={enabled} onEdit={onEdit} onWithdraw={onWithdraw} />
        ))}
      </ol>
    </section>
  );
}

function Queued({ input, enabled, onEdit, onWithdraw }: { input: QueuedOut } & Pick<Props, "enabled" | "onEdit" | "onWithdraw">) {
  const [draft, setDraft] = useState<string | null>(null);
  const save = (event: FormEvent) => {
    event.preventDefault();
    if (draft?.trim() && draft !== input.text) void onEdit(input.id, draft);
    setDraft(null);
  };
  if (draft !== null) {
    return (
      <li>
        <form onSubmit={save} className="flex items-center gap-1 py-0.5">
          <input
            autoFocus
            value={draft}
            onChange={(event) => setDraft(event.target.value)}
            onKeyDown={(event) => event.key === "Escape" && (event.stopPropagation(), setDraft(null))}
            aria-label="Edit the queued message"
            className="h-8 min-w-0 flex-1 rounded-lg border border-line-2 bg-raised px-2 text-[0.8125rem] touch:h-11 touch:text-base"
          />
          <IconButton icon="check" label="Save" type="submit" />
          <IconButton icon="close" label="Leave as it was" onClick={() => setDraft(null)} />
        </form>
      </li>
    );
  }
  return (
    <li className="group flex items-center rounded-lg pl-1.5 hover:bg-hover" data-testid="queued">
      <span className="min-w-0 flex-1 truncate text-[0.8125rem] text-ink-2">{input.text}</span>
      {enabled && (
        <>
          <IconButton icon="edit" label="Edit" onClick={() => setDraft(input.text)} />
          <IconButton icon="close" label="Withdraw" onClick={() => void onWithdraw(input.id)} />
        </>
      )}
    </li>
  );
}
