/** The sessions: who needs you first, then who works, then the rest. */
import { type ReactNode, type RefObject, useMemo, useState } from "react";
import { VList } from "virtua";
import { SessionRow } from "@/features/sessions/SessionRow";
import { GROUPS, arranged, groupOf } from "@/model/sessions";
import { useObserved } from "@/store/observed";
import type { Sessions } from "@/store/sessions";
import { IconButton } from "@/ui/Button";
import { Icon } from "@/ui/Icon";
import { useNow } from "@/ui/useNow";
import type { SessionOut } from "@/wire/types.gen";

interface Props {
  sessions: Sessions;
  current: string | null;
  hrefOf(session: string): string;
  onNew(): void;
  onSearch(): void;
  filter: RefObject<HTMLInputElement | null>;
  foot: ReactNode;
}

export function SessionList({ sessions, current, hrefOf, onNew, onSearch, filter, foot }: Props) {
  const [text, setText] = useState("");
  const all = useObserved(sessions, (state) => state.sessions);
  const loaded = useObserved(sessions, (state) => state.loaded);
  const next = useObserved(sessions, (state) => state.next);
  const shown = useMemo(() => arranged(all.values(), text), [all, text]);
  return (
    <nav aria-label="Sessions" className="flex h-full min-h-0 flex-col" data-testid="session-list">
      <header className="flex h-13 shrink-0 items-center gap-1 pr-2 pl-4">
        <Mark />
        <span className="ml-1 flex-1 text-sm font-semibold tracking-tight">Holdfast</span>
        <IconButton icon="search" label="Search everything" shortcut="Control+K" onClick={onSearch} data-testid="search" />
        <IconButton icon="plus" label="New session" shortcut="n" onClick={onNew} data-testid="new-session" />
      </header>
      <div className="relative px-3 pb-2">
        <Icon name="filter" size={14} className="pointer-events-none absolute top-[9px] left-5.5 text-ink-3 touch:top-[15px]" />
        <input
          ref={filter}
          type="search"
          value={text}
          onChange={(event) => setText(event.target.value)}
          placeholder="Filter sessions"
          aria-label="Filter sessions"
          data-testid="session-filter"
          className="h-8 w-full rounded-lg border border-line bg-page pr-2 pl-8 text-[0.8125rem] placeholder:text-ink-3 touch:h-11 touch:text-base"
        />
      </div>
      {shown.length === 0 && loaded ? (
        <Nothing filtered={text !== ""} onNew={onNew} />
      ) : (
        <Rows shown={shown} current={current} hrefOf={hrefOf} onOlder={next === null ? null : () => void sessions.loadOlder()} />
      )}
      {foot}
    </nav>
  );
}

type Line = { title: string; count: number } | { older: true } | SessionOut;

interface RowsProps extends Pick<Props, "current" | "hrefOf"> {
  shown: SessionOut[];
  onOlder: (() => void) | null;
}

function Rows({ shown, current, hrefOf, onOlder }: RowsProps) {
  const now = useNow(30_000);
  const more = onOlder !== null;
  const lines = useMemo(() => [...withTitles(shown), ...(more ? [OLDER] : [])], [shown, more]);
  return (
    <div className="min-h-0 flex-1">
      <VList data={lines} style={{ height: "100%" }} className="px-2 pb-2">
        {(line) =>
          "count" in line ? (
            <h2 key={line.title} className="flex items-center gap-1.5 px-2.5 pt-3 pb-1 text-2xs font-medium text-ink-3">
              {line.title}
              <span className="tabular opacity-80">{line.count}</span>
            </h2>
          ) : "older" in line ? (
            <button key="older" type="button" onClick={() => onOlder?.()} className="h-9 w-full rounded-lg text-xs font-medium text-ink-3 hover:bg-hover touch:h-11">
              Earlier sessions
            </button>
          ) : (
            <SessionRow key={line.id} session={line} href={hrefOf(line.id)} current={line.id === current} now={now} />
          )
        }
      </VList>
    </div>
  );
}

const OLDER: Line = { older: true };

function withTitles(shown: SessionOut[]): Line[] {
  return GROUPS.flatMap(({ group, title }): Line[] => {
    const members = shown.filter((session) => groupOf(session) === group);
    return members.length > 0 ? [{ title, count: members.length }, ...members] : [];
  });
}

function Nothing({ filtered, onNew }: { filtered: boolean; onNew(): void }) {
  return (
    <div className="flex flex-1 flex-col items-center gap-1 px-6 pt-10 text-center text-[0.8125rem] text-ink-3">
      {filtered ? (
        <p>No session matches.</p>
      ) : (
        <>
          <p className="text-ink-2">No sessions yet.</p>
          <p>
            <button type="button" onClick={onNew} className="font-medium text-accent-ink hover:underline">
              Start one
            </button>{" "}
            or run <code className="font-mono text-xs">hold run "…"</code>
          </p>
        </>
      )}
    </div>
  );
}

function Mark() {
  return <img src="/icon.svg" alt="" width={22} height={22} className="rounded-md" />;
}
