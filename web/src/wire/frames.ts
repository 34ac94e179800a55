/** The frames of the one socket (SPEC J2), sorted by what the page does with them. */
import type {
  Answer,
  Beat,
  Cancel,
  Delta,
  Dismiss,
  Gap,
  Hello,
  Items,
  Prompt,
  Result,
  Resume,
} from "@/wire/types.gen";

export interface Cursor {
  epoch: string;
  seq: number;
}

/** Comes by itself, for something that was subscribed to. */
export type Push = Hello | Items | Delta | Gap;
export type FrameIn = Push | Result | Beat;

/** Changes something. Its `id` is minted here, so that saying it twice is harmless. */
export type Command = Prompt | Cancel | Resume | Dismiss | Answer;
