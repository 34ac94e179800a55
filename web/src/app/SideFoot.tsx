/** Under the list: how the connection is, and what concerns the whole page. */
import { canNotify, useNotifying } from "@/app/attention";
import { STATS, go } from "@/app/route";
import { useTheme } from "@/app/theme";
import { useObserved } from "@/store/observed";
import type { Sessions } from "@/store/sessions";
import { IconButton } from "@/ui/Button";

const ICONS = { system: "contrast", light: "sun", dark: "moon" } as const;
const WORDS = { live: "Connected", connecting: "Connecting…", offline: "Offline" } as const;
const DOTS = { live: "bg-good", connecting: "breathing bg-warn", offline: "bg-bad" } as const;

interface Props {
  sessions: Sessions;
  stats: boolean;
  onHelp(): void;
}

export function SideFoot({ sessions, stats, onHelp }: Props) {
  const line = useObserved(sessions, (state) => state.line);
  const [theme, next] = useTheme();
  const [notifying, toggle] = useNotifying();
  return (
    <footer className="flex h-11 shrink-0 items-center gap-1 border-t border-line pr-1.5 pl-4 text-xs text-ink-3 touch:h-14">
      <span className={`size-1.5 shrink-0 rounded-full ${DOTS[line]}`} />
      <span className="ml-1 flex-1" data-testid="connection" data-line={line}>
        {WORDS[line]}
      </span>
      <IconButton icon="chart" label="Dashboard" shortcut="g d" aria-pressed={stats} onClick={() => go(STATS)} data-testid="dashboard" />
      {canNotify() && (
        <IconButton icon="bell" label="Notifications" aria-pressed={notifying} onClick={() => void toggle()} data-testid="notifications" />
      )}
      <IconButton icon="keyboard" label="Keyboard" shortcut="?" onClick={onHelp} className="max-md:hidden" data-testid="help" />
      <IconButton icon={ICONS[theme]} label={`Colours: ${theme}`} onClick={next} data-testid="theme" />
    </footer>
  );
}
