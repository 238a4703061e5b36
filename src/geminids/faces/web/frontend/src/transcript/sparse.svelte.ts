import { SvelteMap } from "svelte/reactivity";

/** Some items that stand together in a long list. */
export interface Piece<T> {
  start: number;
  total: number;
  items: readonly T[];
}

type Ask<T> = (start: number, count: number) => Promise<Piece<T>>;

/** Of these is no more kept than this; what is far from the eye goes first. */
const MOST_KEPT = 3_000;

/**
 * A list of which only those blocks are here that somebody looked at.
 *
 * What was read once stays on the page while it is read anew, so that nothing flickers as a session grows.
 */
export class SparseList<T> {
  total = $state(0);
  isKnown = $state(false);
  /** Why the last block could not be had; null if it could. */
  trouble = $state<string | null>(null);

  readonly #items = new SvelteMap<number, T>();
  readonly #ask: Ask<T>;
  readonly #block: number;
  readonly #asked = new Map<number, Promise<void>>();
  /** Blocks that were read before the list last changed. */
  #stale = new Set<number>();
  #wanted: [number, number] | null = null;
  #isFollowing = false;

  constructor(ask: Ask<T>, block = 50) {
    this.#ask = ask;
    this.#block = block;
  }

  at(place: number): T | undefined {
    return this.#items.get(place);
  }

  /** Take in what was read in another way. */
  take(piece: Piece<T>): void {
    this.total = piece.total;
    this.isKnown = true;
    this.trouble = null;
    piece.items.forEach((item, offset) => this.#put(piece.start + offset, item));
    for (const place of [...this.#items.keys()]) if (place >= piece.total) this.#items.delete(place);
  }

  /** Have these items; answers when they are there. */
  async have(first: number, last: number): Promise<void> {
    for (const block of this.#blocks(first, last)) await this.#read(block);
  }

  /** Say what is looked at. Only the last wish counts: who scrolls on wants nothing of what went by. */
  want(first: number, last: number): void {
    this.#wanted = [first, last];
    if (!this.#isFollowing) void this.#follow();
  }

  /** The list has changed: all is to be read anew when it is looked at. */
  async renew(): Promise<void> {
    for (const place of this.#items.keys()) this.#stale.add(Math.floor(place / this.#block));
    const [first, last] = this.#wanted ?? [0, 0];
    await this.#readOnce(Math.floor(Math.max(0, Math.min(first, this.total - 1)) / this.#block));
    this.want(first, last);
  }

  async #follow(): Promise<void> {
    this.#isFollowing = true;
    try {
      for (let block = this.#nextWanted(); block !== undefined; block = this.#nextWanted()) {
        await this.#read(block);
        if (this.trouble) break;
      }
      this.#forgetFar();
    } finally {
      this.#isFollowing = false;
    }
  }

  #nextWanted(): number | undefined {
    return this.#wanted ? this.#blocks(...this.#wanted)[0] : undefined;
  }

  /** The blocks between two places of which something is missing or old. */
  #blocks(first: number, last: number): number[] {
    const end = this.isKnown ? Math.min(last, this.total - 1) : last;
    const blocks: number[] = [];
    for (let block = Math.floor(Math.max(0, first) / this.#block); block * this.#block <= end; block++) {
      if (this.#stale.has(block) || this.#missing(block) !== undefined) blocks.push(block);
    }
    return blocks;
  }

  #missing(block: number): number | undefined {
    const end = this.isKnown ? Math.min((block + 1) * this.#block, this.total) : (block + 1) * this.#block;
    for (let place = block * this.#block; place < end; place++) if (!this.#items.has(place)) return place;
    return undefined;
  }

  async #read(block: number): Promise<void> {
    const begun = this.#asked.get(block);
    if (begun) return begun;
    const reading = this.#readWhole(block).finally(() => this.#asked.delete(block));
    this.#asked.set(block, reading);
    return reading;
  }

  async #readWhole(block: number): Promise<void> {
    if (this.#stale.has(block) && !(await this.#readOnce(block))) return;
    // Of very large items there come fewer than were asked for.
    for (let from = this.#missing(block); from !== undefined; from = this.#missing(block)) {
      if (!(await this.#readOnce(block, from)) || this.#missing(block) === from) return;
    }
  }

  /** Whether there was an answer. */
  async #readOnce(block: number, from = block * this.#block): Promise<boolean> {
    this.#stale.delete(block);
    try {
      this.take(await this.#ask(from, (block + 1) * this.#block - from));
      return true;
    } catch (error) {
      this.trouble = error instanceof Error ? error.message : String(error);
      return false;
    }
  }

  #put(place: number, item: T): void {
    const before = this.#items.get(place);
    // An item that stayed as it was is left alone: a selection in it would be lost.
    if (before === undefined || JSON.stringify(before) !== JSON.stringify(item)) this.#items.set(place, item);
  }

  #forgetFar(): void {
    if (this.#items.size <= MOST_KEPT || !this.#wanted) return;
    const middle = (this.#wanted[0] + this.#wanted[1]) / 2;
    for (const place of [...this.#items.keys()]) {
      if (Math.abs(place - middle) > MOST_KEPT / 4) this.#items.delete(place);
    }
  }
}
