/** Bring the work into a branch of the user's. What cannot be done is said here, and nothing is touched. */
import { type FormEvent, useState } from "react";
import { Failure, post } from "@/connection/http";
import type { Notes } from "@/store/notes";
import { Button } from "@/ui/Button";
import { Dialog } from "@/ui/Dialog";
import { Check, Field } from "@/ui/Field";
import type { AppliedOut, ApplyIn, SessionOut } from "@/wire/types.gen";

interface Props {
  session: SessionOut;
  files: number;
  notes: Notes;
  onClose(): void;
}

export function ApplyDialog({ session, files, notes, onClose }: Props) {
  const [to, setTo] = useState("");
  const [squash, setSquash] = useState(false);
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure | null>(null);
  const apply = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    const wanted: ApplyIn = { squash, to: to.trim() || null };
    try {
      notes.say(told(await post<AppliedOut>(`/api/sessions/${session.id}/apply`, wanted)));
      onClose();
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      setFailure(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog title="Apply the changes" onClose={onClose} testid="apply-dialog">
      <form onSubmit={(event) => void apply(event)} className="space-y-4 p-4">
        <p className="text-sm text-ink-2">
          {files === 1 ? "One file" : `${files} files`} from <code className="font-mono text-xs">{session.workspace.branch}</code> into your branch. A tree with uncommitted
          work and a conflict are refused; both sides stay as they are.
        </p>
        <Field label="Into branch" value={to} onChange={setTo} placeholder="the one you are on" />
        <Check label="As one commit (squash)" checked={squash} onChange={setSquash} />
        {failure && (
          <p role="alert" className="text-sm text-bad">
            {failure.message} <span className="text-ink-3">{failure.hint}</span>
          </p>
        )}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" disabled={busy} data-testid="apply-confirm">
            {busy ? "Applying…" : "Apply"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function told({ moved, branch, commit, files }: AppliedOut): string {
  return moved ? `${branch} is at ${commit.slice(0, 7)} now: ${files === 1 ? "1 file" : `${files} files`} changed.` : `${branch} had everything already.`;
}
