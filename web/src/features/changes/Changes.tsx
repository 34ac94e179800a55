/** What the session changed, file by file, and the way out for it: Apply. */
import { useCallback, useMemo, useRef, useState } from "react";
import { VList, type VListHandle } from "virtua";
import { ApplyDialog } from "@/features/changes/ApplyDialog";
import { Counts, DiffRowView } from "@/features/changes/DiffRowView";
import { useDiff } from "@/features/changes/useDiff";
import { diffRows } from "@/model/patch";
import type { Notes } from "@/store/notes";
import { Button, IconButton } from "@/ui/Button";
import { Working } from "@/ui/Working";
import type { SessionOut } from "@/wire/types.gen";

interface Props {
  session: SessionOut;
  notes: Notes;
  onClose(): void;
}

export function Changes({ session, notes, onClose }: Props) {
  // A run that ends has changed something; while it goes on the user asks.
  const { diff, failure, loading, load, whole } = useDiff(session.id, `${session.id} ${session.run}`);
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const [applying, setApplying] = useState(false);
  const list = useRef<VListHandle>(null);
  const rows = useMemo(() => (diff ? diffRows(diff.files, folded) : []), [diff, folded]);
  const fold = useCallback((path: string) => setFolded((was) => toggled(was, path)), []);
  const step = (by: number) => {
    const heads = rows.flatMap((row, index) => (row.row === "file" ? [index] : []));
    const top = list.current?.findItemIndex(list.current.scrollOffset + 1) ?? 0;
    const next = by > 0 ? heads.find((index) => index > top) : heads.findLast((index) => index < top);
    if (next !== undefined) list.current?.scrollToIndex(next);
  };
  return (
    <section aria-label="Changes" className="flex h-full min-h-0 flex-col" data-testid="changes">
      <header className="flex h-13 shrink-0 items-center gap-1 border-b border-line pr-2 pl-4">
        <h2 className="flex min-w-0 flex-1 items-center gap-2.5 text-sm font-semibold">
          Changes
          {diff && (
            <span className="flex items-center gap-2.5 text-xs font-normal text-ink-3" data-testid="diff-total">
              {diff.files.length === 1 ? "1 file" : `${diff.files.length} files`}
              <Counts added={diff.added} removed={diff.removed} />
            </span>
          )}
          {loading && <Working size={13} />}
        </h2>
        <IconButton icon="arrowUp" label="Previous file" onClick={() => step(-1)} className="max-sm:hidden" />
        <IconButton icon="arrowDown" label="Next file" onClick={() => step(1)} className="max-sm:hidden" />
        <IconButton icon="rewind" label="Look again" onClick={load} />
        {diff && diff.files.length > 0 && (
          <Button look="primary" onClick={() => setApplying(true)} data-testid="apply">
            Apply
          </Button>
        )}
        <IconButton icon="close" label="Close changes" onClick={onClose} data-testid="changes-close" />
      </header>
      {failure && <p className="border-b border-line px-4 py-3 text-sm text-bad">{failure.message} {failure.hint}</p>}
      {diff && diff.files.length === 0 && <p className="p-8 text-center text-sm text-ink-3">Nothing has changed since {diff.base.slice(0, 7)}.</p>}
      <div className="min-h-0 flex-1" data-testid="diff-rows">
        <VList ref={list} data={rows} style={{ height: "100%" }} tabIndex={0} className="overscroll-contain outline-offset-[-2px]">
          {(row) => <DiffRowView key={row.key} row={row} folded={row.row === "file" && folded.has(row.key)} onFold={fold} onWhole={whole} />}
        </VList>
      </div>
      {diff && diff.left_out.length > 0 && (
        <p className="shrink-0 border-t border-line px-4 py-2 text-xs text-ink-3">Not shown, too large: {diff.left_out.join(", ")}</p>
      )}
      {applying && diff && <ApplyDialog session={session} files={diff.files.length} notes={notes} onClose={() => setApplying(false)} />}
    </section>
  );
}

function toggled(set: ReadonlySet<string>, item: string): ReadonlySet<string> {
  const next = new Set(set);
  if (!next.delete(item)) next.add(item);
  return next;
}
