/** Where a session works, in the user's words. */
import type { SessionOut } from "@/wire/types.gen";

/** The repository's folder; git's own folder in it is not what people call it. */
export function folderOf({ workspace }: Pick<SessionOut, "workspace">): string {
  return (workspace.repo || workspace.path).replace(/\/\.git\/?$/, "");
}

export const nameOf = (session: Pick<SessionOut, "workspace">): string => folderOf(session).split("/").filter(Boolean).at(-1) ?? "";
