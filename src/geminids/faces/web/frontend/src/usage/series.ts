/** Usage over time as lines of a picture and rows of a table. */
import type { SeriesPart, UsageSeries } from "../lib/api-types";
import { dayKey, dayOf } from "../lib/time";
import type { Periods } from "./filters";
import { kindsIn } from "./kinds";

export type Measure = "tokens" | "cost";
export type Split = "kind" | "model" | "agent" | "project";

export interface Line {
  key: string;
  name: string;
  ink: string;
  /** For each period; null where nothing was recorded. */
  values: (number | null)[];
}

const INKS = ["--kind-fresh", "--kind-output", "--kind-thoughts", "--kind-cache-write", "--kind-cached"];
export const MOST_PARTS = INKS.length;
const MOST_PERIODS = 4000;

export function linesOf(series: UsageSeries, split: Split, measure: Measure): Line[] {
  if (split !== "kind") return partsOf(series).map((part, place) => lineOf(part, INKS[place] ?? "--kind-tool", measure));
  if (measure === "cost") return [{ key: "cost", name: "Cost", ink: "--kind-fresh", values: series.points.map((point) => point.cost) }];
  return kindsIn(series.total).map(({ kind, name, ink }) => ({ key: kind, name, ink, values: series.points.map((point) => point[kind]) }));
}

function partsOf({ parts, rest, left_out }: UsageSeries): SeriesPart[] {
  return rest ? [...parts, { ...rest, key: " rest", name: left_out === 1 ? "1 other" : `${left_out} others` }] : [...parts];
}

function lineOf(part: SeriesPart, ink: string, measure: Measure): Line {
  const values = measure === "cost" ? part.costs : part.totals;
  return { key: part.key, name: part.name || "Without a name", ink, values: [...values] };
}

/** Values that only grow: each with all before it. */
export function cumulative(line: Line): Line {
  let sum: number | null = null;
  const values = line.values.map((value) => (sum = value === null ? sum : (sum ?? 0) + value));
  return { ...line, values };
}

/** All periods from the first to the last, so that quiet ones show as gaps. */
export function everyPeriod(keys: readonly string[], by: Periods): string[] {
  const last = keys.at(-1);
  const all: string[] = [];
  for (let key = keys[0]; key !== undefined && last !== undefined && key <= last && all.length < MOST_PERIODS; key = following(by, key)) {
    all.push(key);
  }
  return all;
}

function following(by: Periods, key: string): string {
  const date = dayOf(key);
  if (by === "month") return dayKey(new Date(date.getFullYear(), date.getMonth() + 1, 1));
  return dayKey(new Date(date.getFullYear(), date.getMonth(), date.getDate() + (by === "week" ? 7 : 1)));
}

/** The lines over other periods: what was left out is null, or, where they grow, as it was before. */
export function spread(line: Line, keys: readonly string[], all: readonly string[], isGrowing: boolean): Line {
  const known = new Map(keys.map((key, place) => [key, line.values[place] ?? null]));
  let last: number | null = null;
  const values = all.map((key) => (last = known.get(key) ?? (isGrowing ? last : null)));
  return { ...line, values };
}
