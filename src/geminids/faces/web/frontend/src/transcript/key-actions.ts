/** What keys do in a transcript; keys.ts says it in words. */
import type { Keys } from "../lib/keys";
import { copied, linkTo, markdownOf } from "./copying";
import type FindInSession from "./FindInSession.svelte";
import type { Moving } from "./moving.svelte";
import { openNeighbour } from "./neighbours";
import type { Outline } from "./outline.svelte";
import type { Reading } from "./reading.svelte";

interface Transcript {
  reading: Reading;
  moving: Moving;
  outline: Outline;
  /** Undefined as long as there is nothing to find anything in. */
  find: () => FindInSession | undefined;
}

export function keysOf({ reading, moving, outline, find }: Transcript): Keys {
  return {
    j: () => void moving.step(1),
    k: () => void moving.step(-1),
    J: () => void moving.stepPrompt(1),
    K: () => void moving.stepPrompt(-1),
    g: () => void moving.jump(0),
    G: () => void moving.jumpToEnd(),
    "[": () => void openNeighbour(reading, -1),
    "]": () => void openNeighbour(reading, 1),
    f: () => void find()?.open(),
    "/": () => void find()?.open(),
    "mod+f": () => void find()?.open(),
    n: () => void find()?.step(1),
    N: () => void find()?.step(-1),
    o: () => outline.turn(),
    d: () => moving.stepDetail(1),
    D: () => moving.stepDetail(-1),
    t: () => moving.turnThoughts(),
    x: () => foldTurn(moving.turnElement),
    e: () => reading.foldAll(),
    s: () => reading.turnDiffs(),
    b: () => reading.turnBranches(),
    y: () => void copy((number) => linkTo(reading.id, number), "The link is"),
    c: () => void copy((number) => markdownOf(reading.id, number), "The message is"),
    C: () => void copy((number) => markdownOf(reading.id, number, true), "The prompt and its answers are"),
    r: showRecord,
    Escape: () => find()?.close(),
  };

  async function copy(words: (number: number) => string | Promise<string>, what: string): Promise<void> {
    const number = moving.number;
    if (number === null) return;
    reading.say((await copied(words(number))) ? `${what} copied` : "It could not be copied");
  }

  function showRecord(): void {
    const number = moving.number;
    if (number !== null) reading.raw = { session: reading.id, number };
  }
}

/** Open all that is folded in a turn; fold it where all of it is open. */
function foldTurn(turn: HTMLElement | null): void {
  const folds = [...(turn?.querySelectorAll<HTMLElement>("[data-fold]") ?? [])];
  const closed = folds.filter((fold) => fold.getAttribute("aria-expanded") === "false");
  (closed.length ? closed : folds).forEach((fold) => fold.click());
}
