/** Markdown, drawn block by block: a finished block is never drawn again. */
import { memo, useMemo, useRef } from "react";
import { type Block, Growing, blocksOf } from "@/model/blocks";
import { Code } from "@/ui/Code";
import { html, liveHtml } from "@/ui/markdown";

interface Props {
  text: string;
  growing?: boolean;
}

export const Markdown = memo(({ text, growing = false }: Props) =>
  growing ? <GrowingText text={text} /> : <SettledText text={text} />,
);

function SettledText({ text }: { text: string }) {
  const blocks = useMemo(() => blocksOf(text), [text]);
  return (
    <div className="prose">
      {blocks.map((block, index) => (
        <Piece key={index} block={block} raw={block.raw} live={false} />
      ))}
    </div>
  );
}

function GrowingText({ text }: { text: string }) {
  const splitter = useRef<Growing>(null);
  splitter.current ??= new Growing();
  const blocks = splitter.current.split(text);
  return (
    <div className="prose growing">
      {blocks.map((block, index) => (
        <Piece key={index} block={block} raw={block.raw} live={index === blocks.length - 1} />
      ))}
    </div>
  );
}

interface PieceProps {
  block: Block;
  raw: string;
  live: boolean;
}

const Piece = memo(
  ({ block, raw, live }: PieceProps) =>
    block.code ? (
      <Code text={block.code.text} language={block.code.lang} plain={live && block.code.open} />
    ) : (
      <div className="prose-block" dangerouslySetInnerHTML={{ __html: live ? liveHtml(raw) : html(raw) }} />
    ),
  (was, is) => was.raw === is.raw && was.live === is.live,
);
