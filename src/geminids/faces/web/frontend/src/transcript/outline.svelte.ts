import { MediaQuery } from "svelte/reactivity";

import { choose, chosen } from "../lib/choices";
import type { Moving } from "./moving.svelte";
import type { Reading } from "./reading.svelte";

/** Milliseconds after which somebody no longer scrolls. */
const RESTED = 60;

/** The outline of prompts: whether it is open, and which of its lines is read. Must be made with a component. */
export class Outline {
  /** -1 before the first. */
  line = $state(-1);
  #isOpen = $state(false);
  readonly #moving: Moving;
  readonly #narrow = new MediaQuery("max-width: 62rem");

  constructor(reading: Reading, moving: Moving) {
    this.#moving = moving;
    this.#isOpen = !this.#narrow.current && chosen("outline") !== "closed";
    $effect(() => this.#follow(reading));
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Whether there is no room for it beside the story. */
  get isOverStory(): boolean {
    return this.#narrow.current;
  }

  /** Open it or close it; beside the story it stays so in every other session. */
  turn(): void {
    this.#isOpen = !this.#isOpen;
    if (!this.isOverStory) choose("outline", this.#isOpen ? null : "closed");
  }

  close(): void {
    this.#isOpen = false;
  }

  /** Go to an entry of the story, which is seen then. */
  jump(entry: number): void {
    if (this.isOverStory) this.close();
    void this.#moving.jump(entry);
  }

  /** The line follows when the eye has come to rest. */
  #follow(reading: Reading): () => void {
    const now = this.#moving.here;
    void reading.outline.total;
    let isPast = false;
    const timer = setTimeout(async () => {
      const line = await reading.outlineAt(now);
      if (!isPast) this.line = line;
    }, RESTED);
    return () => {
      isPast = true;
      clearTimeout(timer);
    };
  }
}
