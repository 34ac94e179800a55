/** Under the conversation: the banner, the queue, the input; or why there is no input. */
import { type ReactNode, type RefObject, useEffect } from "react";
import { StopBanner } from "@/features/banner/StopBanner";
import { Meter } from "@/features/chat/Meter";
import { Composer, type ComposerHandle } from "@/features/composer/Composer";
import { Queue } from "@/features/composer/Queue";
import { titled } from "@/model/moments";
import type { Role } from "@/model/lock";
import { subject } from "@/model/outbox";
import { editQueued, reopen, withdraw } from "@/store/deeds";
import type { Notes } from "@/store/notes";
import type { SessionStore, Shown } from "@/store/session";
import { Button } from "@/ui/Button";
import { Icon } from "@/ui/Icon";
import type { SessionOut } from "@/wire/types.gen";

interface Props {
  store: SessionStore;
  shown: Shown;
  session: SessionOut;
  role: Role;
  notes: Notes;
  composer: RefObject<ComposerHandle | null>;
  onPlan(): void;
}

export function Foot({ store, shown, session, role, notes, composer, onPlan }: Props) {
  const { sent } = shown;
  const may = (action: string) => session.actions.includes(action);
  const drives = role === "driving";
  // What was asked for about this run or this stop; about another one, it is of no concern here.
  const underway = (type: "resume" | "cancel") =>
    sent.find(({ command, about }) => command.type === type && about === subject(type, session)) ?? null;
  const { banner, run } = session;
  useSeen(store, banner !== null);
  const edited = async (input: string, text: string) => void (await notes.trying(editQueued(store.id, input, text)));
  const withdrawn = async (input: string) => void (await notes.trying(withdraw(store.id, input)));
  return (
    <footer className="@container mx-auto w-full max-w-[47rem] shrink-0 space-y-2 px-3 pt-1 pb-[max(0.625rem,env(safe-area-inset-bottom))] sm:px-4">
      <Announcement session={session} />
      {shown.reattach instanceof Error && <Trouble text={`The agent could not be brought back: ${shown.reattach.message}`} />}
      {banner && run === null && (
        <StopBanner banner={banner} resuming={underway("resume")} enabled={drives && may("resume")} onResume={store.resume} onDismiss={store.dismiss} onPlan={onPlan} />
      )}
      <Queue queue={session.queue} held={run === null} enabled={drives && may("edit_input")} onEdit={edited} onWithdraw={withdrawn} />
      {role === "watching" ? (
        <Watching onTakeOver={store.takeOver} />
      ) : may("prompt") ? (
        <Composer
          ref={composer}
          session={store.id}
          running={run !== null}
          stopping={underway("cancel")?.state === "sending" || (session.progress?.cancelling ?? false)}
          canStop={drives && may("cancel")}
          stopped={banner !== null}
          offline={shown.line === "offline"}
          onSend={store.prompt}
          onStop={store.cancel}
        />
      ) : (
        <Over session={session} onReopen={may("reopen") ? () => void notes.trying(reopen(store.id)) : null} />
      )}
      <Meter session={session} />
    </footer>
  );
}

/** A stop counts as seen when a visible page has painted it. */
function useSeen(store: SessionStore, stopped: boolean): void {
  useEffect(() => {
    if (!stopped) return;
    const look = () => document.visibilityState === "visible" && store.sawStop();
    look();
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  });
}

/** Said once, to those who listen: not every token. */
function Announcement({ session }: { session: SessionOut }) {
  const { run, banner, pending } = session;
  const words = pending[0]
    ? `The agent asks: ${pending[0].title}`
    : run !== null
      ? "The agent is working."
      : banner
        ? `${titled(banner)}. ${banner.button ? `${banner.button} available.` : ""}`
        : "The agent is waiting.";
  return (
    <p role="status" aria-live="polite" className="sr-only" data-testid="announcement">
      {words}
    </p>
  );
}

function Watching({ onTakeOver }: { onTakeOver(): void }) {
  return (
    <Strip testid="watching" icon="info" text="This chat is active in another tab">
      <Button onClick={onTakeOver} data-testid="take-over">
        Take over
      </Button>
    </Strip>
  );
}

function Over({ session, onReopen }: { session: SessionOut; onReopen: (() => void) | null }) {
  const text = session.quarantined ?? `This session is ${session.state.toLowerCase().replaceAll("_", " ")}.`;
  return (
    <Strip testid="over" icon={session.quarantined ? "warning" : "info"} text={text}>
      {onReopen && <Button onClick={onReopen}>Reopen</Button>}
    </Strip>
  );
}

function Trouble({ text }: { text: string }) {
  return <Strip testid="reattach-failed" icon="warning" text={text} />;
}

function Strip({ testid, icon, text, children }: { testid: string; icon: "info" | "warning"; text: string; children?: ReactNode }) {
  return (
    <div data-testid={testid} className="flex min-h-12 items-center gap-3 rounded-xl border border-line bg-side py-1.5 pr-1.5 pl-3.5 text-sm text-ink-2">
      <Icon name={icon} size={16} className="text-ink-3" />
      <span className="min-w-0 flex-1">{text}</span>
      {children}
    </div>
  );
}
