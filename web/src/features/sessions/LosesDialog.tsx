/** Putting a session away would lose work that is nowhere else: what it is, and whether that is meant. */
import type { Failure } from "@/connection/http";
import { Button } from "@/ui/Button";
import { Dialog } from "@/ui/Dialog";

interface Props {
  failure: Failure;
  onLose(): void;
  onChanges(): void;
  onClose(): void;
}

export function LosesDialog({ failure, onLose, onChanges, onClose }: Props) {
  const { about } = failure;
  return (
    <Dialog title="This would lose work" onClose={onClose} testid="loses-dialog">
      <div className="space-y-4 p-4 text-sm">
        <p className="text-ink-2">The session has changes that are committed nowhere. Its folder is removed with it, and they are gone for good.</p>
        {about.length > 0 ? (
          <ul className="max-h-52 overflow-y-auto rounded-lg border border-line bg-sunken px-3 py-2 font-mono text-xs" tabIndex={0} data-testid="loses-list">
            {about.map((name) => (
              <li key={name} className="break-all">
                {name}
              </li>
            ))}
          </ul>
        ) : (
          <p>{failure.message}</p>
        )}
        <p className="text-ink-3">To keep them, apply or commit them first.</p>
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose} data-first>
            Keep it
          </Button>
          <Button onClick={onChanges}>View changes</Button>
          <Button look="danger" icon="trash" onClick={onLose} data-testid="loses-confirm">
            Lose them
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
