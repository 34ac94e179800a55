/** The session's menu: what its document says may be done, in words. */
import type { Failure } from "@/connection/http";
import { archive, close, pin, reopen, restore, trash } from "@/store/deeds";
import type { Notes } from "@/store/notes";
import type { Choice } from "@/ui/Menu";
import type { SessionOut } from "@/wire/types.gen";

export interface Openers {
  rename(): void;
  plan(): void;
  fork(): void;
  rewind(): void;
  gone(): void; // the session was put away
  loses(failure: Failure): void; // putting it away would lose work
}

export function choicesFor(session: SessionOut | null, notes: Notes, open: Openers): Choice[] {
  if (!session) return [];
  const { id, pinned, archived, actions } = session;
  const may = new Set(actions);
  const put = async (what: Promise<unknown>, done: string, undo: () => Promise<unknown>) => {
    if (!(await notes.trying(what, "", open.loses))) return;
    notes.say(done, { undo: () => void notes.trying(undo()) });
    open.gone();
  };
  const all: (Choice & { needs: string })[] = [
    { needs: "rename", icon: "edit", text: "Rename", onChoose: open.rename },
    { needs: "pin", icon: "pin", text: pinned ? "Unpin" : "Pin", onChoose: () => void notes.trying(pin(id, pinned)) },
    { needs: "resume", icon: "info", text: "What happens on resume", onChoose: open.plan },
    { needs: "rewind", icon: "rewind", text: "Rewind…", onChoose: open.rewind },
    { needs: "fork", icon: "fork", text: "Fork…", onChoose: open.fork },
    { needs: "reopen", icon: "play", text: "Reopen", onChoose: () => void notes.trying(reopen(id)) },
    { needs: "close", icon: "check", text: "Close as completed", onChoose: () => void notes.trying(close(id), "Closed.") },
    {
      needs: "archive",
      icon: "archive",
      text: archived ? "Bring back from the archive" : "Archive",
      onChoose: () => void put(archive(id, archived), archived ? "Back in the list." : "Archived.", () => archive(id, !archived)),
    },
    { needs: "trash", icon: "trash", text: "Move to trash", danger: true, onChoose: () => void put(trash(id, false), "Moved to the trash.", () => restore(id)) },
  ];
  return all.filter((choice) => may.has(choice.needs));
}
