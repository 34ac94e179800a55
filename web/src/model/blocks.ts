/**
 * Markdown in blocks, so that a growing text costs what is new: blocks that are finished are cut off
 * and never looked at again; only the last one is read anew with each token.
 */
import { marked } from "marked";

export interface Block {
  raw: string;
  code: { lang: string; text: string; open: boolean } | null; // a fence at the top level
}

/** All blocks of a text that does not grow. */
export function blocksOf(text: string): Block[] {
  return lexed(text).map(({ raw }) => block(raw));
}

/** A splitter for one growing text. Equal, for every prefix, to reading that prefix whole. */
export class Growing {
  private finished: Block[] = [];
  private read = "";

  split(text: string): readonly Block[] {
    if (!text.startsWith(this.read)) {
      this.finished = [];
      this.read = "";
    }
    const tail = lexed(text.slice(this.read.length), { spaces: true });
    const last = tail.findLastIndex((token) => token.type !== "space");
    for (const token of tail.slice(0, Math.max(0, last))) {
      this.read += token.raw;
      if (token.type !== "space") this.finished = [...this.finished, block(token.raw)];
    }
    const live = tail.slice(Math.max(0, last)).map((token) => token.raw).join("");
    return live.trim() ? [...this.finished, block(live)] : this.finished;
  }
}

function lexed(text: string, { spaces = false } = {}): { raw: string; type: string }[] {
  const tokens = marked.lexer(text);
  return spaces ? tokens : tokens.filter((token) => token.type !== "space");
}

const FENCE = /^ {0,3}(`{3,}|~{3,})([^\n`]*)\n?/;

function block(raw: string): Block {
  const fence = FENCE.exec(raw);
  if (fence === null) return { raw, code: null };
  const mark = fence[1]!;
  const body = raw.slice(fence[0].length);
  const close = new RegExp(`(^|\\n) {0,3}${mark[0]}{${mark.length},}[ \\t]*\\n*$`);
  const open = !close.test(body);
  const text = open ? body : body.replace(close, "");
  return { raw, code: { lang: fence[2]!.trim().split(/\s/)[0] ?? "", text, open } };
}
