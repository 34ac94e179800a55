import { type ReactNode, useState } from "react";
import { Failure, get } from "@/connection/http";
import { type Given, givenTo } from "@/model/tools";
import { bytes } from "@/model/moments";
import { Code } from "@/ui/Code";
import { Copy } from "@/ui/Copy";
import { languageOf } from "@/ui/highlight";
import { type CallOut, EFFECTS, type ToolItem } from "@/wire/types.gen";

interface Props {
  item: ToolItem;
  session: string;
}

export function ToolBody({ item, session }: Props) {
  const [whole, setWhole] = useState<CallOut | null>(null);
  const [trouble, setTrouble] = useState("");
  const input = whole?.input ?? item.input;
  const output = whole?.output ?? item.output;
  const cut = !whole && (item.output_size > item.output.length || item.input_size > item.input.length);
  const fetchWhole = () =>
    get<CallOut>(`/api/sessions/${session}/calls/${encodeURIComponent(item.call)}`)
      .then(setWhole)
      .catch((error: unknown) => setTrouble(error instanceof Failure ? error.message : String(error)));
  return (
    <div className="space-y-2 border-l border-line pl-3" data-testid="tool-body">
      <Input given={givenTo(input)} />
      {output && <Output text={output} failed={item.failed} />}
      {cut && (
        <button type="button" onClick={() => void fetchWhole()} className="text-xs font-medium text-accent-ink hover:underline touch:min-h-11">
          Show all of it ({bytes(item.output_size + item.input_size)})
        </button>
      )}
      {trouble && <p className="text-xs text-bad">{trouble}</p>}
      <p className="text-2xs text-ink-3" title={item.call}>
        {EFFECTS[item.effect]}
      </p>
    </div>
  );
}

export function Input({ given }: { given: Given }) {
  switch (given.shape) {
    case "command":
      return <Code text={given.command} language="bash" />;
    case "edit":
      return <Edited path={given.path} was={given.was} is={given.is} />;
    case "file":
      return <Code text={given.text} language={languageOf(given.path)} name={given.path} />;
    case "fields":
      return <Fields fields={given.fields} />;
    case "raw":
      return given.text && given.text !== "{}" ? <Code text={given.text} language="json" /> : null;
  }
}

function Edited({ path, was, is }: { path: string; was: string; is: string }) {
  return (
    <Box title={path} copy={is}>
      <pre className="code py-1.5" tabIndex={0}>
        {lines(was, "−", "bg-del")}
        {lines(is, "+", "bg-add")}
      </pre>
    </Box>
  );
}

function lines(text: string, sign: string, tint: string): ReactNode {
  if (!text) return null;
  return text.split("\n").map((line, index) => (
    <div key={`${sign}${index}`} className={`min-w-fit px-3 ${tint}`}>
      <span className="mr-2 text-ink-3 select-none">{sign}</span>
      {line}
    </div>
  ));
}

function Fields({ fields }: { fields: [string, string][] }) {
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-3 gap-y-0.5 text-xs">
      {fields.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-ink-3">{name}</dt>
          <dd className="font-mono break-all whitespace-pre-wrap text-ink-2">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Output({ text, failed }: { text: string; failed: boolean }) {
  return (
    <Box title={failed ? "error" : "output"} copy={text}>
      <pre className="code max-h-80 overflow-auto px-3 py-2 text-ink-2" tabIndex={0}>
        {plain(text)}
      </pre>
    </Box>
  );
}

function Box({ title, copy, children }: { title: string; copy: string; children: ReactNode }) {
  return (
    <div className="overflow-hidden rounded-lg border border-line bg-sunken">
      <div className="flex h-8 items-center justify-between border-b border-line pr-1 pl-3 text-2xs text-ink-3 touch:h-11">
        <span className="truncate font-mono">{title}</span>
        <Copy text={copy} />
      </div>
      {children}
    </div>
  );
}

/** Without a terminal's colours. */
const plain = (text: string): string => text.replace(/\u001b\[[0-9;?]*[ -/]*[@-~]/g, "");
