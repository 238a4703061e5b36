import type { Asked } from "../lib/api";
import type { CallPart, LeftOutEntry, MarkEntry, PauseEntry, Story, TurnEntry } from "../lib/api-types";

export type Entry = Story["entries"][number];
export type Part = TurnEntry["parts"][number];
export type { CallPart, LeftOutEntry, MarkEntry, PauseEntry, TurnEntry };

export type Detail = NonNullable<Asked<"/api/session/messages">["detail"]>;

/** The levels of detail, the least first. */
export const LEVEL_NAMES: Record<Detail, string> = {
  prompts: "Prompts",
  conversation: "Conversation",
  tools: "Tools",
  thoughts: "Thoughts",
  everything: "Everything",
};
export const LEVELS = Object.keys(LEVEL_NAMES) as Detail[];

export function isDetail(word: string | null | undefined): word is Detail {
  return LEVELS.some((level) => level === word);
}
