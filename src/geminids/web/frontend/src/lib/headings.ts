/** Whoever goes to another view begins at its heading, also with a screen reader. */
import { isTyping } from "./keys";

/** Milliseconds in which a view may get its heading. */
const PATIENCE = 3000;

/** Bring the focus to the heading of what is shown, as soon as there is one. Gives what ends the waiting. */
export function focusHeading(inside: HTMLElement): () => void {
  const until = performance.now() + PATIENCE;
  let ahead = 0;
  const look = () => {
    const heading = inside.querySelector("h1");
    if (heading) {
      if (!isTyping(document.activeElement) && !document.querySelector("dialog[open]")) begin(heading);
    } else if (performance.now() < until) ahead = requestAnimationFrame(look);
  };
  ahead = requestAnimationFrame(look);
  return () => cancelAnimationFrame(ahead);
}

function begin(heading: HTMLElement): void {
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
}
