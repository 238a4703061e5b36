import type { DiffLine } from "../lib/api-types";

/** A line of a change beside the one that took its place. */
export interface Pair {
  old: DiffLine | null;
  new: DiffLine | null;
}

/** Lines of a change side by side: what was removed stands beside what was added in its place. */
export function pairs(lines: readonly DiffLine[]): Pair[] {
  const told: Pair[] = [];
  let removed: DiffLine[] = [];
  let added: DiffLine[] = [];
  const tell = () => {
    for (let at = 0; at < Math.max(removed.length, added.length); at++) {
      told.push({ old: removed[at] ?? null, new: added[at] ?? null });
    }
    removed = [];
    added = [];
  };
  for (const line of lines) {
    if (line.kind === "removed") {
      if (added.length) tell();
      removed.push(line);
    } else if (line.kind === "added") {
      added.push(line);
    } else {
      tell();
      told.push({ old: line, new: line });
    }
  }
  tell();
  return told;
}

/** A line in three: what stayed before, what is different, what stayed after. */
export type Thirds = [before: string, different: string, after: string];

/** What of a changed line differs from the one beside it; null where so little stayed that all of it does. */
export function thirds(line: string, beside: string): Thirds | null {
  const shorter = Math.min(line.length, beside.length);
  let begin = 0;
  while (begin < shorter && line[begin] === beside[begin]) begin++;
  let end = 0;
  while (end < shorter - begin && line.at(-1 - end) === beside.at(-1 - end)) end++;
  const stayed = (line.slice(0, begin) + line.slice(line.length - end)).trim().length;
  if (stayed * 3 < line.trim().length || begin + end === line.length) return null;
  return [line.slice(0, begin), line.slice(begin, line.length - end), line.slice(line.length - end)];
}

/** The line that took the place of another, or whose place it took. */
export function besides(lines: readonly DiffLine[]): Map<DiffLine, DiffLine> {
  const beside = new Map<DiffLine, DiffLine>();
  for (const pair of pairs(lines)) {
    if (!pair.old || !pair.new || pair.old === pair.new) continue;
    beside.set(pair.old, pair.new);
    beside.set(pair.new, pair.old);
  }
  return beside;
}
