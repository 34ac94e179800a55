/** One line that opens. What was opened stays open while the list takes the row away and brings it back. */
import { type MouseEvent, type ReactNode, createContext, useContext, useState } from "react";
import { Icon } from "@/ui/Icon";

export interface Opening {
  ids: Set<string>;
  toggled(open: boolean, head: HTMLElement): void;
}

export const Opened = createContext<Opening>({ ids: new Set(), toggled: () => {} });

interface Props {
  id: string;
  head: ReactNode;
  children: () => ReactNode; // drawn only when open
  testid?: string;
}

export function Fold({ id, head, children, testid }: Props) {
  const { ids, toggled } = useContext(Opened);
  const [open, setOpen] = useState(ids.has(id));
  const toggle = (click: MouseEvent<HTMLElement>) => {
    if (open) ids.delete(id);
    else ids.add(id);
    setOpen(!open);
    toggled(!open, click.currentTarget);
  };
  return (
    <div data-testid={testid} data-open={open}>
      <button
        type="button"
        onClick={toggle}
        aria-expanded={open}
        className="-mx-2 flex min-h-7 w-[calc(100%+1rem)] items-center gap-2 rounded-md px-2 text-left text-[0.8125rem] text-ink-2 hover:bg-hover touch:min-h-11"
      >
        {head}
        <Icon name="chevron" size={12} className={`text-ink-3 transition-transform ${open ? "rotate-90" : ""}`} />
      </button>
      {open && <div className="mt-1 mb-2">{children()}</div>}
    </div>
  );
}
