/** Buttons. At least 44 px to a finger, compact to a mouse. */
import type { ButtonHTMLAttributes, Ref } from "react";
import { Icon, type IconName } from "@/ui/Icon";

type Look = "primary" | "plain" | "quiet" | "danger";

const LOOKS: Record<Look, string> = {
  primary: "bg-purple-600 text-white hover:bg-purple-700",
  plain: "border border-line-2 bg-raised text-ink hover:bg-hover",
  quiet: "text-ink-2 hover:bg-hover hover:text-ink",
  danger: "border border-line-2 bg-raised text-bad hover:bg-hover",
};

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  look?: Look;
  icon?: IconName;
  ref?: Ref<HTMLButtonElement>;
}

export function Button({ look = "plain", icon, children, className = "", ...rest }: Props) {
  return (
    <button
      type="button"
      className={`inline-flex h-8 shrink-0 items-center justify-center gap-1.5 rounded-lg px-3 text-[0.8125rem] font-medium whitespace-nowrap transition-colors disabled:cursor-default disabled:opacity-55 touch:min-h-11 touch:px-4 ${LOOKS[look]} ${className}`}
      {...rest}
    >
      {icon && <Icon name={icon} size={15} />}
      {children}
    </button>
  );
}

interface IconProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  icon: IconName;
  label: string;
  shortcut?: string;
  ref?: Ref<HTMLButtonElement>;
}

export function IconButton({ icon, label, shortcut, className = "", ...rest }: IconProps) {
  return (
    <button
      type="button"
      aria-label={label}
      title={shortcut ? `${label} (${shortcut})` : label}
      aria-keyshortcuts={shortcut}
      className={`inline-flex size-8 shrink-0 items-center justify-center rounded-lg text-ink-3 transition-colors hover:bg-hover hover:text-ink disabled:cursor-default disabled:opacity-50 aria-pressed:bg-chosen aria-pressed:text-ink touch:size-11 ${className}`}
      {...rest}
    >
      <Icon name={icon} size={17} />
    </button>
  );
}
