/** The middle, when no session is open. */
import { useObserved } from "@/store/observed";
import type { Sessions } from "@/store/sessions";
import { Button } from "@/ui/Button";

export function Welcome({ sessions, onNew }: { sessions: Sessions; onNew(): void }) {
  const failure = useObserved(sessions, (state) => state.failure);
  const needs = useObserved(sessions, (state) => [...state.sessions.values()].filter((session) => session.needs_you).length);
  const unauthorized = failure?.code === "unauthorized";
  return (
    <main className="flex flex-1 flex-col items-center justify-center gap-2 p-8 text-center max-md:hidden" data-testid="welcome">
      <img src="/icon.svg" alt="" width={44} height={44} className="mb-2 rounded-xl" />
      {failure ? (
        <>
          <h1 className="text-base font-semibold">{unauthorized ? "This browser is not logged in" : failure.message}</h1>
          <p className="max-w-sm text-sm text-ink-3">
            {unauthorized ? "Run this and open the link that it prints:" : failure.hint}
          </p>
          {unauthorized && <code className="rounded-lg border border-line bg-sunken px-3 py-1.5 font-mono text-xs">hold up</code>}
        </>
      ) : (
        <>
          <h1 className="text-base font-semibold">{needs === 0 ? "Nothing needs you" : needs === 1 ? "One session needs you" : `${needs} sessions need you`}</h1>
          <p className="max-w-sm text-sm text-ink-3">Choose a session, or start one. It carries on when this page is closed.</p>
          <Button look="primary" icon="plus" onClick={onNew} className="mt-3">
            New session
          </Button>
        </>
      )}
    </main>
  );
}
