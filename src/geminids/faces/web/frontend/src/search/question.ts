/** What is looked for, as the address has it. */
import type { Asked } from "../lib/api";
import { isPlace, PLACE_NAMES } from "../lib/places";
import { lastOfMonth, monthName } from "../lib/time";

export type SearchQuestion = Asked<"/api/search">;

/** Null while nothing is looked for. */
export function questionOf(query: URLSearchParams): SearchQuestion | null {
  const q = query.get("q")?.trim();
  if (!q) return null;
  const month = query.get("month");
  return {
    q,
    place: query.getAll("place").filter(isPlace),
    project: query.get("project") ?? undefined,
    agent: query.getAll("agent"),
    since: month ? `${month}-01` : (query.get("since") ?? undefined),
    until: month ? lastOfMonth(month) : (query.get("until") ?? undefined),
    order: query.get("order") === "newest" ? "newest" : "best",
  };
}

/** What it is narrowed down by besides the words. */
export function chipsOf(query: URLSearchParams, agentTitle: (name: string) => string): { key: string; what: string; value: string }[] {
  const said: [string, string, (value: string) => string][] = [
    ["place", "in", (value) => (isPlace(value) ? PLACE_NAMES[value] : value)],
    ["project", "project", (value) => value.split("/").at(-1) || value],
    ["agent", "agent", agentTitle],
    ["month", "month", monthName],
    ["since", "since", String],
    ["until", "until", String],
  ];
  return said.flatMap(([key, what, name]) => {
    const value = query.get(key);
    return value ? [{ key, what, value: name(value) }] : [];
  });
}
