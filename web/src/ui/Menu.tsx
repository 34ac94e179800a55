/** A small menu under a button: arrows move, Escape and a click elsewhere close it. */
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { IconButton } from "@/ui/Button";
import { Icon, type IconName } from "@/ui/Icon";

export interface Choice {
  icon: IconName;
  text: string;
  onChoose(): void;
  danger?: boolean;
}

export function Menu({ label, choices, testid }: { label: string; choices: Choice[]; testid?: string }) {
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!open) return;
    box.current?.querySelector<HTMLElement>("[role=menuitem]")?.focus();
    const outside = (event: PointerEvent) => !box.current?.contains(event.target as Node) && setOpen(false);
    document.addEventListener("pointerdown", outside);
    return () => document.removeEventListener("pointerdown", outside);
  }, [open]);
  const key = (event: KeyboardEvent) => {
    const items = [...(box.current?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])];
    const at = items.indexOf(document.activeElement as HTMLElement);
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) items[(at + step + items.length) % items.length]?.focus();
    else if (event.key === "Escape") {
      setOpen(false);
      button.current?.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div ref={box} className="relative" onKeyDown={open ? key : undefined}>
      <IconButton ref={button} icon="dots" label={label} aria-haspopup="menu" aria-expanded={open} onClick={() => setOpen(!open)} data-testid={testid} />
      {open && (
        <div role="menu" aria-label={label} className="rising absolute top-full right-0 z-30 mt-1 w-56 rounded-xl bg-raised p-1 shadow-float">
          {choices.map(({ icon, text, onChoose, danger }) => (
            <button
              key={text}
              type="button"
              role="menuitem"
              onClick={() => {
                setOpen(false);
                onChoose();
              }}
              className={`flex h-8 w-full items-center gap-2.5 rounded-lg px-2.5 text-left text-[0.8125rem] outline-offset-[-2px] hover:bg-hover touch:h-11 ${danger ? "text-bad" : "text-ink-2 hover:text-ink"}`}
            >
              <Icon name={icon} size={15} />
              {text}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
