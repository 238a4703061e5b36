/** Values of filters: the server tells a few, the index knows the others, which are asked for when somebody types one. */
import { get } from "svelte/store";

import { about } from "./about";
import { ask } from "./api";
import type { Value } from "./completing";
import { counted } from "./numbers";

const known = new Map<string, Promise<Value[]>>();

/** All values of a filter; none if there are too many to tell. */
export function valuesOf(filter: string): Promise<Value[]> {
  const few = filter === "agent" ? get(about)?.agents : get(about)?.filter_notes.find(({ name }) => name === filter)?.values;
  const told = Object.entries(few ?? {}).map(([value, note]) => ({ value, note }));
  if (told.length) return Promise.resolve(told);
  const before = known.get(filter);
  if (before) return before;
  const asked = askFor(filter);
  known.set(filter, asked);
  return asked;
}

/** The index has taken something in. */
export function forgetValues(): void {
  known.clear();
}

async function askFor(filter: string): Promise<Value[]> {
  if (filter === "project") return projects();
  if (filter === "tool" || filter === "model") return groups(filter);
  return [];
}

async function projects(): Promise<Value[]> {
  const result = await ask("/api/projects", { limit: 500 });
  if (!result.ok) return [];
  const named = result.value.projects.map((one) => ({ value: one.project.name, note: counted(one.sessions, "session") }));
  return [...new Map(named.map((one) => [one.value, one])).values()];
}

async function groups(by: "tool" | "model"): Promise<Value[]> {
  const result = await ask("/api/usage", { by, limit: 200 });
  if (!result.ok) return [];
  const names = [...new Set(result.value.groups.map((one) => one.key))];
  return names.filter((name) => name && !/\s/.test(name)).map((value) => ({ value, note: "" }));
}
