const MOST = 6;
/** A phrase in quotes, with the name of a filter before it or not; or a word. */
const PIECES = /(-?)(?:(\w+):)?(?:"([^"]*)"|([^\s()"]+))/g;
const BETWEEN = new Set(["AND", "OR", "NOT", "NEAR"]);

/**
 * What may be looked for in a session that a search has found, the best first: the words as they stand, without
 * filters, and one by one.
 */
export function soughtBy(search: string): string[] {
  const words: string[] = [];
  for (const [, minus, filter, phrase, word] of search.matchAll(PIECES)) {
    const meant = (phrase ?? word ?? "").replace(/\*+$/, "").trim();
    if (meant && !minus && !filter && !BETWEEN.has(meant)) words.push(meant);
  }
  const longest = words.toSorted((a, b) => b.length - a.length);
  return [...new Set([search.trim(), words.join(" "), ...longest])].filter(Boolean).slice(0, MOST);
}
