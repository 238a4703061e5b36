/** What scrolls by itself can be reached and scrolled with keys too; what fits is no stop on the way. */
export function reachable(box: HTMLElement): void {
  if (box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight) box.tabIndex = 0;
}

/** The same for what scrolls inside markup of the server. */
export function reachableInside(prose: HTMLElement): void {
  prose.querySelectorAll<HTMLElement>("pre, .wide").forEach(reachable);
}
