/** A year of days in columns of weeks, and how warm each of them is. */
import type { DayActivity } from "../lib/api-types";
import { dayKey } from "../lib/time";

export type Measure = "prompts" | "active" | "tokens" | "cost";

export interface Cell {
  key: string;
  date: Date;
  week: number;
  /** 0 is Monday. */
  weekday: number;
  activity: DayActivity | null;
}

const WEEKS = 53;

/** The days of the last 53 weeks, up to today. */
export function cellsOf(days: readonly DayActivity[], today: Date): Cell[] {
  const known = new Map(days.map((one) => [one.day, one]));
  const lastWeekday = (today.getDay() + 6) % 7;
  const count = (WEEKS - 1) * 7 + lastWeekday + 1;
  return Array.from({ length: count }, (_, place) => {
    const date = new Date(today.getFullYear(), today.getMonth(), today.getDate() - (count - 1 - place));
    const key = dayKey(date);
    return { key, date, week: Math.floor(place / 7), weekday: place % 7, activity: known.get(key) ?? null };
  });
}

export function amountOf(activity: DayActivity | null, measure: Measure): number {
  if (!activity) return 0;
  if (measure === "tokens") return activity.tokens.total ?? 0;
  if (measure === "cost") return activity.tokens.cost ?? 0;
  return activity[measure];
}

export interface MonthName {
  week: number;
  name: string;
}

const SHORT_MONTH = new Intl.DateTimeFormat("en-GB", { month: "short" });

/** Where a month begins. */
export function monthsOf(cells: readonly Cell[]): MonthName[] {
  const found = cells
    .filter((cell) => cell.date.getDate() === 1)
    .map((cell) => ({ week: cell.weekday === 0 ? cell.week : cell.week + 1, name: SHORT_MONTH.format(cell.date) }));
  return found.filter((month) => month.week < WEEKS - 1);
}
