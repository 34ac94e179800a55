/** Find a session by its title at once, and by any word that was said in it a moment later. */
import { type KeyboardEvent, useEffect, useMemo, useState } from "react";
import { Failure, get } from "@/connection/http";
import { ago } from "@/model/moments";
import { arranged } from "@/model/sessions";
import { Dialog } from "@/ui/Dialog";
import { Icon } from "@/ui/Icon";
import { useNow } from "@/ui/useNow";
import { Working } from "@/ui/Working";
import type { Hit, SearchOut, SessionOut } from "@/wire/types.gen";

interface Props {
  sessions: ReadonlyMap<string, SessionOut>;
  onOpen(session: string): void;
  onClose(): void;
}

const PAUSE = 180; // after the last letter
const TITLES = 6;

export function Search({ sessions, onOpen, onClose }: Props) {
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState(0);
  const { hits, busy, trouble } = useHits(text);
  const titles = useMemo(() => arranged(sessions.values(), text).slice(0, TITLES), [sessions, text]);
  const targets = [...titles.map((session) => session.id), ...hits.map((hit) => hit.session)];
  const key = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) setChosen((at) => Math.min(Math.max(0, at + step), targets.length - 1));
    else if (event.key === "Enter" && targets[chosen]) onOpen(targets[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Search" onClose={onClose} wide testid="search-dialog">
      <div className="flex items-center gap-2.5 border-b border-line px-4">
        {busy ? <Working size={16} /> : <Icon name="search" size={16} className="text-ink-3" />}
        <input
          data-first
          type="search"
          value={text}
          onChange={(event) => (setText(event.target.value), setChosen(0))}
          onKeyDown={key}
          placeholder="Words in titles and conversations"
          aria-label="Search"
          role="combobox"
          aria-expanded={targets.length > 0}
          aria-controls="search-results"
          aria-activedescendant={targets[chosen] ? `found-${chosen}` : undefined}
          data-testid="search-input"
          className="h-12 min-w-0 flex-1 bg-transparent text-[0.9375rem] outline-none placeholder:text-ink-3 touch:text-base"
        />
      </div>
      <div id="search-results" role="listbox" aria-label="Found" className="min-h-48 p-2">
        {titles.map((session, index) => (
          <Found key={session.id} index={index} chosen={chosen === index} onOpen={() => onOpen(session.id)} title={session.title} about={session.doing} at={session.updated_at} />
        ))}
        {hits.map((hit, index) => {
          const at = titles.length + index;
          return <Found key={`${hit.session} ${hit.seq}`} index={at} chosen={chosen === at} onOpen={() => onOpen(hit.session)} title={hit.title} about={hit.who} at={hit.at} hit={hit} />;
        })}
        {trouble && <p className="p-3 text-sm text-bad">{trouble}</p>}
        {!busy && text.trim() !== "" && targets.length === 0 && <p className="p-6 text-center text-sm text-ink-3">Nothing found.</p>}
      </div>
    </Dialog>
  );
}

interface FoundProps {
  index: number;
  chosen: boolean;
  onOpen(): void;
  title: string;
  about: string;
  at: string;
  hit?: Hit;
}

function Found({ index, chosen, onOpen, title, about, at, hit }: FoundProps) {
  const now = useNow(30_000);
  return (
    <div id={`found-${index}`} role="option" aria-selected={chosen} onClick={onOpen} data-testid="found" className="cursor-pointer rounded-lg px-3 py-2 hover:bg-hover aria-selected:bg-chosen">
      <p className="flex items-baseline gap-2">
        <span className="min-w-0 flex-1 truncate text-[0.8125rem] font-medium">{title || "Untitled"}</span>
        <span className="shrink-0 text-2xs text-ink-3">
          {about} · {ago(at, now)}
        </span>
      </p>
      {hit && (
        <p className="mt-0.5 line-clamp-2 text-xs break-words text-ink-3">
          {hit.snippet.slice(0, hit.begin)}
          <mark className="rounded-sm bg-accent/25 text-ink">{hit.snippet.slice(hit.begin, hit.end)}</mark>
          {hit.snippet.slice(hit.end)}
        </p>
      )}
    </div>
  );
}

function useHits(text: string): { hits: Hit[]; busy: boolean; trouble: string } {
  const [hits, setHits] = useState<Hit[]>([]);
  const [busy, setBusy] = useState(false);
  const [trouble, setTrouble] = useState("");
  useEffect(() => {
    const words = text.trim();
    if (!words) return setHits([]);
    const asked = new AbortController();
    setBusy(true);
    const timer = setTimeout(() => {
      get<SearchOut>(`/api/search?${new URLSearchParams({ q: words, limit: "30" })}`, asked.signal)
        .then((found) => (setHits(found.hits.filter((hit) => hit.seq > 0)), setTrouble("")))
        .catch((error: unknown) => error instanceof Failure && setTrouble(error.message))
        .finally(() => asked.signal.aborted || setBusy(false));
    }, PAUSE);
    return () => {
      clearTimeout(timer);
      asked.abort();
      setBusy(false);
    };
  }, [text]);
  return { hits, busy, trouble };
}
