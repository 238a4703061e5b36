/** Times as people say them, in the time of this machine. */

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const UNITS = [
  [DAY, "d"],
  [HOUR, "h"],
  [MINUTE, "min"],
  [1, "s"],
] as const;

const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const SHORT_DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const DAY_OF_YEAR = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const WEEKDAY = new Intl.DateTimeFormat("en-GB", { weekday: "long" });
const WHOLE = new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeStyle: "medium" });
const MONTH = new Intl.DateTimeFormat("en-GB", { month: "long", year: "numeric" });

/** `14:05`. */
export function clock(at: string | null): string {
  return at ? CLOCK.format(new Date(at)) : "";
}

/** `just now`, `12 min ago`, `3 h ago`, `yesterday`, `5 Nov`, `5 Nov 2025`. */
export function ago(at: string | null, now = new Date()): string {
  if (!at) return "";
  const then = new Date(at);
  const seconds = (now.getTime() - then.getTime()) / 1000;
  if (seconds < -MINUTE) return day(then, now);
  if (seconds < MINUTE) return "just now";
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)} min ago`;
  const days = daysBetween(then, now);
  if (days === 0 || seconds < 6 * HOUR) return `${Math.floor(seconds / HOUR)} h ago`;
  if (days === 1) return "yesterday";
  return day(then, now);
}

/** A time in a list that has headings of time: `12 min ago`, `14:05`, `5 Nov`. */
export function underHeading(at: string | null, now = new Date()): string {
  if (!at) return "";
  const days = daysBetween(new Date(at), now);
  if (days === 0 && now.getTime() - new Date(at).getTime() < HOUR * 1000) return ago(at, now);
  return days >= 0 && days < 7 ? clock(at) : day(at, now);
}

/** `in 3 days`, `in 5 h`, `now`. */
export function ahead(at: string | null, now = new Date()): string {
  if (!at) return "now";
  const seconds = (new Date(at).getTime() - now.getTime()) / 1000;
  if (seconds < HOUR) return "now";
  if (seconds < 2 * DAY) return `in ${Math.floor(seconds / HOUR)} h`;
  return `in ${Math.floor(seconds / DAY)} days`;
}

/** `5 Nov`; with the year if it is another. */
export function day(at: Date | string, now = new Date()): string {
  const date = new Date(at);
  return date.getFullYear() === now.getFullYear() ? SHORT_DAY.format(date) : DAY_OF_YEAR.format(date);
}

/** All there is to say of a moment: for titles. */
export function whole(at: string | null): string {
  return at ? WHOLE.format(new Date(at)) : "";
}

/** `340 ms`, `1.2 s`, `45 s`, `3 min 20 s`, `2 h 5 min`: from ten seconds on as the terminal says it. */
export function duration(seconds: number | null): string {
  if (seconds === null) return "";
  if (seconds < 0.9995) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  let left = Math.max(10, Math.floor(seconds));
  const pieces: string[] = [];
  for (const [unit, name] of UNITS) {
    if (left >= unit) pieces.push(`${Math.floor(left / unit)} ${name}`);
    left %= unit;
  }
  return pieces.slice(0, 2).join(" ");
}

/** How long it took; null if a moment is not known. */
export function secondsBetween(begin: string | null, end: string | null): number | null {
  return begin === null || end === null ? null : Math.max(0, Date.parse(end) - Date.parse(begin)) / 1000;
}

/** Under which heading of time something stands: `Today`, `Yesterday`, `Friday`, `November 2026`. */
export function timeGroup(at: string | null, now = new Date()): string {
  if (!at) return "Without a date";
  const date = new Date(at);
  const days = daysBetween(date, now);
  if (days <= 0) return "Today";
  if (days === 1) return "Yesterday";
  if (days < 7) return WEEKDAY.format(date);
  return MONTH.format(date);
}

/** `November 2026` of `2026-11`. */
export function monthName(key: string): string {
  return MONTH.format(dayOf(`${key}-01`));
}

/** `2026-11-05` of a local day. */
export function dayKey(date: Date): string {
  const two = (number: number) => String(number).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** The local day of `2026-11-05`. */
export function dayOf(key: string): Date {
  const [year = 1970, month = 1, date = 1] = key.split("-").map(Number);
  return new Date(year, month - 1, date);
}

/** The last day of `2026-11`. */
export function lastOfMonth(key: string): string {
  const first = dayOf(`${key}-01`);
  return dayKey(new Date(first.getFullYear(), first.getMonth() + 1, 0));
}

function daysBetween(then: Date, now: Date): number {
  const start = (date: Date) => Date.UTC(date.getFullYear(), date.getMonth(), date.getDate());
  return Math.round((start(now) - start(then)) / (DAY * 1000));
}
