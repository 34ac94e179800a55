/** The session's name, where it works, and what may be done with it. */
import { type FormEvent, useState } from "react";
import type { Line } from "@/connection/socket";
import { agentOf, nameOf } from "@/model/place";
import { IconButton } from "@/ui/Button";
import { Icon } from "@/ui/Icon";
import { type Choice, Menu } from "@/ui/Menu";
import type { SessionOut } from "@/wire/types.gen";

interface Props {
  session: SessionOut | null;
  line: Line;
  choices: Choice[];
  changes: boolean;
  renaming: boolean;
  onRename(title: string | null): void;
  onBack(): void;
  onChanges(): void;
}

export function ChatHeader({ session, line, choices, changes, renaming, onRename, onBack, onChanges }: Props) {
  return (
    <header className="flex h-13 shrink-0 items-center gap-1.5 border-b border-line px-2 sm:pl-4">
      <IconButton icon="back" label="Sessions" onClick={onBack} className="md:hidden" data-testid="back" />
      <div className="min-w-0 flex-1">
        {renaming && session ? (
          <Rename title={session.title} onDone={onRename} />
        ) : (
          <h1 className="truncate text-sm leading-5 font-semibold" data-testid="title">
            {session?.title || "Untitled"}
          </h1>
        )}
        {session && <Where session={session} />}
      </div>
      <Connection line={line} />
      <button
        type="button"
        onClick={onChanges}
        aria-pressed={changes}
        title="Changes (d)"
        aria-keyshortcuts="d"
        data-testid="changes-button"
        className="inline-flex touch:min-w-11 justify-center h-8 items-center gap-1.5 rounded-lg px-2.5 text-[0.8125rem] font-medium text-ink-2 hover:bg-hover hover:text-ink aria-pressed:bg-chosen aria-pressed:text-ink touch:h-11"
      >
        <Icon name="diff" size={16} />
        <span className="max-sm:sr-only">Changes</span>
      </button>
      <Menu label="Session menu" choices={choices} testid="session-menu" />
    </header>
  );
}

function Where({ session }: { session: SessionOut }) {
  const { workspace, model } = session;
  const folder = nameOf(session);
  return (
    <p className="flex min-w-0 items-center gap-1.5 text-xs text-ink-3" title={workspace.path}>
      <span className="truncate">{[agentOf(session), model].filter(Boolean).join(" · ")}</span>
      {folder && <span className="shrink-0 max-sm:hidden">· {folder}</span>}
      {workspace.branch && (
        <span className="flex min-w-0 items-center gap-1 max-sm:hidden">
          <Icon name="branch" size={12} />
          <span className="truncate">{workspace.branch}</span>
        </span>
      )}
    </p>
  );
}

function Connection({ line }: { line: Line }) {
  if (line === "live") return <span className="sr-only" data-testid="line" data-line={line} />;
  return (
    <span
      data-testid="line"
      data-line={line}
      className="flex shrink-0 items-center gap-1.5 rounded-full bg-amber-50 px-2.5 py-1 text-xs font-medium text-amber-800 dark:bg-amber-900/25 dark:text-amber-200"
    >
      <Icon name="wifiOff" size={13} />
      {line === "connecting" ? "Connecting" : "Offline"}
    </span>
  );
}

function Rename({ title, onDone }: { title: string; onDone(title: string | null): void }) {
  const [text, setText] = useState(title);
  const save = (event: FormEvent) => {
    event.preventDefault();
    onDone(text.trim() && text !== title ? text.trim() : null);
  };
  return (
    <form onSubmit={save}>
      <input
        autoFocus
        value={text}
        onChange={(event) => setText(event.target.value)}
        onFocus={(event) => event.target.select()}
        onBlur={() => onDone(null)}
        onKeyDown={(event) => event.key === "Escape" && (event.stopPropagation(), onDone(null))}
        aria-label="Title"
        data-testid="rename-input"
        className="h-6 w-full rounded border border-line-2 bg-raised px-1.5 text-sm font-semibold touch:h-9 touch:text-base"
      />
    </form>
  );
}
