/**
 * Between the last message and the input: why it stopped, and Resume (SPEC K2). All words, the icon's
 * and the tint's name come from the document; here is only what they look like.
 */
import { Fragment, type ReactNode } from "react";
import { ago, clock, countdown, titled } from "@/model/moments";
import type { Sent } from "@/store/courier";
import { Icon, isIcon } from "@/ui/Icon";
import { useNow } from "@/ui/useNow";
import type { BannerOut } from "@/wire/types.gen";

const TINTS: Record<string, string> = {
  gray: "bg-gray-50 border-gray-200 text-gray-800 dark:bg-gray-800/60 dark:border-gray-700 dark:text-gray-300",
  amber: "bg-amber-50 border-amber-200 text-amber-800 dark:bg-amber-900/20 dark:border-amber-800/40 dark:text-amber-200",
  red: "bg-red-50 border-red-200 text-red-800 dark:bg-red-900/20 dark:border-red-800/40 dark:text-red-200",
};

interface Props {
  banner: BannerOut;
  resuming: Sent | null;
  enabled: boolean; // this tab drives, and resuming is among what may be done
  onResume(): void;
  onDismiss(): void;
  onPlan(): void;
}

export function StopBanner({ banner, resuming, enabled, onResume, onDismiss, onPlan }: Props) {
  const failed = resuming?.state === "refused" ? resuming.failure : null;
  const busy = resuming !== null && failed === null;
  return (
    <section
      aria-label="Why it stopped"
      data-testid="banner"
      data-reason={banner.reason}
      className={`rising flex min-h-12 items-center gap-3 rounded-lg border py-1.5 pr-1.5 pl-3.5 text-sm max-h-24 ${TINTS[banner.tint] ?? TINTS["gray"]}`}
    >
      <Icon name={isIcon(banner.icon) ? banner.icon : "pause"} size={17} />
      <div className="min-w-0 flex-1 leading-5">
        <p className="flex min-w-0 flex-wrap items-baseline gap-x-2 @xl:flex-nowrap">
          <span className="font-medium @max-xl:line-clamp-3 @max-xl:text-[0.8125rem] @max-xl:leading-[1.125rem]" data-testid="banner-title">
            {titled(banner)}
          </span>
          {banner.resumes_at && <Countdown until={banner.resumes_at} />}
          {!banner.dismiss && <Beyond text={failed?.message ?? banner.text} />}
        </p>
        {banner.dismiss && <Where banner={banner} trouble={failed?.message ?? ""} />}
      </div>
      <div className="flex shrink-0 items-center gap-1">
        <Second label="What happens on resume" onClick={onPlan} testid="banner-plan" className="@max-xl:hidden">
          Details
        </Second>
        {banner.dismiss && (
          <Second label="Dismiss" onClick={onDismiss} disabled={!enabled || busy} testid="banner-dismiss" className="@max-xl:px-0 @max-xl:w-9 @max-xl:touch:w-11">
            <span className="@max-xl:sr-only">Dismiss</span>
            <Icon name="close" size={17} className="mx-auto @xl:hidden" />
          </Second>
        )}
        {banner.button && (
          <button
            type="button"
            onClick={onResume}
            disabled={!enabled || busy}
            aria-keyshortcuts="Alt+R"
            title="Alt+R"
            data-testid="banner-resume"
            className="h-9 rounded-lg bg-purple-600 px-4 text-[0.8125rem] font-medium whitespace-nowrap text-white transition-colors hover:bg-purple-500 disabled:cursor-default disabled:opacity-60 touch:h-11"
          >
            {busy ? (resuming.state === "queued" ? "Queued" : "Resuming…") : banner.button}
          </button>
        )}
      </div>
    </section>
  );
}

function Countdown({ until }: { until: string }) {
  const left = countdown(until, useNow(1_000));
  return (
    <span className="tabular text-xs opacity-90" role="timer" title={clock(until)} data-testid="banner-countdown">
      {left ? `${left} left` : "it has reset"}
    </span>
  );
}

function Beyond({ text }: { text: string }) {
  if (!text) return null;
  return (
    <span className="min-w-0 text-xs opacity-90 @max-xl:line-clamp-2 @max-xl:w-full @max-xl:leading-4 @xl:truncate" title={text} data-testid="banner-text">
      {text}
    </span>
  );
}

/** The second line of an interrupted session. */
function Where({ banner, trouble }: { banner: BannerOut; trouble: string }) {
  const now = useNow(30_000);
  const parts = [banner.round ? `Round ${banner.round}` : "", banner.during, ago(banner.at, now), banner.text];
  return (
    <p className="text-xs opacity-90 @max-xl:line-clamp-2 @max-xl:leading-4 @xl:truncate" data-testid="banner-where">
      {trouble ||
        parts.filter(Boolean).map((part, index) => (
          <Fragment key={index}>
            {index > 0 && " · "}
            <span className={part.length < 24 ? "whitespace-nowrap" : ""}>{part}</span>
          </Fragment>
        ))}
    </p>
  );
}

interface SecondProps {
  onClick(): void;
  children: ReactNode;
  label?: string;
  disabled?: boolean;
  testid: string;
  className?: string;
}

function Second({ onClick, children, label, disabled = false, testid, className = "" }: SecondProps) {
  return (
    <button
      type="button"
      onClick={onClick}
      disabled={disabled}
      title={label}
      data-testid={testid}
      className={`h-9 rounded-lg px-3 text-[0.8125rem] font-medium transition-colors hover:bg-current/8 disabled:cursor-default disabled:opacity-60 touch:h-11 ${className}`}
    >
      {children}
    </button>
  );
}
