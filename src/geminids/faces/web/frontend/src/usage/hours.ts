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
