/** One row of a diff. */
import { memo, useMemo } from "react";
import type { DiffRow } from "@/model/patch";
import { highlighted, languageOf } from "@/ui/highlight";
import { Icon } from "@/ui/Icon";
import type { FileOut } from "@/wire/types.gen";

interface Props {
  row: DiffRow;
  folded: boolean;
  onFold(path: string): void;
  onWhole(path: string): void;
}

export const DiffRowView = memo(({ row, folded, onFold, onWhole }: Props) => {
  switch (row.row) {
    case "file":
      return <FileHead file={row.file} folded={folded} onFold={onFold} />;
    case "hunk":
      return <p className="mt-1 truncate bg-sunken px-3 py-1 font-mono text-2xs text-ink-3">{row.text || "…"}</p>;
    case "note":
      return <Remark text={row.text} path={row.path} onWhole={onWhole} />;
    case "line":
      return <Line row={row} />;
  }
});

const TINT = { "+": "bg-add", "-": "bg-del", " " : "" } as const;
const SPOKEN = { "+": "added ", "-": "removed ", " ": "" } as const;

function Line({ row }: { row: Extract<DiffRow, { row: "line" }> }) {
  const html = useMemo(() => highlighted(row.text, languageOf(row.path)), [row.text, row.path]);
  return (
    <div className={`flex font-mono text-xs leading-5 ${TINT[row.sign]}`} data-sign={row.sign}>
      <Number value={row.was} />
      <Number value={row.is} />
      <span className="w-4 shrink-0 text-center text-ink-3 select-none" aria-hidden="true">
        {row.sign === "-" ? "−" : row.sign}
      </span>
      {row.sign !== " " && <span className="sr-only">{SPOKEN[row.sign]}</span>}
      <code className="min-w-0 flex-1 pr-3 break-all whitespace-pre-wrap" dangerouslySetInnerHTML={{ __html: html || " " }} />
    </div>
  );
}

function Number({ value }: { value: number | null }) {
  return <span className="tabular w-10 shrink-0 pr-1.5 text-right text-2xs leading-5 text-ink-3 select-none max-sm:first:hidden">{value}</span>;
}

const STATUS: Record<string, { letter: string; tint: string }> = {
  added: { letter: "A", tint: "text-good" },
  untracked: { letter: "U", tint: "text-good" },
  deleted: { letter: "D", tint: "text-bad" },
  renamed: { letter: "R", tint: "text-accent-ink" },
};

function FileHead({ file, folded, onFold }: { file: FileOut; folded: boolean; onFold(path: string): void }) {
  const { letter, tint } = STATUS[file.status] ?? { letter: "M", tint: "text-warn" };
  const cut = file.path.lastIndexOf("/") + 1;
  return (
    <button
      type="button"
      onClick={() => onFold(file.path)}
      aria-expanded={!folded}
      data-testid="diff-file"
      data-path={file.path}
      data-status={file.status}
      className="flex h-9 w-full items-center gap-2 border-y border-line bg-side px-3 text-left text-xs outline-offset-[-2px] hover:bg-hover touch:h-11"
    >
      <Icon name="chevron" size={12} className={`text-ink-3 transition-transform ${folded ? "" : "rotate-90"}`} />
      <span className={`w-3 font-mono font-semibold ${tint}`} title={file.status}>
        {letter}
      </span>
      <span className="min-w-0 flex-1 truncate font-mono" title={file.before ? `${file.before} → ${file.path}` : file.path}>
        <span className="text-ink-3">{file.path.slice(0, cut)}</span>
        <span className="font-medium">{file.path.slice(cut)}</span>
        {file.before && <span className="text-ink-3"> ← {file.before}</span>}
      </span>
      <Counts added={file.added} removed={file.removed} />
    </button>
  );
}

export function Counts({ added, removed }: { added: number | null; removed: number | null }) {
  if (added === null && removed === null) return <span className="text-2xs text-ink-3">binary</span>;
  return (
    <span className="tabular flex shrink-0 gap-1.5 font-mono text-2xs">
      <span className="text-good">+{added ?? 0}</span>
      <span className="text-bad">−{removed ?? 0}</span>
    </span>
  );
}

function Remark({ text, path, onWhole }: { text: string; path: string | null; onWhole(path: string): void }) {
  return (
    <p className="flex items-center gap-2 px-3 py-1.5 text-xs text-ink-3">
      {text}
      {path !== null && (
        <button type="button" onClick={() => onWhole(path)} className="font-medium text-accent-ink hover:underline touch:min-h-11">
          Show it
        </button>
      )}
    </p>
  );
}
