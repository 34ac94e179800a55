/** The layout: sessions on the left, the chat in the middle, changes on demand; one column on a phone. */
import { Suspense, lazy, useMemo, useRef, useState } from "react";
import { useAttention } from "@/app/attention";
import { choicesFor } from "@/app/choices";
import { Dialogs, type Open } from "@/app/Dialogs";
import { useKeys } from "@/app/keys";
import type { Page } from "@/app/page";
import { HOME, go, hrefOf, useRoute, useWholeId } from "@/app/route";
import { shortcuts } from "@/app/shortcuts";
import { SideFoot } from "@/app/SideFoot";
import { Toasts } from "@/app/Toasts";
import { Welcome } from "@/app/Welcome";
import { Changes } from "@/features/changes/Changes";
import { ChatView } from "@/features/chat/ChatView";
import type { ComposerHandle } from "@/features/composer/Composer";
import { SessionList } from "@/features/sessions/SessionList";
import { Notes } from "@/store/notes";
import { useObserved } from "@/store/observed";

const Stats = lazy(() => import("@/features/stats/Stats").then(({ Stats: loaded }) => ({ default: loaded })));

export function App({ page }: { page: Page }) {
  const route = useRoute();
  const notes = useMemo(() => new Notes(), []);
  const store = page.session(route.session);
  const session = useObserved(store ?? page.none, (state) => state.document);
  const filter = useRef<HTMLInputElement>(null);
  const composer = useRef<ComposerHandle>(null);
  const [changes, setChanges] = useState(false);
  const [renaming, setRenaming] = useState(false);
  const [open, setOpen] = useState<Open>(null);
  const choices = choicesFor(session, notes, {
    rename: () => setRenaming(true),
    plan: () => setOpen("plan"),
    fork: () => setOpen({ way: "fork", round: null }),
    rewind: () => setOpen({ way: "rewind", round: null }),
    gone: () => go(HOME),
    loses: (failure) => setOpen({ loses: failure }),
  });
  const keys = shortcuts({ page, store, filter, composer, current: route.session, setChanges, setOpen });
  useKeys(keys);
  useWholeId(session?.id);
  useAttention(page.sessions, session?.title ?? "");
  return (
    <div className="flex h-dvh">
      <aside className={`w-full shrink-0 border-r border-line bg-side md:w-[17rem] ${route.place === "list" ? "" : "max-md:hidden"}`}>
        <SessionList
          sessions={page.sessions}
          current={route.session}
          hrefOf={hrefOf}
          onNew={() => setOpen("new")}
          onSearch={() => setOpen("search")}
          filter={filter}
          foot={<SideFoot sessions={page.sessions} stats={route.place === "stats"} onHelp={() => setOpen("help")} />}
        />
      </aside>
      {store ? (
        <ChatView
          store={store}
          notes={notes}
          choices={choices}
          composer={composer}
          changes={changes}
          renaming={renaming}
          onRenamed={() => setRenaming(false)}
          onBack={() => go(HOME)}
          onChanges={() => setChanges(!changes)}
          onPlan={() => setOpen("plan")}
          onRound={(way, round) => setOpen({ way, round })}
        />
      ) : route.place === "stats" ? (
        <Suspense>
          <Stats hrefOf={hrefOf} onBack={() => go(HOME)} />
        </Suspense>
      ) : (
        <Welcome sessions={page.sessions} onNew={() => setOpen("new")} />
      )}
      {store && session && changes && (
        <div className="border-line max-lg:fixed max-lg:inset-0 max-lg:z-20 max-lg:bg-page lg:w-[44%] lg:max-w-3xl lg:shrink-0 lg:border-l">
          <Changes key={store.id} session={session} notes={notes} onClose={() => setChanges(false)} />
        </div>
      )}
      <Dialogs page={page} store={store} session={session} notes={notes} open={open} setOpen={setOpen} keys={keys} onChanges={() => setChanges(true)} />
      <Toasts notes={notes} />
    </div>
  );
}
