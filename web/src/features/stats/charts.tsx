/** Small charts. Each says in words what it shows, for those who cannot see it. */
import { useState } from "react";

export interface Day {
  day: string;
  parts: number[]; // bottom first
}

interface BarsProps {
  days: Day[];
  names: string[];
  tints: string[]; // classes that set the fill
  say(value: number): string;
  label: string;
}

const HEIGHT = 120;

/** One column per day; its parts stacked. */
export function Bars({ days, names, tints, say, label }: BarsProps) {
  const [over, setOver] = useState<number | null>(null);
  const most = Math.max(1e-9, ...days.map((day) => sum(day.parts)));
  const width = 100 / Math.max(1, days.length);
  const shown = over === null ? null : days[over];
  return (
    <figure onPointerLeave={() => setOver(null)} className="relative">
      <span className="tabular absolute -top-5 right-0 text-2xs text-ink-3" aria-hidden="true">
        {most > 1e-9 ? say(most) : ""}
      </span>
      <svg viewBox={`0 0 100 ${HEIGHT}`} preserveAspectRatio="none" className="h-30 w-full" role="img" aria-label={`${label}: at most ${say(most)} a day`}>
        {[0.25, 0.5, 0.75, 1].map((line) => (
          <line key={line} x1="0" x2="100" y1={HEIGHT * (1 - line) + 0.5} y2={HEIGHT * (1 - line) + 0.5} className="stroke-line" vectorEffect="non-scaling-stroke" />
        ))}
        {days.map((day, index) => (
          <g key={day.day} onPointerEnter={() => setOver(index)}>
            <rect x={index * width} y="0" width={width} height={HEIGHT} fill="transparent" className={over === index ? "fill-hover" : ""} />
            <Stack parts={day.parts} most={most} x={index * width} width={width} tints={tints} />
          </g>
        ))}
      </svg>
      <figcaption className="mt-1.5 flex justify-between gap-3 text-2xs text-ink-3">
        {shown ? (
          <span className="tabular">
            {onDay(shown.day)} · {names.map((name, index) => `${name} ${say(shown.parts[index] ?? 0)}`).join(" · ")}
          </span>
        ) : (
          <>
            <span className="tabular">{onDay(days[0]?.day)}</span>
            <Legend names={names} tints={tints} />
            <span className="tabular">{onDay(days.at(-1)?.day)}</span>
          </>
        )}
      </figcaption>
    </figure>
  );
}

function Stack({ parts, most, x, width, tints }: { parts: number[]; most: number; x: number; width: number; tints: string[] }) {
  let base = HEIGHT;
  return parts.map((part, index) => {
    const height = (part / most) * (HEIGHT - 4);
    base -= height;
    return <rect key={index} x={x + width * 0.18} y={base} width={width * 0.64} height={height} className={tints[index]} />;
  });
}

function Legend({ names, tints }: { names: string[]; tints: string[] }) {
  if (names.length < 2) return null;
  return (
    <span className="flex gap-3">
      {names.map((name, index) => (
        <span key={name} className="flex items-center gap-1.5">
          <svg width="8" height="8" aria-hidden="true">
            <rect width="8" height="8" rx="2" className={tints[index]} />
          </svg>
          {name}
        </span>
      ))}
    </span>
  );
}

/** What there is most of, longest first. */
export function Ranked({ rows, empty }: { rows: { name: string; about?: string; count: number; tint?: string }[]; empty: string }) {
  const most = Math.max(1, ...rows.map((row) => row.count));
  if (rows.length === 0) return empty && <p className="py-4 text-sm text-ink-3">{empty}</p>;
  return (
    <ul className="space-y-2">
      {rows.map(({ name, about, count, tint = "bg-accent" }) => (
        <li key={`${name} ${about}`} className="text-xs">
          <div className="mb-1 flex items-baseline justify-between gap-2">
            <span className="truncate text-ink-2">
              {name} {about && <span className="text-ink-3">{about}</span>}
            </span>
            <span className="tabular text-ink-3">{count}</span>
          </div>
          <div className="h-1.5 overflow-hidden rounded-full bg-hover">
            <div className={`h-full rounded-full ${tint}`} style={{ width: `${(count / most) * 100}%` }} />
          </div>
        </li>
      ))}
    </ul>
  );
}

/** Noon, so that it is the same day wherever it is read. */
const onDay = (day: string | undefined): string =>
  day ? new Date(`${day}T12:00:00`).toLocaleDateString(undefined, { day: "numeric", month: "short" }) : "";

const sum = (parts: number[]): number => parts.reduce((total, part) => total + part, 0);
