/** What may be meant by a filter that is half typed: its name, then its value. */

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
export function halfTyped(text: string, caret: number, filters: readonly string[]): HalfTyped | null {
  const found = HALF.exec(text.slice(0, caret));
  if (!found) return null;
  const [, name = "", value] = found;
  if (value === undefined) return { begin: caret - name.length, end: caret, filter: null, typed: name };
  if (!filters.includes(name)) return null;
  return { begin: caret - value.length, end: caret, filter: name, typed: value.replace(/^"/, "") };
}

/** Names of filters that begin like this. */
export function namesLike(text: string, half: HalfTyped, filters: readonly string[]): Completion[] {
  return filters
    .filter((name) => name.startsWith(half.typed))
    .map((name) => completed(text, half, `${name}:`, `${name}:`, FILTER_NOTES[name] ?? "", ""));
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
  return { text: shown, note, whole: before + text.slice(half.end).trimStart(), caret: before.length };
}

const FILTER_NOTES: Record<string, string> = {
  agent: "who was at work",
  project: "the folder it was in",
  since: "from then on",
  before: "until then",
  hour: "the weekday or the hour, as mon-14",
  is: "what kind of session or message",
  in: "where the words stand",
  tool: "a tool that was called",
  file: "a file that was touched",
  model: "the model that answered",
  status: "how it ended",
  role: "who wrote the message",
  id: "the beginning of an id",
};

const MOMENTS: Value[] = [
  { value: "today", note: "" },
  { value: "yesterday", note: "" },
  { value: "7d", note: "7 days ago" },
  { value: "30d", note: "30 days ago" },
  { value: "6mo", note: "6 months ago" },
  { value: "1y", note: "a year ago" },
];

/** Filters that take one of a few values. */
export const FEW_VALUES: Record<string, Value[]> = {
  since: MOMENTS,
  before: MOMENTS,
  is: [
    { value: "main", note: "led by you" },
    { value: "subagent", note: "started by an agent" },
    { value: "checkpoint", note: "saved by you" },
    { value: "kept", note: "deleted by the agent, read from a copy" },
    { value: "lost", note: "only traces are left" },
    { value: "error", note: "with a call that failed" },
    { value: "rewound", note: "taken back" },
    { value: "compressed", note: "replaced by a summary" },
    { value: "dropped", note: "anything that was taken back" },
    { value: "current", note: "what the model still sees" },
    { value: "failed", note: "" },
    { value: "cancelled", note: "" },
    { value: "superseded", note: "" },
    { value: "unrecorded", note: "typed, but not in the session's file" },
  ],
  in: [
    { value: "human", note: "what you typed" },
    { value: "model", note: "answers" },
    { value: "thoughts", note: "" },
    { value: "arguments", note: "what tools were asked" },
    { value: "output", note: "what tools answered" },
    { value: "paths", note: "" },
    { value: "other", note: "" },
  ],
  role: [
    { value: "user", note: "" },
    { value: "assistant", note: "" },
    { value: "system", note: "" },
  ],
  status: [
    { value: "success", note: "" },
    { value: "failure", note: "" },
    { value: "interrupted", note: "" },
    { value: "cancelled", note: "" },
    { value: "error", note: "" },
  ],
};
