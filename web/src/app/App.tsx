/** The layout: sessions on the left, the chat in the middle, changes on demand; one column on a phone. */
import { useMemo, useRef, useState } from "react";
import type { Page } from "@/app/page";
import { go, hrefOf, useRoute } from "@/app/route";
import { SideFoot } from "@/app/SideFoot";
import { Toasts } from "@/app/Toasts";
import { ChatView } from "@/features/chat/ChatView";
import type { ComposerHandle } from "@/features/composer/Composer";
import { SessionList } from "@/features/sessions/SessionList";
import { Notes } from "@/store/notes";

export function App({ page }: { page: Page }) {
  const route = useRoute();
  const notes = useMemo(() => new Notes(), []);
  const store = page.session(route.session);
  const filter = useRef<HTMLInputElement>(null);
  const composer = useRef<ComposerHandle>(null);
  const [changes, setChanges] = useState(false);
  const [renaming, setRenaming] = useState(false);
  return (
    <div className="flex h-dvh">
      <aside className={`w-full shrink-0 border-r border-line bg-side md:w-[17rem] ${store ? "max-md:hidden" : ""}`}>
        <SessionList sessions={page.sessions} current={route.session} hrefOf={hrefOf} onNew={() => null} filter={filter} foot={<SideFoot sessions={page.sessions} />} />
      </aside>
      {store && (
        <ChatView
          store={store}
          notes={notes}
          choices={[{ icon: "edit", text: "Rename", onChoose: () => setRenaming(true) }]}
          composer={composer}
          changes={changes}
          renaming={renaming}
          onRenamed={() => setRenaming(false)}
          onBack={() => go("#/")}
          onChanges={() => setChanges(!changes)}
          onPlan={() => null}
        />
      )}
      <Toasts notes={notes} />
    </div>
  );
}
