/** The agent asks: its options as buttons, numbered, with keys 1-9 while the card has the focus. */
import { type FormEvent, type KeyboardEvent, useState } from "react";
import { Input } from "@/features/chat/ToolBody";
import { aboutOf, givenTo } from "@/model/tools";
import type { Sent } from "@/store/courier";
import { Button } from "@/ui/Button";
import { Icon } from "@/ui/Icon";
import type { QuestionItem } from "@/wire/types.gen";

interface Props {
  item: QuestionItem;
  sent: Sent | null; // our answer, on its way
  enabled: boolean;
  onAnswer(decision: string, answer: string): void;
}

export function Question({ item, sent, enabled, onAnswer }: Props) {
  const open = item.answer === null && item.withdrawn === null;
  if (!open) return <Answered item={item} />;
  const refused = sent?.state === "refused" ? sent.failure : null;
  const waits = sent !== null && refused === null;
  const give = (answer: string) => enabled && !waits && onAnswer(item.decision, answer);
  const byKey = (event: KeyboardEvent) => {
    const option = item.options[Number(event.key) - 1];
    if (option && !(event.target instanceof HTMLInputElement)) give(option);
  };
  return (
    <section
      aria-label="The agent asks"
      data-testid="question"
      data-decision={item.decision}
      tabIndex={-1}
      onKeyDown={byKey}
      className="rounded-xl border border-amber-300 bg-amber-50/60 px-4 py-3 dark:border-amber-700/50 dark:bg-amber-900/15"
    >
      <h2 className="mb-1 flex items-center gap-2 text-xs font-medium text-amber-800 dark:text-amber-200">
        <Icon name="question" size={14} />
        <span className="inline-block first-letter:uppercase">{item.question_kind.replaceAll("_", " ")}</span>
      </h2>
      <p className={`text-[0.9375rem] leading-relaxed break-words whitespace-pre-wrap ${item.title ? "mb-2 font-medium" : "mb-3"}`}>{item.title || item.text}</p>
      {item.title && <About item={item} />}
      {item.options.length > 0 ? (
        <div className="flex flex-wrap gap-2">
          {item.options.map((option, index) => (
            <Button key={option} look={index === 0 ? "primary" : "plain"} disabled={!enabled || waits} onClick={() => give(option)} data-testid="question-option">
              <span className="inline-block first-letter:uppercase">{option}</span>
              {index < 9 && <kbd className="font-mono text-2xs opacity-70 touch:hidden">{index + 1}</kbd>}
            </Button>
          ))}
        </div>
      ) : (
        <FreeAnswer disabled={!enabled || waits} onAnswer={give} />
      )}
      {waits && <p className="mt-2 text-xs text-ink-3">{sent.state === "queued" ? "Waits for the connection" : "Answering…"}</p>}
      {refused && (
        <p className="mt-2 text-xs text-bad" role="alert">
          {refused.message}
        </p>
      )}
    </section>
  );
}

/** What would be done: a command, a file, a change; as it was written, on demand. */
function About({ item }: { item: QuestionItem }) {
  const [raw, setRaw] = useState(false);
  const given = raw ? ({ shape: "raw", text: item.input } as const) : givenTo(item.input);
  return (
    <div className="mb-3 max-h-72 space-y-2 overflow-y-auto" data-testid="question-about">
      <Input given={given} />
      {item.note && <p className="text-xs text-ink-2">{item.note}</p>}
      <button type="button" aria-pressed={raw} onClick={() => setRaw(!raw)} className="text-xs font-medium text-accent-ink hover:underline touch:min-h-11">
        {raw ? "Readable" : "As it was written"}
      </button>
    </div>
  );
}

function FreeAnswer({ disabled, onAnswer }: { disabled: boolean; onAnswer(answer: string): void }) {
  const [text, setText] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim()) onAnswer(text.trim());
  };
  return (
    <form onSubmit={submit} className="flex gap-2">
      <input
        value={text}
        onChange={(event) => setText(event.target.value)}
        aria-label="Your answer"
        placeholder="Your answer"
        className="h-8 min-w-0 flex-1 rounded-lg border border-line-2 bg-raised px-3 text-sm touch:h-11 touch:text-base"
      />
      <Button look="primary" type="submit" disabled={disabled || !text.trim()}>
        Answer
      </Button>
    </form>
  );
}

function Answered({ item }: { item: QuestionItem }) {
  return (
    <div className="flex items-baseline gap-2 text-[0.8125rem] text-ink-3" data-testid="question" data-answered="true">
      <Icon name="question" size={14} className="translate-y-0.5" />
      <span className="min-w-0 truncate">{item.title ? `${item.title} ${aboutOf(item.input)}` : item.text}</span>
      <span className="ml-auto inline-block max-w-[50%] shrink-0 truncate font-medium text-ink-2 first-letter:uppercase">{item.answer ?? item.withdrawn}</span>
    </div>
  );
}
