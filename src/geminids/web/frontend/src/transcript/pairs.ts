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
