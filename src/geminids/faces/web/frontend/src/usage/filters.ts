/** What the view is narrowed to, as the address has it. Every filter holds one value; clicking it again takes it away. */
import type { Asked } from "../lib/api";
import { goWith, withQuery } from "../lib/router";
import { day, dayKey, dayOf, lastOfMonth } from "../lib/time";

const NAMES = ["q", "project", "agent", "model", "tool", "hour", "since", "until"] as const;
export type FilterName = (typeof NAMES)[number];
export type Filters = Readonly<Record<FilterName, string>>;
export type Periods = "day" | "week" | "month";

export interface Chip {
  /** The filter that it stands for, or both of time. */
  key: FilterName | typeof TIME;
  what: string;
  value: string;
}

export const TIME = "time";

const WEEKDAYS: Readonly<Record<string, string>> = {
  mon: "Monday",
  tue: "Tuesday",
  wed: "Wednesday",
  thu: "Thursday",
  fri: "Friday",
  sat: "Saturday",
  sun: "Sunday",
};
export const WEEKDAY_KEYS: readonly string[] = Object.keys(WEEKDAYS);

export function filtersOf(query: URLSearchParams): Filters {
  const found = Object.fromEntries(NAMES.map((name) => [name, query.get(name) ?? ""]));
  return found as Record<FilterName, string>;
}

/** The question to the server; a picture of models asks without the model, so that another can be chosen in it. */
export function askedWith(filters: Filters, without: FilterName | null = null): Asked<"/api/usage/hours"> {
  const kept = without ? { ...filters, [without]: "" } : filters;
  return {
    q: wordsOf(kept),
    project: kept.project || undefined,
    agent: kept.agent ? [kept.agent] : [],
    since: kept.since || undefined,
    until: kept.until || undefined,
  };
}

/** The list of the sessions meant. */
export function sessionsAddress(filters: Filters, more: Partial<Filters> = {}): string {
  const all = { ...filters, ...more };
  const query = new URLSearchParams();
  const words = wordsOf(all);
  if (words) {
    query.set("q", words);
    // Words find subagents too; here they count as part of the sessions that started them.
    for (const kind of ["main", "checkpoint", "lost"]) query.append("kind", kind);
  }
  for (const name of ["project", "agent", "since", "until"] as const) if (all[name]) query.set(name, all[name]);
  return withQuery("/sessions", query);
}

/** Narrow the view; Back widens it again. */
export function narrow(words: Partial<Record<FilterName, string>>): void {
  goWith({ ...words, by: null }, { replace: false });
}

/** Choose a value, or give up the one that is chosen. */
export function choose(filters: Filters, name: FilterName, value: string): void {
  narrow({ [name]: filters[name] === value ? "" : value });
}

export function clearAll(): void {
  narrow(Object.fromEntries(NAMES.map((name) => [name, ""])));
}

/** Narrow to a day, week or month, as far as it lies in the span that is shown. */
export function narrowToPeriod(filters: Filters, by: Periods, key: string): void {
  const last = lastDayOf(by, key);
  narrow({
    since: filters.since > key ? filters.since : key,
    until: filters.until && filters.until < last ? filters.until : last,
  });
}

function lastDayOf(by: Periods, key: string): string {
  if (by === "month") return lastOfMonth(key.slice(0, 7));
  const first = dayOf(key);
  return dayKey(new Date(first.getFullYear(), first.getMonth(), first.getDate() + (by === "week" ? 6 : 0)));
}

/** `Monday`, `14–15 h`, `Monday, 14–15 h`. */
export function hourWords(value: string): string {
  const [first = "", second] = value.split("-");
  const weekday = WEEKDAYS[first];
  const hour = weekday ? second : first;
  const clock = hour ? `${hour}–${Number(hour) + 1} h` : "";
  return [weekday, clock].filter(Boolean).join(", ");
}

export function chipsOf(filters: Filters, agentTitle: (agent: string) => string): Chip[] {
  const chips: Chip[] = [];
  if (filters.since || filters.until) chips.push({ key: TIME, what: "Time", value: spanWords(filters) });
  const said: [FilterName, string, (value: string) => string][] = [
    ["project", "Project", (value) => value.split("/").pop() || value],
    ["agent", "Agent", agentTitle],
    ["model", "Model", String],
    ["tool", "Sessions that call", String],
    ["hour", "Hour", hourWords],
    ["q", "Words", String],
  ];
  for (const [name, what, words] of said) if (filters[name]) chips.push({ key: name, what, value: words(filters[name]) });
  return chips;
}

function spanWords({ since, until }: Filters): string {
  if (since && since === until) return dayWords(since);
  if (!until) return `since ${dayWords(since)}`;
  return since ? `${dayWords(since)} to ${dayWords(until)}` : `until ${dayWords(until)}`;
}

function dayWords(written: string): string {
  return /^\d{4}-\d\d-\d\d$/.test(written) ? day(dayOf(written)) : written;
}

function wordsOf(filters: Filters): string {
  const exact = (["model", "tool"] as const).filter((name) => filters[name]).map((name) => `${name}:"=${filters[name].replaceAll('"', "")}"`);
  const hour = filters.hour ? [`hour:${filters.hour}`] : [];
  return [filters.q, ...exact, ...hour].filter(Boolean).join(" ");
}
