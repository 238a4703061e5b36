import type { FoundPlace } from "../lib/api-types";

const ALL = "found";
const CHOSEN = "found-here";
const MOST = 500;

/** What scrolls inside a message. */
const BOXES = ".screen, .scroll, .prose pre, dd";

/** Mark words wherever they stand under an element. The page itself stays as it is. */
export function markWords(under: HTMLElement, words: string): void {
  if (!("highlights" in CSS)) return;
  if (words) CSS.highlights.set(ALL, new Highlight(...rangesOf(under, words)));
  else unmarkWords();
}

/** Bring a hit into view in its turn, and mark it; false if it does not stand there (yet). */
export function reveal(turn: HTMLElement, list: HTMLElement, words: string, hit: FoundPlace): boolean {
  const ranges = rangesOf(holderOf(turn, hit), words);
  const range = ranges[Math.min(hit.nth, ranges.length - 1)];
  if (!range) return false;
  if ("highlights" in CSS) {
    const highlight = new Highlight(range);
    highlight.priority = 1;
    CSS.highlights.set(CHOSEN, highlight);
  }
  const box = range.startContainer.parentElement?.closest<HTMLElement>(BOXES);
  if (box) box.scrollTop += range.getBoundingClientRect().top - box.getBoundingClientRect().top - box.clientHeight / 3;
  const at = range.getBoundingClientRect();
  const seen = list.getBoundingClientRect();
  if (at.top < seen.top || at.bottom > seen.bottom) list.scrollTop += at.top - seen.top - seen.height / 3;
  return true;
}

export function unmarkWords(): void {
  if (!("highlights" in CSS)) return;
  CSS.highlights.delete(ALL);
  CSS.highlights.delete(CHOSEN);
}

/** What of a turn holds a hit, as far as it is drawn: an argument, the output, else the part. */
function holderOf(turn: HTMLElement, hit: FoundPlace): HTMLElement {
  const part = turn.querySelector<HTMLElement>(`[data-part="${hit.part}"]`) ?? turn;
  const argument = [...part.querySelectorAll<HTMLElement>("[data-argument]")].find((one) => one.dataset.argument === hit.argument);
  const output = hit.where === "output" ? part.querySelector<HTMLElement>("[data-output]") : null;
  return argument ?? output ?? part;
}

/** Where words stand under an element, also across the pieces that colours cut a line into. */
function rangesOf(under: HTMLElement, words: string): Range[] {
  const wanted = words.toLowerCase();
  const nodes: { node: Node; start: number }[] = [];
  let text = "";
  const texts = document.createTreeWalker(under, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    nodes.push({ node, start: text.length });
    text += lowered(node.nodeValue ?? "");
  }
  const ranges: Range[] = [];
  let from = 0;
  const pointAt = (place: number, isEnd: boolean): [Node, number] | undefined => {
    while (from + 1 < nodes.length && (nodes[from + 1]?.start ?? 0) + (isEnd ? 1 : 0) <= place) from++;
    const found = nodes[from];
    return found && [found.node, place - found.start];
  };
  for (let at = text.indexOf(wanted); at >= 0 && ranges.length < MOST; at = text.indexOf(wanted, at + wanted.length)) {
    const [begin, end] = [pointAt(at, false), pointAt(at + wanted.length, true)];
    if (!begin || !end) break;
    const range = new Range();
    range.setStart(...begin);
    range.setEnd(...end);
    ranges.push(range);
  }
  return ranges;
}

/** Some letters change their length with their case; such a text stays as it is. */
function lowered(text: string): string {
  const lower = text.toLowerCase();
  return lower.length === text.length ? lower : text;
}
