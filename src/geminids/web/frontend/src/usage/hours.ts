/** The hours of a week, each with what was said in it. */
import type { Hour } from "../lib/api-types";
import { WEEKDAY_KEYS, hourWords } from "./filters";

export type HourMeasure = "prompts" | "replies";

export interface HourCell {
  /** As the filter has it: `mon-14`. */
  key: string;
  weekday: number;
  hour: number;
  prompts: number;
  replies: number;
  /** `Monday, 14–15 h`. */
  words: string;
}

export function cellsOf(hours: readonly Hour[]): HourCell[] {
  const known = new Map(hours.map((hour) => [`${hour.weekday} ${hour.hour}`, hour]));
  return WEEKDAY_KEYS.flatMap((name, weekday) =>
    Array.from({ length: 24 }, (_, hour) => {
      const found = known.get(`${weekday} ${hour}`);
      const key = `${name}-${hour}`;
      return { key, weekday, hour, prompts: found?.prompts ?? 0, replies: found?.replies ?? 0, words: hourWords(key) };
    }),
  );
}

/** From 0, nothing, to 4: by rank, so that one long night does not pale all else. */
export function warmths(cells: readonly HourCell[], measure: HourMeasure): number[] {
  const busy = cells.map((cell) => cell[measure]).filter((number) => number > 0).toSorted((one, other) => one - other);
  return cells.map((cell) => {
    if (!cell[measure]) return 0;
    const rank = 1 + busy.findLastIndex((number) => number <= cell[measure]);
    return Math.ceil((4 * rank) / busy.length);
  });
}
