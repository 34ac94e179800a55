/**
 * A modal dialog: the browser's own, so that focus, Escape and the backdrop are right. What is marked
 * with `data-first` gets the focus; the browser would give it to the button that closes.
 */
import { type ReactNode, useEffect, useRef } from "react";
import { IconButton } from "@/ui/Button";

interface Props {
  title: string;
  onClose(): void;
  children: ReactNode;
  wide?: boolean;
  testid?: string;
}

export function Dialog({ title, onClose, children, wide = false, testid }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
    const first = dialog.current?.querySelector<HTMLElement>("[data-first]");
    (first ?? dialog.current)?.focus();
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-label={title}
      data-testid={testid}
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && dialog.current.close()}
      tabIndex={-1}
      className={`rising w-[calc(100vw-1.5rem)] overflow-hidden rounded-xl bg-raised text-ink shadow-float outline-none ${wide ? "max-w-3xl" : "max-w-lg"}`}
    >
      <header className="flex h-12 items-center border-b border-line pr-2 pl-4">
        <h2 className="flex-1 text-sm font-semibold">{title}</h2>
        <IconButton icon="close" label="Close" onClick={() => dialog.current?.close()} />
      </header>
      <div className="max-h-[min(80dvh,48rem)] overflow-y-auto overscroll-contain">{children}</div>
    </dialog>
  );
}
