// spec: K6
import { expect, test } from "vitest";
import { Growing, blocksOf } from "@/model/blocks";

const TEXT = `# Title

A paragraph with **bold** and
two lines.

1. one
2. two
   - inner

\`\`\`python
def f():
    return "\`\`\`"

x = 1
\`\`\`

| a | b |
|---|---|
| 1 | 2 |

> quoted

~~~
tildes
~~~
The end`;

const raws = (blocks: readonly { raw: string }[]): string[] => blocks.map((block) => block.raw.trim());

test("read piece by piece, every prefix has the blocks that it has read whole", () => {
  const growing = new Growing();
  for (let end = 1; end <= TEXT.length; end += 3) {
    const prefix = TEXT.slice(0, end);
    expect(raws(growing.split(prefix)).join("\n")).toBe(raws(blocksOf(prefix)).join("\n"));
  }
});

test("finished blocks are the same objects as before: they are not drawn again", () => {
  const growing = new Growing();
  const early = growing.split("one\n\ntwo\n\nthr");
  const late = growing.split("one\n\ntwo\n\nthree and more");
  expect(late[0]).toBe(early[0]);
  expect(late[1]).toBe(early[1]);
});

test("a text that is not the continuation is read anew", () => {
  const growing = new Growing();
  growing.split("one\n\ntwo");
  expect(raws(growing.split("three"))).toEqual(["three"]);
});

test("a fence is code with its language, open until it is closed", () => {
  expect(blocksOf("```ts\nlet a = 1;")[0]?.code).toEqual({ lang: "ts", text: "let a = 1;", open: true });
  expect(blocksOf("```ts\nlet a = 1;\n```")[0]?.code).toEqual({ lang: "ts", text: "let a = 1;", open: false });
  expect(blocksOf("```")[0]?.code).toEqual({ lang: "", text: "", open: true });
});
