/** What may be meant by a filter that is half typed: its name, then its value. */
import type { FilterNote } from "./api-types";

export interface Value {
  value: string;
  note: string;
}

export interface Completion {
  /** What is shown. */
  text: string;
  note: string;
  /** All that was typed, with this in it. */
  whole: string;
  /** Where to go on typing. */
  caret: number;
}

/** A filter that is being typed. */
export interface HalfTyped {
  /** Where its name or its value begins. */
  begin: number;
  end: number;
  /** Null while the name is being typed. */
  filter: string | null;
  typed: string;
}

const MOST = 8;
const HALF = /(?:^|[\s(])-?([a-z]*)(?::("[^"]*|[^\s"]*))?$/;

/** What stands before the caret, if it may be a filter. */
export function halfTyped(text: string, caret: number, filters: readonly FilterNote[]): HalfTyped | null {
  const found = HALF.exec(text.slice(0, caret));
  if (!found) return null;
  const [, name = "", value] = found;
  if (value === undefined) return { begin: caret - name.length, end: caret, filter: null, typed: name };
  if (!filters.some((filter) => filter.name === name)) return null;
  return { begin: caret - value.length, end: caret, filter: name, typed: value.replace(/^"/, "") };
}

/** Names of filters that begin like this. */
export function namesLike(text: string, half: HalfTyped, filters: readonly FilterNote[]): Completion[] {
  return filters
    .filter(({ name }) => name.startsWith(half.typed))
    .map(({ name, note }) => completed(text, half, `${name}:`, `${name}:`, note, ""));
}

/** Values that begin like this, then those that hold it. */
export function valuesLike(text: string, half: HalfTyped, values: readonly Value[]): Completion[] {
  const typed = half.typed.toLowerCase();
  const ranked = values.filter(({ value }) => value.toLowerCase().includes(typed) && value !== half.typed);
  const first = ranked.filter(({ value }) => value.toLowerCase().startsWith(typed));
  return [...new Set([...first, ...ranked])]
    .slice(0, MOST)
    .map(({ value, note }) => completed(text, half, value, /[\s()"]/.test(value) ? `"${value.replaceAll('"', "")}"` : value, note, " "));
}

function completed(text: string, half: HalfTyped, shown: string, written: string, note: string, space: string): Completion {
  const before = text.slice(0, half.begin) + written + space;
  const after = text.slice(half.end);
  return { text: shown, note, whole: before + (space ? after.trimStart() : after), caret: before.length };
}
