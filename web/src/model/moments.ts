/** Times, sizes and money in few letters. */

export function age(at: string, now: number): string {
  const seconds = Math.max(0, Math.round((now - Date.parse(at)) / 1000));
  if (seconds < 45) return "now";
  if (seconds < 3_600) return `${Math.max(1, Math.round(seconds / 60))}m`;
  if (seconds < 86_400) return `${Math.round(seconds / 3_600)}h`;
  if (seconds < 86_400 * 14) return `${Math.round(seconds / 86_400)}d`;
  return new Date(at).toLocaleDateString(undefined, { day: "numeric", month: "short" });
}

export const ago = (at: string, now: number): string => {
  const words = age(at, now);
  return words === "now" ? "just now" : /^\d+[mhd]$/.test(words) ? `${words} ago` : words;
};

export function clock(at: string): string {
  return new Date(at).toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });
}

/** "Rate limited until 14:05": with the day, if that is not today. */
export function titled({ title, resumes_at: until }: { title: string; resumes_at: string | null }): string {
  if (!until) return title;
  const then = new Date(until);
  const today = then.toDateString() === new Date().toDateString();
  const day = today ? "" : then.toLocaleDateString(undefined, { weekday: "short", day: "numeric", month: "short" }) + ", ";
  return `${title} until ${day}${clock(until)}`;
}

export function moment(at: string): string {
  return new Date(at).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
}

/** How long something took: 12 ms, 3.4 s, 2m 05s, 1h 03m. */
export function lasting(millis: number): string {
  if (millis < 1_000) return `${Math.round(millis)} ms`;
  if (millis < 60_000) return `${(millis / 1_000).toFixed(millis < 10_000 ? 1 : 0)} s`;
  const minutes = Math.floor(millis / 60_000);
  if (minutes < 60) return `${minutes}m ${two(Math.floor((millis % 60_000) / 1_000))}s`;
  return `${Math.floor(minutes / 60)}h ${two(minutes % 60)}m`;
}

/** How long something has been going on: whole seconds, which do not flicker. */
export const since = (at: string, now: number): string => {
  const seconds = Math.max(0, Math.floor((now - Date.parse(at)) / 1_000));
  return seconds < 60 ? `${seconds} s` : lasting(seconds * 1_000);
};

/** What is left, as a clock: 4:05, 1:02:09; empty when it is over. */
export function countdown(until: string, now: number): string {
  const seconds = Math.ceil((Date.parse(until) - now) / 1000);
  if (seconds <= 0) return "";
  const hours = Math.floor(seconds / 3_600);
  const minutes = Math.floor((seconds % 3_600) / 60);
  const tail = `${hours ? two(minutes) : minutes}:${two(seconds % 60)}`;
  return hours ? `${hours}:${tail}` : tail;
}

export function money(dollars: number): string {
  if (dollars === 0) return "$0";
  return dollars >= 0.1 ? `$${dollars.toFixed(2)}` : `$${dollars.toFixed(4)}`;
}

export function count(number: number): string {
  if (number < 1_000) return String(number);
  if (number < 1_000_000) return `${(number / 1_000).toFixed(number < 10_000 ? 1 : 0)}k`;
  return `${(number / 1_000_000).toFixed(1)}M`;
}

export function bytes(size: number): string {
  if (size < 1_024) return `${size} B`;
  if (size < 1_048_576) return `${(size / 1_024).toFixed(size < 10_240 ? 1 : 0)} KB`;
  return `${(size / 1_048_576).toFixed(1)} MB`;
}

const two = (number: number): string => String(number).padStart(2, "0");
