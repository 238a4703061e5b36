/** Whoever goes to another view begins at its heading, also with a screen reader. */
import { isTyping } from "./keys";

/** Milliseconds in which a view may get what is looked for. */
const PATIENCE = 3000;

/** Bring the focus to the heading of what is shown, as soon as there is one. Gives what ends the waiting. */
export function focusHeading(inside: HTMLElement): () => void {
  return whenThere(
    () => inside.querySelector("h1"),
    (heading) => {
      if (isTyping(document.activeElement) || document.querySelector("dialog[open]")) return;
      heading.tabIndex = -1;
      heading.focus({ preventScroll: true });
    },
  );
}

/** Bring what an address names into view, as soon as it is there. Gives what ends the waiting. */
export function showAnchor(inside: HTMLElement, anchor: string): () => void {
  return whenThere(
    () => inside.querySelector<HTMLElement>(`#${CSS.escape(anchor)}`),
    (meant) => {
      meant.scrollIntoView();
      meant.focus({ preventScroll: true });
    },
  );
}

function whenThere<T>(look: () => T | null, act: (found: T) => void): () => void {
  const until = performance.now() + PATIENCE;
  let ahead = 0;
  const again = () => {
    const found = look();
    if (found) act(found);
    else if (performance.now() < until) ahead = requestAnimationFrame(again);
  };
  ahead = requestAnimationFrame(again);
  return () => cancelAnimationFrame(ahead);
}
