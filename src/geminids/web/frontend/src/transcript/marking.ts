const NAME = "found";
const MOST = 500;

/** What scrolls inside a message. */
const BOXES = ".screen, .scroll, .prose pre, dd";

/** Mark words wherever they stand under an element. The page itself stays as it is. */
export function markWords(under: HTMLElement, words: string): void {
  if (!("highlights" in CSS)) return;
  const wanted = words.toLowerCase();
  if (!wanted) {
    CSS.highlights.delete(NAME);
    return;
  }
  CSS.highlights.set(NAME, new Highlight(...rangesOf(under, wanted)));
}

/** Scroll to where words first stand under an element of a list; false if they do not stand there. */
export function reveal(under: HTMLElement, list: HTMLElement, words: string): boolean {
  const [first] = rangesOf(under, words.toLowerCase());
  if (!first) return false;
  const box = first.startContainer.parentElement?.closest<HTMLElement>(BOXES);
  if (box) box.scrollTop += first.getBoundingClientRect().top - box.getBoundingClientRect().top - box.clientHeight / 3;
  const at = first.getBoundingClientRect();
  const seen = list.getBoundingClientRect();
  if (at.top < seen.top || at.bottom > seen.bottom) list.scrollTop += at.top - seen.top - seen.height / 3;
  return true;
}

export function unmarkWords(): void {
  if ("highlights" in CSS) CSS.highlights.delete(NAME);
}

function rangesOf(under: HTMLElement, wanted: string): Range[] {
  const ranges: Range[] = [];
  const texts = document.createTreeWalker(under, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node && ranges.length < MOST; node = texts.nextNode()) {
    const text = (node.nodeValue ?? "").toLowerCase();
    for (let at = text.indexOf(wanted); at >= 0 && ranges.length < MOST; at = text.indexOf(wanted, at + wanted.length)) {
      // Some letters change their length with their case; such a text is left unmarked.
      if (at + wanted.length > (node.nodeValue ?? "").length) break;
      const range = new Range();
      range.setStart(node, at);
      range.setEnd(node, at + wanted.length);
      ranges.push(range);
    }
  }
  return ranges;
}
