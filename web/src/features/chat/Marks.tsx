/** What stands between messages: resumes, stops, notices, the plan, a coder at work. */
import type { ReactNode } from "react";
import { Fold } from "@/features/chat/Fold";
import { clock, countdown, moment, titled } from "@/model/moments";
import { Icon, type IconName } from "@/ui/Icon";
import { useNow } from "@/ui/useNow";
import { Working } from "@/ui/Working";
import type { CoderItem, CompactedItem, DividerItem, NoticeItem, PlanItem, PlanLine, RewoundItem, StopItem } from "@/wire/types.gen";
import { CONTEXT } from "@/wire/types.gen";

export function Divider({ item }: { item: DividerItem }) {
  const about = item.strategy ? `Context: ${CONTEXT[item.strategy] ?? item.strategy}` : "";
  const rule = <Rule icon="play" text={item.text} about={about} at={item.at} />;
  if (!item.briefing) return <div data-testid="divider">{rule}</div>;
  return (
    <Fold id={item.id} testid="divider" head={rule}>
      {() => <pre className="code rounded-lg border border-line bg-sunken px-3 py-2 whitespace-pre-wrap text-ink-2">{item.briefing}</pre>}
    </Fold>
  );
}

export function Rewound({ item }: { item: RewoundItem }) {
  return (
    <div data-testid="rewound">
      <Rule icon="rewind" text={item.text} about="" at={item.at} />
    </div>
  );
}

export function Compacted({ item }: { item: CompactedItem }) {
  const rule = <Rule icon="archive" text="What came before was summarised" about="" at={item.at} />;
  return (
    <Fold id={item.id} testid="compacted" head={rule}>
      {() => <p className="border-l border-line pl-3 text-[0.8125rem] whitespace-pre-wrap text-ink-2">{item.summary}</p>}
    </Fold>
  );
}

function Rule({ icon, text, about, at }: { icon: IconName; text: string; about: string; at: string }) {
  return (
    <span className="flex min-w-0 flex-1 items-center gap-3 text-xs text-ink-3" title={moment(at)}>
      <span className="h-px flex-1 bg-line" />
      <span className="flex min-w-0 items-center gap-1.5">
        <Icon name={icon} size={11} />
        <span className="truncate font-medium">{text}</span>
        {about && <span className="truncate max-sm:hidden">{about}</span>}
        <span className="tabular">{clock(at)}</span>
      </span>
      <span className="h-px flex-1 bg-line" />
    </span>
  );
}

const TINT: Record<NoticeItem["level"], string> = { info: "text-ink-3", warning: "text-warn", error: "text-bad" };

export function Notice({ item }: { item: NoticeItem }) {
  return (
    <p className="flex items-baseline gap-2 text-[0.8125rem] text-ink-2" data-testid="notice" data-level={item.level}>
      <Icon name={item.level === "info" ? "info" : "warning"} size={14} className={`translate-y-0.5 ${TINT[item.level]}`} />
      <span className="min-w-0 break-words">
        {item.text} {item.until && <Until until={item.until} />}
      </span>
    </p>
  );
}

function Until({ until }: { until: string }) {
  const left = countdown(until, useNow(1_000));
  return left ? <span className="tabular text-ink-3">{left}</span> : null;
}

const STOPS: Record<string, IconName> = { completed: "check", cancelled: "pause", interrupted: "pause", error: "warning", rate_limited: "hourglass", budget_exceeded: "bolt" };

export function StopLine({ item }: { item: StopItem }) {
  const tint = item.reason === "completed" ? "text-good" : item.reason === "error" ? "text-bad" : "text-ink-3";
  return (
    <p className="flex items-baseline gap-2 text-xs text-ink-3" data-testid="stop" data-reason={item.reason} title={moment(item.at)}>
      <Icon name={STOPS[item.reason] ?? "wrench"} size={13} className={`translate-y-0.5 ${tint}`} />
      <span className="font-medium text-ink-2">{titled(item)}</span>
      {item.text && <span className="min-w-0 truncate max-sm:hidden">{item.text}</span>}
      <span className="tabular ml-auto shrink-0">{clock(item.at)}</span>
    </p>
  );
}

export function Plan({ item }: { item: PlanItem }) {
  const done = item.items.filter((line) => line.state === "done").length;
  return (
    <Card icon="list" title="Plan" about={`${done}/${item.items.length}`} testid="plan">
      <ul className="space-y-1">
        {item.items.map((line, index) => (
          <li key={index} className="flex items-start gap-2 text-[0.8125rem]">
            <PlanMark state={line.state} />
            <span className={line.state === "done" ? "text-ink-3 line-through decoration-line-2" : line.state === "in_progress" ? "font-medium" : "text-ink-2"}>
              {line.text}
              <span className="sr-only">, {line.state.replace("_", " ")}</span>
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function PlanMark({ state }: { state: PlanLine["state"] }) {
  return (
    <span className="flex h-5 w-4 items-center justify-center">
      {state === "done" ? (
        <Icon name="check" size={13} className="text-good" />
      ) : (
        <span className={`size-[7px] rounded-full ${state === "in_progress" ? "breathing bg-accent" : "border-[1.5px] border-line-2"}`} />
      )}
    </span>
  );
}

export function Coder({ item }: { item: CoderItem }) {
  return (
    <Card icon="fork" title="Coder" about={item.finished ? "finished" : "at work"} testid="coder" busy={!item.finished}>
      <p className="text-[0.8125rem] whitespace-pre-wrap">{item.task}</p>
      <Lines title="Open" lines={item.open_tasks} />
      <Lines title="Files" lines={item.files_touched} />
      <Lines title="Assumptions" lines={item.assumptions} />
      <Lines title="Errors" lines={item.errors} />
    </Card>
  );
}

function Lines({ title, lines }: { title: string; lines: string[] }) {
  if (lines.length === 0) return null;
  return (
    <div className="mt-1.5 text-xs text-ink-2">
      <span className="text-ink-3">{title}: </span>
      {lines.join(", ")}
    </div>
  );
}

interface CardProps {
  icon: IconName;
  title: string;
  about: string;
  testid: string;
  busy?: boolean;
  children: ReactNode;
}

function Card({ icon, title, about, testid, busy = false, children }: CardProps) {
  return (
    <section aria-label={title} data-testid={testid} className="rounded-xl border border-line bg-raised px-3.5 py-2.5 shadow-soft">
      <h2 className="mb-1.5 flex items-center gap-2 text-xs text-ink-3">
        {busy ? <Working size={13} /> : <Icon name={icon} size={13} />}
        <span className="font-medium text-ink-2">{title}</span>
        <span className="tabular">{about}</span>
      </h2>
      {children}
    </section>
  );
}
