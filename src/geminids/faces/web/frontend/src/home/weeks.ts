/** Days summed up to weeks. */
import type { DayActivity } from "../lib/api-types";
import { summed } from "../lib/numbers";
import { dayKey, dayOf } from "../lib/time";

export interface Week {
  /** Its Monday. */
  key: string;
  fresh: number;
  cached: number;
  output: number;
  thoughts: number;
  /** Null where nobody recorded it. */
  total: number | null;
  cost: number | null;
}

export const KINDS = ["fresh", "cached", "output", "thoughts"] as const;

/** The last so many weeks, empty ones too. */
export function weeksOf(days: readonly DayActivity[], count: number, today: Date): Week[] {
  const monday = mondayOf(today);
  const weeks = Array.from({ length: count }, (_, place) => {
    const date = new Date(monday.getFullYear(), monday.getMonth(), monday.getDate() - 7 * (count - 1 - place));
    return { key: dayKey(date), fresh: 0, cached: 0, output: 0, thoughts: 0, total: null, cost: null } as Week;
  });
  const known = new Map(weeks.map((week) => [week.key, week]));
  for (const { day, tokens } of days) {
    const week = known.get(dayKey(mondayOf(dayOf(day))));
    if (!week) continue;
    week.fresh += (tokens.fresh ?? 0) + (tokens.cache_write ?? 0);
    week.cached += tokens.cached ?? 0;
    week.output += tokens.output ?? 0;
    week.thoughts += tokens.thoughts ?? 0;
    week.total = summed([week.total, tokens.total]);
    week.cost = summed([week.cost, tokens.cost]);
  }
  return weeks;
}

function mondayOf(date: Date): Date {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() - ((date.getDay() + 6) % 7));
}
