/** How far each page of the history was scrolled: whoever goes back finds it so. */
import { MOVED } from "./router";

const STORED = "geminids-scrolled";
/** Milliseconds in which a page that is still being drawn may become long enough. */
const PATIENCE = 2000;
/** Frames in which it must stay as it was: another view may be about to take its place. */
const CALM = 6;

type Scrolled = Record<string, number>;

/** Begin to remember. Gives what ends it. */
export function rememberScrolling(): () => void {
  const scrolled = stored();
  let here = entryHere();
  let ahead = 0;
  history.scrollRestoration = "manual";

  const note = () => {
    if (!ahead) scrolled[here] = window.scrollY;
  };
  const stop = () => {
    cancelAnimationFrame(ahead);
    ahead = 0;
  };
  const moved = () => {
    stop();
    here = entryHere();
  };
  const cameBack = () => {
    stop();
    here = entryHere();
    returnTo(scrolled[here] ?? 0);
  };
  const returnTo = (wanted: number) => {
    const until = performance.now() + PATIENCE;
    let calm = 0;
    const look = () => {
      if (Math.abs(window.scrollY - wanted) > 1) {
        calm = 0;
        window.scrollTo(0, wanted);
      } else calm += 1;
      ahead = calm < CALM && performance.now() < until ? requestAnimationFrame(look) : 0;
    };
    ahead = requestAnimationFrame(look);
  };
  const store = () => {
    try {
      sessionStorage.setItem(STORED, JSON.stringify(scrolled));
    } catch {
      // A browser that stores nothing begins at the top when a page is loaded anew.
    }
  };

  const heard: [string, () => void][] = [
    ["scroll", note],
    [MOVED, moved],
    ["popstate", cameBack],
    ["pagehide", store],
    // Whoever scrolls by hand is not pulled back.
    ["wheel", stop],
    ["touchstart", stop],
    ["pointerdown", stop],
    ["keydown", stop],
  ];
  heard.forEach(([name, act]) => window.addEventListener(name, act, { passive: true }));
  returnTo(scrolled[here] ?? window.scrollY);
  return () => {
    stop();
    heard.forEach(([name, act]) => window.removeEventListener(name, act));
  };
}

function entryHere(): string {
  const state: unknown = history.state;
  return typeof state === "object" && state !== null && "entry" in state ? String(state.entry) : "first";
}

function stored(): Scrolled {
  try {
    const known: unknown = JSON.parse(sessionStorage.getItem(STORED) ?? "{}");
    return typeof known === "object" && known !== null ? (known as Scrolled) : {};
  } catch {
    return {};
  }
}
