/**
 * A model's Markdown as safe HTML. What a model writes is hostile: its HTML is
 * shown as text, and there is no picture, because fetching one tells its server whatever the model was
 * talked into putting there. The sanitiser stands behind that, in case the parser has a hole.
 */
import DOMPurify from "dompurify";
import { Marked, type Tokens } from "marked";
import { highlighted } from "@/ui/highlight";

const marked = new Marked({
  gfm: true,
  renderer: {
    code: ({ text, lang }: Tokens.Code) =>
      `<pre tabindex="0"><code>${highlighted(text, lang ?? "")}</code></pre>`,
    html: ({ text }: Tokens.HTML | Tokens.Tag) => escaped(text), // shown as it was written
    image: ({ text, href }: Tokens.Image) => `<a href="${escaped(href)}">[image: ${escaped(text || href)}]</a>`,
  },
});

const RULES = {
  USE_PROFILES: { html: true },
  FORBID_TAGS: ["style", "form", "button", "textarea", "select", "iframe", "img", "picture", "source", "video", "audio", "svg", "math"],
  FORBID_ATTR: ["style", "class", "id", "name", "srcset", "ping"],
  ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i,
};

DOMPurify.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName === "A") {
    node.setAttribute("target", "_blank");
    node.setAttribute("rel", "noopener noreferrer nofollow");
  } else if (node.tagName === "INPUT") {
    if (node.getAttribute("type") !== "checkbox") node.remove();
    else node.setAttribute("disabled", "");
  }
});
// `class` is forbidden but for the highlighter's own.
DOMPurify.addHook("uponSanitizeAttribute", (_, data) => {
  if (data.attrName === "class" && /^hljs-[\w-]+( \w+_)*$/.test(data.attrValue)) data.forceKeepAttr = true;
});

const known = new Map<string, string>();
const KNOWN = 3_000;

export function html(raw: string): string {
  const found = known.get(raw);
  if (found !== undefined) return found;
  const made = DOMPurify.sanitize(marked.parse(raw, { async: false }), RULES);
  if (known.size >= KNOWN) known.delete(known.keys().next().value!);
  known.set(raw, made);
  return made;
}

/** For text that is still growing: not worth remembering. */
export const liveHtml = (raw: string): string => DOMPurify.sanitize(marked.parse(raw, { async: false }), RULES);

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
}
