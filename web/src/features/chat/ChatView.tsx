/** One session: its conversation, the banner, the input. What may be done is what its document says. */
import { type ReactNode, type RefObject, useCallback, useMemo, useRef, useState } from "react";
import { ChatHeader } from "@/features/chat/ChatHeader";
import { Foot } from "@/features/chat/Foot";
import { RowView } from "@/features/chat/RowView";
import { type Row, rowsOf } from "@/features/chat/rows";
import { Timeline } from "@/features/chat/Timeline";
import type { ComposerHandle } from "@/features/composer/Composer";
import { Question } from "@/features/questions/Question";
import { rename } from "@/store/deeds";
import type { Notes } from "@/store/notes";
import { useObserved } from "@/store/observed";
import type { SessionStore } from "@/store/session";
import type { Choice } from "@/ui/Menu";
import { Working } from "@/ui/Working";
import type { QuestionItem } from "@/wire/types.gen";

interface Props {
  store: SessionStore;
  notes: Notes;
  choices: Choice[];
  composer: RefObject<ComposerHandle | null>;
  changes: boolean;
  renaming: boolean;
  onRenamed(): void;
  onBack(): void;
  onChanges(): void;
  onPlan(): void;
  onRound(way: "fork" | "rewind", round: number): void;
}

export function ChatView(props: Props) {
  const { store, notes, choices, composer, changes, renaming, onRenamed, onBack, onChanges, onPlan, onRound } = props;
  const shown = useObserved(store, (state) => state);
  const { items, document: session, sent, role, line, older, failure } = shown;
  const rows = useMemo(() => rowsOf(items, sent, session), [items, sent, session]);
  const draw = useDraw(store, rows.length, composer, onRound);
  const renamed = (title: string | null) => {
    onRenamed();
    if (title !== null) void notes.trying(rename(store.id, title));
  };
  return (
    <main className="flex min-h-0 min-w-0 flex-1 flex-col" data-testid="chat" data-session={store.id}>
      <ChatHeader session={session} line={line} choices={choices} changes={changes} renaming={renaming} onRename={renamed} onBack={onBack} onChanges={onChanges} />
      {rows.length > 0 ? (
        <Timeline key={`timeline ${store.id}`} rows={rows} draw={draw} older={older} onTop={() => void store.loadOlder()} asks={(session?.pending.length ?? 0) > 0} />
      ) : (
        <Empty fresh={shown.fresh} trouble={failure?.message ?? ""} hint={failure?.hint ?? ""} />
      )}
      {session && <Foot key={`foot ${store.id}`} store={store} shown={shown} session={session} role={role} notes={notes} composer={composer} onPlan={onPlan} />}
    </main>
  );
}

function useDraw(store: SessionStore, count: number, composer: RefObject<ComposerHandle | null>, onRound: Props["onRound"]) {
  const toRound = useRef(onRound);
  toRound.current = onRound;
  const round = useCallback((way: "fork" | "rewind", number: number) => toRound.current(way, number), []);
  const question = useCallback((item: QuestionItem): ReactNode => <Asked store={store} item={item} />, [store]);
  const edit = useCallback(
    (text: string, command: string) => {
      store.courier.drop(command);
      composer.current?.fill(text);
    },
    [store, composer],
  );
  return (row: Row, index: number) => (
    <RowView key={row.key} row={row} index={index} count={count} session={store.id} onEdit={edit} onRound={round} question={question} />
  );
}

function Asked({ store, item }: { store: SessionStore; item: QuestionItem }) {
  const { sent, role, document } = useObserved(store, (state) => state);
  const ours = sent.find(({ command }) => command.type === "answer" && command.decision === item.decision);
  const enabled = role === "driving" && (document?.actions.includes("answer") ?? false);
  return <Question item={item} sent={ours ?? null} enabled={enabled} onAnswer={store.answer} />;
}

function Empty({ fresh, trouble, hint }: { fresh: boolean; trouble: string; hint: string }) {
  const [late, setLate] = useState(false);
  useMemo(() => setTimeout(() => setLate(true), 300), []);
  return (
    <div className="flex flex-1 flex-col items-center justify-center gap-1 p-6 text-center text-sm text-ink-3">
      {trouble ? (
        <>
          <p className="font-medium text-ink-2">{trouble}</p>
          <p>{hint}</p>
        </>
      ) : fresh ? (
        <p>Nothing has been said yet.</p>
      ) : (
        late && <Working size={18} />
      )}
    </div>
  );
}
