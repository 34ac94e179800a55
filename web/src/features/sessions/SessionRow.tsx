import { memo } from "react";
import { Glyph } from "@/features/sessions/Glyph";
import { age } from "@/model/moments";
import { agentOf, nameOf } from "@/model/place";
import { activeAt } from "@/model/sessions";
import type { SessionOut } from "@/wire/types.gen";

interface Props {
  session: SessionOut;
  href: string;
  current: boolean;
  now: number;
}

export const SessionRow = memo(({ session, href, current, now }: Props) => (
  <a
    href={href}
    aria-current={current ? "page" : undefined}
    data-testid="session-row"
    data-session={session.id}
    className={`flex gap-2.5 rounded-lg px-2.5 py-2 outline-offset-[-2px] touch:py-3 ${current ? "bg-chosen" : "hover:bg-hover"}`}
  >
    <span className="flex h-5 w-4 items-center justify-center">
      <Glyph session={session} />
    </span>
    <span className="min-w-0 flex-1">
      <span className="flex items-baseline gap-2">
        <span className={`min-w-0 flex-1 truncate text-[0.8125rem] leading-5 text-ink ${session.unseen ? "font-semibold" : "font-medium"}`}>
          {session.title || "Untitled"}
        </span>
        <span className="tabular text-2xs text-ink-3">{age(activeAt(session), now)}</span>
      </span>
      <span className="flex items-center gap-1.5 text-xs text-ink-3">
        <span className="truncate">{about(session)}</span>
        {session.unseen && <span className="ml-auto size-1.5 shrink-0 rounded-full bg-accent" aria-label="Not seen yet" role="img" />}
      </span>
    </span>
  </a>
));

function about(session: SessionOut): string {
  const { doing, queue } = session;
  const waiting = queue.length > 0 ? `${queue.length} queued` : "";
  return [doing, waiting, agentOf(session), nameOf(session)].filter(Boolean).join(" · ");
}
