/** Whatever dialog is open. */
import { ELSEWHERE, type Key } from "@/app/keys";
import type { Page } from "@/app/page";
import { HOME, go, hrefOf } from "@/app/route";
import type { Failure } from "@/connection/http";
import { LosesDialog } from "@/features/sessions/LosesDialog";
import { Help } from "@/features/help/Help";
import { PlanDialog } from "@/features/resume/PlanDialog";
import { type Chosen, RoundDialog } from "@/features/resume/RoundDialog";
import { Search } from "@/features/search/Search";
import { NewSession } from "@/features/sessions/NewSession";
import { fork, rewind, trash } from "@/store/deeds";
import type { Notes } from "@/store/notes";
import type { SessionStore } from "@/store/session";
import type { Created, SessionOut } from "@/wire/types.gen";

export type Open = "new" | "plan" | "help" | "search" | { way: "fork" | "rewind"; round: number | null } | { loses: Failure } | null;

interface Props {
  page: Page;
  store: SessionStore | null;
  session: SessionOut | null;
  notes: Notes;
  open: Open;
  setOpen(open: Open): void;
  keys: readonly Key[];
  onChanges(): void;
}

export function Dialogs({ page, store, session, notes, open, setOpen, keys, onChanges }: Props) {
  const close = () => setOpen(null);
  if (open === "help") return <Help keys={[...keys, ...ELSEWHERE]} onClose={close} />;
  if (open === "new") {
    const created = ({ id, session: made, notes: said }: Created) => {
      page.sessions.note(made);
      for (const line of said) notes.say(line);
      close();
      go(hrefOf(id));
    };
    return <NewSession sessions={page.sessions} onCreated={created} onClose={close} />;
  }
  if (open === "search") {
    const found = (id: string) => {
      close();
      go(hrefOf(id));
    };
    return <Search sessions={page.sessions.get().sessions} onOpen={found} onClose={close} />;
  }
  if (!store || !session) return null;
  if (open !== null && typeof open === "object" && "loses" in open) {
    const lose = async () => {
      close();
      if (await notes.trying(trash(store.id, true), "Moved to the trash, without its work tree.")) go(HOME);
    };
    const look = () => (onChanges(), close());
    return <LosesDialog failure={open.loses} onLose={() => void lose()} onChanges={look} onClose={close} />;
  }
  if (open !== null && typeof open === "object") {
    const chosen = async ({ round, code, conversation }: Chosen) => {
      if (open.way === "fork") {
        const made = await fork(store.id, round);
        page.sessions.note(made.session);
        go(hrefOf(made.id));
      } else {
        const { undo, notes: said } = await rewind(store.id, { to: round, code, conversation });
        for (const line of said) notes.say(line);
        notes.say(`Back at round ${round}.`, { hint: undo && `${undo} brings back what was cut away.` });
        await store.load();
      }
      close();
    };
    return <RoundDialog way={open.way} round={open.round} items={store.get().items} onDo={chosen} onClose={close} />;
  }
  if (open === "plan") {
    const canResume = store.get().role === "driving" && session.actions.includes("resume");
    const resume = () => {
      store.resume();
      close();
    };
    const look = () => {
      onChanges();
      close();
    };
    return <PlanDialog session={session} canResume={canResume} onResume={resume} onChanges={look} onClose={close} />;
  }
  return null;
}
