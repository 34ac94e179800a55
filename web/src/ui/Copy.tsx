import { useState } from "react";
import { Icon } from "@/ui/Icon";

export function Copy({ text, label = "Copy" }: { text: string; label?: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1_500);
  };
  if (!navigator.clipboard) return null; // not served over TLS, nor from this machine
  return (
    <button
      type="button"
      onClick={() => void copy()}
      aria-label={copied ? "Copied" : label}
      title={label}
      className="inline-flex size-7 items-center justify-center rounded-md text-ink-3 hover:bg-hover hover:text-ink touch:size-11"
    >
      <Icon name={copied ? "check" : "copy"} size={14} className={copied ? "text-good" : ""} />
    </button>
  );
}
