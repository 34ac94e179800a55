/** How a session stands, at a glance: a shape and a colour; the words stand beside it. */
import { Icon, isIcon } from "@/ui/Icon";
import { Working } from "@/ui/Working";
import type { SessionOut } from "@/wire/types.gen";

const TINTS: Record<string, string> = { amber: "text-warn", red: "text-bad", gray: "text-ink-3" };

export function Glyph({ session }: { session: SessionOut }) {
  const { pending, run, banner, last_stop, quarantined } = session;
  if (quarantined) return <Icon name="warning" size={15} className="text-bad" />;
  if (pending.length > 0) return <Icon name="question" size={15} className="text-warn" />;
  if (run !== null) return <Working />;
  if (banner) {
    const icon = isIcon(banner.icon) ? banner.icon : "pause";
    return <Icon name={icon} size={15} className={TINTS[banner.tint] ?? "text-ink-3"} />;
  }
  if (last_stop?.reason === "completed") return <Icon name="check" size={15} className="text-good" />;
  return <span className="m-[4px] size-[7px] rounded-full border-[1.5px] border-ink-3" />;
}
