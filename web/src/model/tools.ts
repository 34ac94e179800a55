/**
 * What a tool was given, in a shape that can be drawn. JSON that was cut off is shown as it is. A character
 * that cannot be seen, or that turns others around, is spelt out: what is shown is what will be done.
 */

export type Given =
  | { shape: "command"; command: string }
  | { shape: "edit"; path: string; was: string; is: string }
  | { shape: "file"; path: string; text: string }
  | { shape: "fields"; fields: [string, string][] }
  | { shape: "raw"; text: string };

export function givenTo(input: string): Given {
  const fields = parsed(input);
  if (fields === null) return { shape: "raw", text: spelt(input) };
  const { command, path, old, new: fresh, content } = fields;
  if (typeof command === "string") return { shape: "command", command };
  if (typeof path === "string") {
    if (typeof old === "string" && typeof fresh === "string") return { shape: "edit", path, was: old, is: fresh };
    if (typeof content === "string") return { shape: "file", path, text: content };
  }
  const entries = Object.entries(fields);
  const nested = entries.some(([, value]) => typeof value === "object" && value !== null);
  if (nested) return { shape: "raw", text: JSON.stringify(fields, null, 2) };
  return { shape: "fields", fields: entries.map(([key, value]) => [key, String(value)]) };
}

/** The one thing that says what it was about. */
export function aboutOf(input: string): string {
  const given = givenTo(input);
  if (given.shape === "command") return given.command;
  return "path" in given ? given.path : "";
}

const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

export const spelt = (text: string): string => text.replace(UNSEEN, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`);

function parsed(input: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(input, (_, each: unknown) => (typeof each === "string" ? spelt(each) : each));
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
}
