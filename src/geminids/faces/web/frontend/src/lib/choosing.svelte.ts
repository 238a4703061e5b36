/** One line of a list that is chosen with keys. */
import type { Keys } from "./keys";

interface List {
  /** What the lines are known by, in order. */
  keys: () => readonly string[];
  /** Bring a line into view; it may be asked for more of them. */
  show: (key: string, place: number) => void;
  open: (key: string) => void;
}

export class Choosing {
  key = $state<string | null>(null);
  readonly #list: List;

  constructor(list: List, key: string | null = null) {
    this.#list = list;
    this.key = key;
  }

  /** What the keys do in a list. */
  readonly keys: Keys = {
    j: () => this.#move(1),
    k: () => this.#move(-1),
    ArrowDown: () => this.#move(1),
    ArrowUp: () => this.#move(-1),
    g: () => this.#choose(0),
    G: () => this.#choose(Infinity),
    Enter: () => this.#open(),
    o: () => this.#open(),
    Escape: () => (this.key = null),
  };

  #move(step: 1 | -1): void {
    const now = this.key === null ? -1 : this.#list.keys().indexOf(this.key);
    this.#choose(now < 0 ? 0 : now + step);
  }

  #choose(wanted: number): void {
    const keys = this.#list.keys();
    const place = Math.max(0, Math.min(keys.length - 1, wanted));
    const key = keys[place];
    if (key === undefined) return;
    this.key = key;
    this.#list.show(key, place);
  }

  #open(): void {
    if (this.key !== null) this.#list.open(this.key);
  }
}
