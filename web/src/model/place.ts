/** Where a session works, in the user's words. */
import type { SessionOut } from "@/wire/types.gen";

/** The repository's folder; git's own folder in it is not what people call it. */
export function folderOf({ workspace }: Pick<SessionOut, "workspace">): string {
  return (workspace.repo || workspace.path).replace(/\/\.git\/?$/, "");
}

/** By whom, in the user's words. */
export const agentOf = ({ agent }: Pick<SessionOut, "agent">): string => (agent === "builtin" ? "built-in" : agent);

/** Empty where only the work tree is known, which is called like the session. */
export function nameOf(session: Pick<SessionOut, "workspace" | "id">): string {
  const name = folderOf(session).split("/").filter(Boolean).at(-1) ?? "";
  return name === session.id ? "" : name;
}
