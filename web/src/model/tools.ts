/** What a tool was given, in a shape that can be drawn. JSON that was cut off is shown as it is. */

export type Given =
  | { shape: "command"; command: string }
  | { shape: "edit"; path: string; was: string; is: string }
  | { shape: "file"; path: string; text: string }
  | { shape: "fields"; fields: [string, string][] }
  | { shape: "raw"; text: string };

export function givenTo(name: string, input: string): Given {
  const fields = parsed(input);
  if (fields === null) return { shape: "raw", text: input };
  const { command, path, old, new: fresh, content } = fields;
  if (name === "shell" && typeof command === "string") return { shape: "command", command };
  if (typeof path === "string") {
    if (typeof old === "string" && typeof fresh === "string") return { shape: "edit", path, was: old, is: fresh };
    if (typeof content === "string") return { shape: "file", path, text: content };
  }
  const entries = Object.entries(fields);
  const nested = entries.some(([, value]) => typeof value === "object" && value !== null);
  if (nested) return { shape: "raw", text: JSON.stringify(fields, null, 2) };
  return { shape: "fields", fields: entries.map(([key, value]) => [key, String(value)]) };
}

function parsed(input: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(input);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
}
