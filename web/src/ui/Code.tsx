/** A piece of code with its language and a way to copy it. */
import { memo, useMemo } from "react";
import { Copy } from "@/ui/Copy";
import { highlighted } from "@/ui/highlight";

interface Props {
  text: string;
  language: string;
  name?: string; // of the file
  plain?: boolean; // still being written: colours would flicker
}

export const Code = memo(({ text, language, name, plain = false }: Props) => {
  const marked = useMemo(() => (plain ? null : highlighted(text, language)), [text, language, plain]);
  return (
    <div className="group/code relative overflow-hidden rounded-lg border border-line bg-sunken">
      <div className="flex h-8 items-center justify-between border-b touch:h-11 border-line pr-1 pl-3 text-2xs text-ink-3">
        <span className="truncate font-mono">{name || language || "text"}</span>
        <Copy text={text} label="Copy code" />
      </div>
      {marked === null ? (
        <pre className="code px-3 py-2.5" tabIndex={0}>
          <code>{text}</code>
        </pre>
      ) : (
        <pre className="code px-3 py-2.5" tabIndex={0}>
          <code dangerouslySetInnerHTML={{ __html: marked }} />
        </pre>
      )}
    </div>
  );
});
