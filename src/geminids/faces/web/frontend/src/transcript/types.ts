import type { CallPart, LeftOutEntry, MarkEntry, PauseEntry, Story, TurnEntry } from "../lib/api-types";

export type Entry = Story["entries"][number];
export type Part = TurnEntry["parts"][number];
export type { CallPart, LeftOutEntry, MarkEntry, PauseEntry, TurnEntry };

/** The levels of detail, the least first. */
export const LEVELS = ["prompts", "conversation", "tools", "thoughts", "everything"] as const;
export type Detail = (typeof LEVELS)[number];

export function isDetail(word: string | null | undefined): word is Detail {
  return LEVELS.some((level) => level === word);
}
