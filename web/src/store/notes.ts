/** Short messages to the user: something was done, or could not be. */
import { Failure } from "@/connection/http";
import { Observed } from "@/store/observed";

export interface Note {
  id: number;
  text: string;
  hint: string;
  bad: boolean;
  undo: (() => void) | null;
}

const STAYS = 6_000;

export class Notes extends Observed<{ notes: readonly Note[] }> {
  private count = 0;

  constructor() {
    super({ notes: [] });
  }

  say(text: string, { hint = "", bad = false, undo = null }: Partial<Omit<Note, "id" | "text">> = {}): void {
    this.count += 1;
    const note: Note = { id: this.count, text, hint, bad, undo };
    this.set({ notes: [...this.get().notes.slice(-2), note] });
    setTimeout(() => this.drop(note.id), STAYS);
  }

  /** Do it; if it fails, say why. `loses`: who is told instead, where it would lose work. */
  async trying(what: Promise<unknown>, done = "", loses: ((failure: Failure) => void) | null = null): Promise<boolean> {
    try {
      await what;
      if (done) this.say(done);
      return true;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (loses && error.code === "would_lose") loses(error);
      else this.say(error.message, { hint: error.hint, bad: true });
      return false;
    }
  }

  drop(id: number): void {
    this.set({ notes: this.get().notes.filter((note) => note.id !== id) });
  }
}
