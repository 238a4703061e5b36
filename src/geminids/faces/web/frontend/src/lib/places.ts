/** Where in a message words may stand, as searches tell it. */
import type { Asked } from "./api";

export type Place = NonNullable<Asked<"/api/search">["place"]>[number];

/** What to choose from. */
export const PLACE_NAMES: Record<Place, string> = {
  human: "What you typed",
  model: "Answers",
  thoughts: "Thoughts",
  arguments: "Arguments of tools",
  paths: "Paths",
  output: "Output of tools",
  other: "Other",
};
export const PLACES = Object.keys(PLACE_NAMES) as Place[];

const IN_SHORT: Record<Place, string> = {
  human: "You",
  model: "Model",
  thoughts: "Thoughts",
  arguments: "Arguments",
  paths: "Paths",
  output: "Output",
  other: "Other",
};

export function isPlace(word: string): word is Place {
  return Object.hasOwn(PLACE_NAMES, word);
}

/** Where a hit stands, in a word. */
export function placeInShort(where: string): string {
  return isPlace(where) ? IN_SHORT[where] : where;
}
