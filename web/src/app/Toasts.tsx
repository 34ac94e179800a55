import type { Notes } from "@/store/notes";
import { useObserved } from "@/store/observed";
import { IconButton } from "@/ui/Button";
import { Icon } from "@/ui/Icon";

export function Toasts({ notes }: { notes: Notes }) {
  const shown = useObserved(notes, (state) => state.notes);
  return (
    <div role="status" aria-live="polite" className="pointer-events-none fixed top-15 right-3 z-40 flex w-[min(24rem,calc(100vw-1.5rem))] flex-col gap-2">
      {shown.map((note) => (
        <div key={note.id} data-testid="toast" className="rising pointer-events-auto flex items-start gap-2.5 rounded-xl bg-raised py-2 pr-1.5 pl-3.5 text-[0.8125rem] shadow-float">
          <Icon name={note.bad ? "warning" : "check"} size={16} className={`mt-1.5 ${note.bad ? "text-bad" : "text-good"}`} />
          <div className="min-w-0 flex-1 py-1">
            <p className="break-words">{note.text}</p>
            {note.hint && <p className="text-xs break-words text-ink-3">{note.hint}</p>}
          </div>
          {note.undo && (
            <button type="button" onClick={() => (note.undo?.(), notes.drop(note.id))} className="h-8 rounded-lg px-2 font-medium text-accent-ink hover:bg-hover touch:h-11" data-testid="toast-undo">
              Undo
            </button>
          )}
          <IconButton icon="close" label="Close" onClick={() => notes.drop(note.id)} />
        </div>
      ))}
    </div>
  );
}
