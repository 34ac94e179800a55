/** How often runs stop, why, how well they come back, and what it costs (SPEC K7, L1). */
import { type ReactNode, useEffect, useState } from "react";
import { Failure, get } from "@/connection/http";
import { Bars, Ranked } from "@/features/stats/charts";
import { ago, count, lasting, money } from "@/model/moments";
import { IconButton } from "@/ui/Button";
import { useNow } from "@/ui/useNow";
import { Working } from "@/ui/Working";
import { CONTEXT, DURING, REASONS, type StatsOut, type StopOutcome, WORKSPACE } from "@/wire/types.gen";

const SPANS = [7, 30, 90] as const;

export function Stats({ hrefOf, onBack }: { hrefOf(session: string): string; onBack(): void }) {
  const [days, setDays] = useState<number>(30);
  const [stats, setStats] = useState<StatsOut | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  useEffect(() => {
    get<StatsOut>(`/api/stats?days=${days}`)
      .then((found) => (setStats(found), setFailure(null)))
      .catch((error: unknown) => error instanceof Failure && setFailure(error));
  }, [days]);
  return (
    <main className="min-w-0 flex-1 overflow-y-auto overscroll-contain" data-testid="stats">
      <header className="sticky top-0 z-10 flex h-13 items-center gap-2 border-b border-line bg-page px-2 sm:px-4">
        <IconButton icon="back" label="Sessions" onClick={onBack} className="md:hidden" />
        <h1 className="flex-1 text-sm font-semibold">Dashboard</h1>
        <div role="group" aria-label="Days" className="flex rounded-lg border border-line p-0.5">
          {SPANS.map((span) => (
            <button
              key={span}
              type="button"
              aria-pressed={days === span}
              onClick={() => setDays(span)}
              className="h-7 rounded-md px-2.5 text-xs text-ink-3 aria-pressed:bg-chosen aria-pressed:text-ink touch:h-11"
            >
              {span} days
            </button>
          ))}
        </div>
      </header>
      {failure && <p className="p-4 text-sm text-bad">{failure.message}</p>}
      {!stats && !failure && <div className="p-6"><Working size={18} /></div>}
      {stats && <Figures stats={stats} hrefOf={hrefOf} />}
    </main>
  );
}

function Figures({ stats, hrefOf }: { stats: StatsOut; hrefOf(session: string): string }) {
  const { resumes, time_to_resume: time, per_day: days } = stats;
  const total = (pick: (day: StatsOut["per_day"][number]) => number) => days.reduce((sum, day) => sum + pick(day), 0);
  const tokens = total((day) => day.input_tokens + day.output_tokens);
  const rate = resumes.success_rate === null ? "–" : `${Math.round(resumes.success_rate * 100)} %`;
  return (
    <div className="mx-auto max-w-6xl space-y-4 p-3 sm:p-5">
      <div className="grid grid-cols-2 gap-3 lg:grid-cols-5">
        <Figure name="Runs" value={count(total((day) => day.runs))} about={`in ${stats.sessions} sessions`} />
        <Figure name="Interrupted" value={count(total((day) => day.interrupted))} about={`of ${count(total((day) => day.stops))} stops`} />
        <Figure name="Came back well" value={rate} about={`${resumes.succeeded} of ${resumes.succeeded + resumes.failed} resumes`} />
        <Figure name="Time to resume" value={time ? lasting(time.p50 * 1_000) : "–"} about={time ? `p90 ${lasting(time.p90 * 1_000)} · p99 ${lasting(time.p99 * 1_000)}` : "median"} />
        <Figure name="Cost" value={money(total((day) => day.cost))} about={`${count(tokens)} tokens`} />
      </div>
      <div className="grid gap-4 lg:grid-cols-2">
        <Panel title="Runs and stops">
          <Bars
            label="Stops by day"
            names={["other stops", "interrupted"]}
            tints={["fill-accent/45", "fill-warn"]}
            say={(value) => String(Math.round(value))}
            days={days.map(({ day, stops, interrupted }) => ({ day, parts: [Math.max(0, stops - interrupted), interrupted] }))}
          />
        </Panel>
        <Panel title="Cost">
          <Bars label="Cost by day" names={["cost"]} tints={["fill-accent"]} say={money} days={days.map(({ day, cost }) => ({ day, parts: [cost] }))} />
        </Panel>
        <Panel title="Why it stopped, and in which phase">
          <Ranked
            empty="Nothing has stopped."
            rows={stats.stops.slice(0, 8).map(({ reason, phase, count: times }) => ({ name: word(REASONS, reason), about: reason === "completed" ? "" : word(DURING, phase), count: times, tint: tintOf(reason) }))}
          />
        </Panel>
        <Panel title="How context came back, and what had changed">
          <Ranked empty="Nothing was resumed." rows={ranked(stats.strategies, CONTEXT)} />
          <div className="mt-4 border-t border-line pt-3 empty:hidden">
            <Ranked empty="" rows={ranked(stats.drifts, WORKSPACE).map((row) => ({ ...row, tint: row.name === WORKSPACE["same"] ? "bg-good" : "bg-warn" }))} />
          </div>
        </Panel>
      </div>
      <Panel title="Latest stops">
        <Latest rows={stats.interruptions.slice(0, 50)} hrefOf={hrefOf} />
      </Panel>
    </div>
  );
}

function Figure({ name, value, about }: { name: string; value: string; about: string }) {
  return (
    <div className="rounded-xl border border-line bg-raised px-4 py-3 max-lg:last:col-span-2">
      <p className="text-xs text-ink-3">{name}</p>
      <p className="tabular mt-0.5 text-xl font-semibold tracking-tight">{value}</p>
      <p className="tabular truncate text-2xs text-ink-3">{about}</p>
    </div>
  );
}

function Panel({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title} className="min-w-0 rounded-xl border border-line bg-raised p-4">
      <h2 className="mb-3 text-xs font-medium text-ink-2">{title}</h2>
      {children}
    </section>
  );
}

function Latest({ rows, hrefOf }: { rows: StopOutcome[]; hrefOf(session: string): string }) {
  const now = useNow(30_000);
  if (rows.length === 0) return <p className="py-4 text-sm text-ink-3">Nothing has stopped.</p>;
  return (
    <div className="-mx-4 overflow-x-auto px-4" tabIndex={0} role="region" aria-label="Latest stops, one by one">
      <table className="w-full text-left text-xs whitespace-nowrap">
        <thead className="text-ink-3">
          <tr>
            {["Session", "When", "Why", "Doing what", "Resumed after", "Context", "Workspace", "Result"].map((name) => (
              <th key={name} scope="col" className="pr-5 pb-2 font-medium">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="text-ink-2">
          {rows.map((row) => (
            <tr key={`${row.session} ${row.run}`} className="border-t border-line">
              <td className="py-2 pr-5">
                <a href={hrefOf(row.session)} className="font-mono text-accent-ink hover:underline">
                  {row.session.slice(0, 6)}
                </a>
              </td>
              <td className="tabular pr-5">{ago(row.at, now)}</td>
              <td className="pr-5">{word(REASONS, row.reason)}</td>
              <td className="pr-5">{word(DURING, row.phase)}</td>
              <td className="tabular pr-5">{row.seconds_to_resume === null ? "–" : lasting(row.seconds_to_resume * 1_000)}</td>
              <td className="pr-5">{word(CONTEXT, row.strategy) || "–"}</td>
              <td className="pr-5">{word(WORKSPACE, row.drift) || "–"}</td>
              <td className={row.success === false ? "text-bad" : row.success ? "text-good" : ""}>
                {row.success === null ? "open" : row.success ? "came back" : "failed"}
                {row.repeated > 0 && ` · ${row.repeated} repeated`}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const word = (table: Record<string, string>, name: string): string => table[name] ?? name;

const ranked = (counts: Record<string, number>, table: Record<string, string>) =>
  Object.entries(counts)
    .map(([name, times]) => ({ name: word(table, name), count: times }))
    .sort((a, b) => b.count - a.count);

function tintOf(reason: string): string {
  if (reason === "completed") return "bg-good";
  return reason === "error" ? "bg-bad" : reason === "cancelled" ? "bg-ink-3" : "bg-warn";
}
