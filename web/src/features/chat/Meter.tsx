/** What the run uses, under the input: mode, context, cost, time. */
import { count, money, since } from "@/model/moments";
import { useNow } from "@/ui/useNow";
import { MODES, type ProgressOut, type SessionOut } from "@/wire/types.gen";

export function Meter({ session }: { session: SessionOut }) {
  const { tokens, cost, mode, progress } = session;
  return (
    <p className="flex items-center gap-3 px-2 text-2xs text-ink-3" data-testid="meter">
      {mode && <span className="truncate">{MODES[mode] ?? mode}</span>}
      <span className="flex-1" />
      {progress && <Elapsed progress={progress} />}
      {progress && <Context progress={progress} />}
      <span className="tabular" title={`${tokens.input} in, ${tokens.output} out`}>
        {count(tokens.input + tokens.output)} tokens
      </span>
      <span className="tabular">{money(cost)}</span>
    </p>
  );
}

function Elapsed({ progress }: { progress: ProgressOut }) {
  const now = useNow(1_000);
  if (!progress.started_at) return null;
  return (
    <span className="tabular" title="Since this run began">
      round {progress.round} · {since(progress.started_at, now)}
    </span>
  );
}

function Context({ progress }: { progress: ProgressOut }) {
  const { context_used: used, context_window: window } = progress;
  if (!used) return null;
  if (!window) return <span className="tabular max-sm:hidden">{count(used)} context</span>;
  const share = Math.min(1, used / window);
  return (
    <span className="tabular flex items-center gap-1.5" title={`${count(used)} of ${count(window)} tokens of context`}>
      <span className="h-1 w-10 overflow-hidden rounded-full bg-line-2" aria-hidden="true">
        <span className={`block h-full ${share > 0.85 ? "bg-warn" : "bg-accent"}`} style={{ width: `${share * 100}%` }} />
      </span>
      {Math.round(share * 100)}%
    </span>
  );
}
