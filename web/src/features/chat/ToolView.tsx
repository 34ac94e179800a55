/** One tool call: a line; open, what it was given and what came out. */
import { memo } from "react";
import { Fold } from "@/features/chat/Fold";
import { ToolBody } from "@/features/chat/ToolBody";
import { lasting, since } from "@/model/moments";
import { Icon, type IconName } from "@/ui/Icon";
import { useNow } from "@/ui/useNow";
import { Working } from "@/ui/Working";
import type { ToolItem } from "@/wire/types.gen";

const ICONS: Record<string, IconName> = {
  read: "file",
  list: "folder",
  search: "search",
  write: "edit",
  edit: "edit",
  apply_patchset: "diff",
  shell: "terminal",
  git_status: "branch",
  git_diff: "branch",
  git_commit: "branch",
  ask_user: "question",
  delegate: "fork",
  update_plan: "list",
  fetch: "globe",
  execute: "terminal",
  think: "brain",
};

interface Props {
  item: ToolItem;
  session: string;
}

export const ToolView = memo(({ item, session }: Props) => (
  <Fold
    id={item.id}
    testid="tool"
    head={
      <>
        <Lead item={item} />
        <Summary item={item} />
        <End item={item} />
      </>
    }
  >
    {() => <ToolBody item={item} session={session} />}
  </Fold>
));

function Lead({ item }: { item: ToolItem }) {
  if (item.status === "running") return <Working size={14} />;
  const trouble = item.failed || item.status === "denied";
  const tint = trouble ? "text-bad" : item.status === "unknown" ? "text-warn" : "text-ink-3";
  return <Icon name={ICONS[item.name] ?? "wrench"} size={14} className={tint} />;
}

function Summary({ item }: { item: ToolItem }) {
  const { name, summary } = item;
  const rest = summary.startsWith(name) ? summary.slice(name.length).replace(/^[:\s]+/, "") : summary;
  return (
    <span className="flex min-w-0 flex-1 items-baseline gap-2">
      <span className="shrink-0 font-medium text-ink-2">{name.replaceAll("_", " ")}</span>
      <span className="min-w-0 truncate font-mono text-xs text-ink-3">{rest}</span>
    </span>
  );
}

function End({ item }: { item: ToolItem }) {
  if (item.status === "running") return <Running begun={item.at} />;
  const words = outcome(item);
  const plain = item.status === "finished" && !item.failed;
  const took = item.millis > 0 ? lasting(item.millis) : "";
  const tint = item.failed || item.status === "denied" ? "text-bad" : item.status === "unknown" ? "text-warn" : "text-ink-3";
  return (
    <span className={`tabular shrink-0 text-2xs ${tint}`}>
      {plain && <span className="sr-only">finished</span>} {plain ? took : [words, took].filter(Boolean).join(" · ")}
    </span>
  );
}

function Running({ begun }: { begun: string }) {
  const now = useNow(1_000);
  return <span className="tabular shrink-0 text-2xs text-ink-3">{since(begun, now)}</span>;
}

const OUTCOMES: Record<ToolItem["status"], string> = {
  pending: "not started",
  running: "",
  finished: "",
  unknown: "result unknown",
  cancelled: "cancelled",
  denied: "not allowed",
};

const outcome = (item: ToolItem): string => (item.failed ? "failed" : OUTCOMES[item.status]);
