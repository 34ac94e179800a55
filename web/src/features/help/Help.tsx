/** All keys on one page. */
import { Dialog } from "@/ui/Dialog";

interface Props {
  keys: readonly { keys: string; what: string }[];
  onClose(): void;
}

export function Help({ keys, onClose }: Props) {
  return (
    <Dialog title="Keyboard" onClose={onClose} testid="help-dialog">
      <dl className="grid grid-cols-[auto_1fr] items-center gap-x-5 gap-y-2 p-4 text-[0.8125rem]">
        {keys.map(({ keys: names, what }) => (
          <div key={names} className="contents">
            <dt className="flex gap-1">
              {names.split(/[ +]/).map((name, index) => (
                <kbd key={index} className="min-w-6 rounded-md border border-line-2 bg-side px-1.5 text-center font-mono text-2xs leading-5 text-ink-2">
                  {name}
                </kbd>
              ))}
            </dt>
            <dd className="text-ink-2">{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
