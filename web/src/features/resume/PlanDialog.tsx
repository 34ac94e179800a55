/** What a resume would do, read before it is done: how, at what cost, with what risk, and what git says. */
import { type ReactNode, useEffect, useState } from "react";
import { Failure, get } from "@/connection/http";
import { money } from "@/model/moments";
import { Button } from "@/ui/Button";
import { Dialog } from "@/ui/Dialog";
import { Icon } from "@/ui/Icon";
import { Working } from "@/ui/Working";
import { CONTEXT, type PlanOut, type SessionOut, WORKSPACE } from "@/wire/types.gen";

interface Props {
  session: SessionOut;
  canResume: boolean;
  onResume(): void;
  onChanges(): void;
  onClose(): void;
}

export function PlanDialog({ session, canResume, onResume, onChanges, onClose }: Props) {
  const [plan, setPlan] = useState<PlanOut | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  useEffect(() => {
    get<PlanOut>(`/api/sessions/${session.id}/plan`)
      .then(setPlan)
      .catch((error: unknown) => error instanceof Failure && setFailure(error));
  }, [session.id]);
  return (
    <Dialog title="What happens on resume" onClose={onClose} wide testid="plan-dialog">
      <div className="space-y-4 p-4 text-sm">
        {failure && <p className="text-bad">{failure.message}</p>}
        {!plan && !failure && <Working size={18} />}
        {plan && <Planned plan={plan} onChanges={onChanges} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Close</Button>
          {canResume && plan?.would_run && (
            <Button look="primary" onClick={onResume} data-testid="plan-resume">
              {session.banner?.button ?? "Resume"}
            </Button>
          )}
        </div>
      </div>
    </Dialog>
  );
}

function Planned({ plan, onChanges }: { plan: PlanOut; onChanges(): void }) {
  const calls = Object.entries(plan.calls);
  return (
    <>
      {!plan.would_run && (
        <p className="text-warn">
          {plan.reason} <span className="text-ink-3">{plan.hint}</span>
        </p>
      )}
      <Truth message={plan.message} onChanges={onChanges} />
      <dl className="grid grid-cols-[7rem_1fr] gap-x-4 gap-y-2 max-sm:grid-cols-1">
        {plan.strategy && <Fact name="Context">{[CONTEXT[plan.strategy] ?? plan.strategy, plan.why && `(${plan.why})`].filter(Boolean).join(" ")}</Fact>}
        {plan.drift && <Fact name="Workspace">{WORKSPACE[plan.drift] ?? plan.drift}</Fact>}
        {plan.rebuild && <Fact name="Made again from">{plan.rebuild}</Fact>}
        {plan.estimate_usd !== null && <Fact name="Cost, about">{money(plan.estimate_usd)}</Fact>}
        {calls.length > 0 && (
          <Fact name="Open calls">
            {calls.map(([call, what]) => (
              <span key={call} className="block">
                <code className="font-mono text-xs">{call}</code> <span className="text-ink-3">{what}</span>
              </span>
            ))}
          </Fact>
        )}
      </dl>
      {plan.risks.length > 0 && (
        <ul className="space-y-1 rounded-lg border border-amber-200 bg-amber-50 px-3 py-2 text-amber-800 dark:border-amber-800/40 dark:bg-amber-900/20 dark:text-amber-200">
          {plan.risks.map((risk) => (
            <li key={risk} className="flex gap-2">
              <Icon name="warning" size={15} className="mt-0.5" />
              {risk}
            </li>
          ))}
        </ul>
      )}
      {plan.message && (
        <div>
          <h3 className="mb-1 text-xs font-medium text-ink-2">The agent will be told</h3>
          <pre tabIndex={0} className="code max-h-72 overflow-auto rounded-lg border border-line bg-sunken px-3 py-2 whitespace-pre-wrap text-ink-2">
            {plan.message}
          </pre>
        </div>
      )}
    </>
  );
}

/** What git says, out of the message that would say it to the agent. */
function Truth({ message, onChanges }: { message: string | null; onChanges(): void }) {
  const said = (name: string) => new RegExp(`^- ${name}: (.*)$`, "m").exec(message ?? "")?.[1];
  const head = said("HEAD");
  if (!head) return null;
  const dirty = said("Dirty files") ?? "";
  const count = dirty === "clean" || !dirty ? "clean" : `${dirty.split(", ").length} dirty`;
  return (
    <p className="flex flex-wrap items-center gap-x-2 rounded-lg border border-line bg-side px-3 py-2 text-xs text-ink-2" data-testid="truth">
      <Icon name="branch" size={14} className="text-ink-3" />
      <span className="font-mono">{head}</span>
      <span>· {count}</span>
      <button type="button" onClick={onChanges} className="ml-auto font-medium text-accent-ink hover:underline touch:min-h-11">
        View changes
      </button>
    </p>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-xs leading-5 text-ink-3">{name}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </>
  );
}
