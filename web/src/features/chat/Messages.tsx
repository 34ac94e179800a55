/** What the user and the agent said. */
import { type ReactNode, memo } from "react";
import { Fold } from "@/features/chat/Fold";
import { clock, moment } from "@/model/moments";
import type { Sent } from "@/store/courier";
import { Copy } from "@/ui/Copy";
import { Icon } from "@/ui/Icon";
import { Markdown } from "@/ui/Markdown";
import type { AssistantItem, UserItem } from "@/wire/types.gen";

export const UserMessage = memo(({ item }: { item: UserItem }) => (
  <Bubble>
    <span title={moment(item.at)}>{item.text}</span>
  </Bubble>
));

/** Said, and not yet in the journal: it is on its way, waits for a network, or was refused. */
export function SentMessage({ sent, onEdit }: { sent: Sent; onEdit(text: string): void }) {
  if (sent.command.type !== "prompt") return null;
  const { text } = sent.command;
  const refused = sent.state === "refused";
  return (
    <div data-testid="sent" data-state={sent.state} className={refused ? "" : "opacity-70"}>
      <Bubble>{text}</Bubble>
      <p className={`mt-1 text-right text-2xs ${refused ? "text-bad" : "text-ink-3"}`} role={refused ? "alert" : undefined}>
        {refused ? `Not sent: ${sent.failure?.message ?? ""} ` : sent.state === "queued" ? "Waits for the connection" : "Sending…"}
        {refused && (
          <button type="button" onClick={() => onEdit(text)} className="font-medium underline touch:min-h-11">
            Edit
          </button>
        )}
      </p>
    </div>
  );
}

function Bubble({ children }: { children: ReactNode }) {
  return (
    <div className="ml-auto w-fit max-w-[85%] rounded-2xl rounded-br-md bg-chosen px-4 py-2.5 text-[0.9375rem] leading-relaxed break-words whitespace-pre-wrap">
      {children}
    </div>
  );
}

interface SaidProps {
  item: AssistantItem;
  onRound(way: "fork" | "rewind", round: number): void;
}

export const AssistantMessage = memo(({ item, onRound }: SaidProps) => (
  <div className="group/said relative space-y-1.5">
    {item.thinking && <Thinking item={item} />}
    {item.text && <Markdown text={item.text} growing={item.streaming} />}
    {item.text && !item.streaming && <Tools item={item} onRound={onRound} />}
  </div>
));

/** Under a message, for whoever points at it. */
function Tools({ item, onRound }: SaidProps) {
  return (
    <div className="absolute right-0 bottom-0 z-10 flex items-center rounded-lg bg-raised opacity-0 shadow-float transition-opacity group-hover/said:opacity-100 focus-within:opacity-100 touch:hidden">
      <Copy text={item.text} label="Copy message" />
      <Tool icon="fork" label={`Fork from round ${item.round}`} onClick={() => onRound("fork", item.round)} />
      <Tool icon="rewind" label={`Rewind to round ${item.round}`} onClick={() => onRound("rewind", item.round)} />
      {/* Drawn, not written: what is read and copied is what was said. */}
      <span data-time={clock(item.at)} className="tabular px-2 text-2xs text-ink-3 before:content-[attr(data-time)]" />
    </div>
  );
}

function Tool({ icon, label, onClick }: { icon: "fork" | "rewind"; label: string; onClick(): void }) {
  return (
    <button type="button" onClick={onClick} aria-label={label} title={label} className="inline-flex size-7 items-center justify-center rounded-md text-ink-3 hover:bg-hover hover:text-ink">
      <Icon name={icon} size={14} />
    </button>
  );
}

function Thinking({ item }: { item: AssistantItem }) {
  const now = item.streaming && !item.text;
  return (
    <Fold
      id={`${item.id}/thinking`}
      testid="thinking"
      head={
        <>
          <Icon name="brain" size={14} className={now ? "breathing text-accent" : "text-ink-3"} />
          <span className="font-medium text-ink-2">{now ? "Thinking" : "Thought"}</span>
          <span className="min-w-0 flex-1 truncate text-xs text-ink-3">{glimpse(item.thinking, now)}</span>
        </>
      }
    >
      {() => (
        <div className="border-l border-line pl-3 text-[0.8125rem] leading-relaxed whitespace-pre-wrap text-ink-3">{item.thinking}</div>
      )}
    </Fold>
  );
}

/** While it goes on, its last line; afterwards, its first. */
function glimpse(text: string, now: boolean): string {
  const lines = text.split("\n").filter((line) => line.trim());
  return (now ? lines.at(-1) : lines[0]) ?? "";
}
