/** Colours for code: a dozen languages, and none for what is not known. */
import type { HLJSApi, Language } from "highlight.js";
import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import python from "highlight.js/lib/languages/python";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";

/** Ours: the library's holds the name of every property there is, five kilobytes of them.
 * Every look ahead is short: what is coloured may be made to be slow. */
const css = (of: HLJSApi): Language => ({
  name: "css",
  contains: [
    of.C_BLOCK_COMMENT_MODE,
    of.APOS_STRING_MODE,
    of.QUOTE_STRING_MODE,
    { scope: "keyword", match: /@[\w-]+/ },
    { scope: "attribute", match: /[\w-]{1,60}(?=\s{0,9}:[^:{}]{0,200}[;}])/ },
    { scope: "selector-class", match: /[.#][A-Za-z_][\w-]{0,60}(?=[^;}]{0,200}\{)/ },
    { scope: "number", match: /#[\da-f]{3,8}\b|-?\b\d[\d.]*(%|[a-z]+)?/i },
  ],
});

const LANGUAGES = { bash, css, diff, go, javascript, json, python, rust, sql, typescript, xml, yaml };
const LONGEST = 60_000; // characters; beyond that colours cost more than they tell

for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);
hljs.registerAliases(["toml", "ini"], { languageName: "yaml" });

/** HTML, escaped. */
export function highlighted(text: string, language: string): string {
  if (text.length > LONGEST || !hljs.getLanguage(language)) return escaped(text);
  return hljs.highlight(text, { language, ignoreIllegals: true }).value;
}

const ENDINGS: Record<string, string> = { sh: "bash", tsx: "typescript", html: "xml", yml: "yaml", md: "", toml: "yaml" };

export function languageOf(path: string): string {
  const ending = path.slice(path.lastIndexOf(".") + 1).toLowerCase();
  return ENDINGS[ending] ?? ending;
}

function escaped(text: string): string {
  return text.replace(/[&<>]/g, (c) => (c === "&" ? "&amp;" : c === "<" ? "&lt;" : "&gt;"));
}
