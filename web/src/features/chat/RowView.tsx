/** One line of the conversation. */
import { type ReactNode, memo } from "react";
import { Coder, Compacted, Divider, Notice, Plan, Rewound, StopLine } from "@/features/chat/Marks";
import { AssistantMessage, SentMessage, UserMessage } from "@/features/chat/Messages";
import type { Row } from "@/features/chat/rows";
import { ToolView } from "@/features/chat/ToolView";
import { since } from "@/model/moments";
import { useNow } from "@/ui/useNow";
import { Working } from "@/ui/Working";
import type { Item, QuestionItem, SessionOut } from "@/wire/types.gen";

interface Props {
  row: Row;
  index: number;
  count: number;
  session: string;
  onEdit(text: string, command: string): void;
  onRound(way: "fork" | "rewind", round: number): void;
  question(item: QuestionItem): ReactNode;
}

const NAMES: Record<Item["kind"], string> = {
  user: "You",
  assistant: "Agent",
  tool: "Tool",
  plan: "Plan",
  divider: "Resumed",
  notice: "Notice",
  rewound: "Rewound",
  question: "Question",
  stop: "Stopped",
  compacted: "Summary",
  coder: "Coder",
};

// More air around what people say, little between what tools do.
const AIR: Partial<Record<Item["kind"], string>> = { user: "pt-5 pb-2", tool: "py-px", divider: "py-4", rewound: "py-4", stop: "py-2" };

export const RowView = memo(({ row, index, count, session, onEdit, onRound, question }: Props) => {
  const kind = row.row === "item" ? row.item.kind : row.row === "sent" ? "user" : "assistant";
  const edge = `${index === 0 ? "mt-4" : ""} ${index === count - 1 ? "mb-4" : ""}`;
  return (
    <article
      aria-posinset={index + 1}
      aria-setsize={count}
      aria-label={NAMES[kind]}
      data-kind={row.row === "item" ? row.item.kind : row.row}
      className={`mx-auto w-full max-w-[47rem] px-4 sm:px-6 ${AIR[kind] ?? "py-2"} ${edge}`}
    >
      {row.row === "item" ? (
        row.item.kind === "question" ? (
          question(row.item)
        ) : (
          <ItemView item={row.item} session={session} onRound={onRound} />
        )
      ) : row.row === "sent" ? (
        <SentMessage sent={row.sent} onEdit={(text) => onEdit(text, row.sent.command.id)} />
      ) : (
        <AtWork session={row.session} />
      )}
    </article>
  );
});

function ItemView({ item, session, onRound }: { item: Exclude<Item, QuestionItem> } & Pick<Props, "session" | "onRound">) {
  switch (item.kind) {
    case "user":
      return <UserMessage item={item} />;
    case "assistant":
      return <AssistantMessage item={item} onRound={onRound} />;
    case "tool":
      return <ToolView item={item} session={session} />;
    case "plan":
      return <Plan item={item} />;
    case "divider":
      return <Divider item={item} />;
    case "notice":
      return <Notice item={item} />;
    case "stop":
      return <StopLine item={item} />;
    case "rewound":
      return <Rewound item={item} />;
    case "compacted":
      return <Compacted item={item} />;
    case "coder":
      return <Coder item={item} />;
  }
}

function AtWork({ session }: { session: SessionOut }) {
  const now = useNow(1_000);
  const progress = session.progress;
  const going = progress?.started_at ? since(progress.started_at, now) : "";
  const doing = progress?.cancelling ? "stopping" : (progress?.tool ?? session.doing).replaceAll("_", " ");
  return (
    <p className="flex items-center gap-2 text-[0.8125rem] text-ink-3" data-testid="working">
      <Working size={14} />
      <span className="first-letter:uppercase">{doing}</span>
      <span className="tabular text-2xs">{going}</span>
    </p>
  );
}
