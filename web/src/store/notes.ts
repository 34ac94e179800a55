/** Short messages to the user: something was done, or could not be. */
import { Failure } from "@/connection/http";
import { Observed } from "@/store/observed";

export interface Note {
  id: number;
  text: string;
  hint: string;
  bad: boolean;
}

const STAYS = 6_000;

export class Notes extends Observed<{ notes: readonly Note[] }> {
  private count = 0;

  constructor() {
    super({ notes: [] });
  }

  say(text: string, { hint = "", bad = false } = {}): void {
    this.count += 1;
    const note: Note = { id: this.count, text, hint, bad };
    this.set({ notes: [...this.get().notes.slice(-2), note] });
    setTimeout(() => this.drop(note.id), STAYS);
  }

  /** Do it; if it fails, say why. */
  async trying(what: Promise<unknown>, done = ""): Promise<boolean> {
    try {
      await what;
      if (done) this.say(done);
      return true;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      this.say(error.message, { hint: error.hint, bad: true });
      return false;
    }
  }

  drop(id: number): void {
    this.set({ notes: this.get().notes.filter((note) => note.id !== id) });
  }
}
