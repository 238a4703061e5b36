import { createContext } from "svelte";
import { SvelteMap, SvelteSet } from "svelte/reactivity";

import { choose, chosen } from "../lib/choices";
import { answerTo, sentenceOf } from "./answers";
import type { Branch, Opening, OutlineLine, PicturePart, SessionFacts, SessionLine, Story } from "../lib/api-types";
import { SparseList } from "./sparse.svelte";
import type { Detail, Entry, Part, TurnEntry } from "./types";

const WINDOW = 50;
/** Prompts that are asked for at once where all are wanted. */
const AT_ONCE = 5_000;
const NONE: readonly Branch[] = [];
/** Milliseconds for which a word about what was done stays. */
const SAID = 2_500;

/** One session as somebody reads it: what of it is here, how much of it is told, what is folded. */
export class Reading {
  readonly id: string;
  detail = $state<Detail>("conversation");
  /** Whether calls are open until somebody folds them. */
  opensCalls = $state(false);
  isSideBySide = $state(chosen("diffs") === "side-by-side");
  /** The session as lists have it: known before all else is. */
  line = $state.raw<SessionLine | null>(null);
  facts = $state.raw<SessionFacts | null>(null);
  /** Done when all of it is read. Until then the length of the story is a guess. */
  whole: Promise<void> = Promise.resolve();
  branches = $state.raw<readonly Branch[]>([]);
  story = $state.raw(new SparseList<Entry>(async () => ({ start: 0, total: 0, items: [] })));
  /** How many lines of the outline are what. */
  promptKinds = $state.raw<Record<string, number>>({});
  outline = $state.raw(new SparseList<OutlineLine>(async () => ({ start: 0, total: 0, items: [] })));
  trouble = $state.raw<unknown>(null);
  /** The most tokens that a turn used so far: what bars are measured by. */
  mostTokens = $state(1);
  /** The message whose record is shown. */
  raw = $state.raw<{ session: string; number: number } | null>(null);
  /** The picture that is shown large. */
  enlarged = $state.raw<PicturePart | null>(null);
  /** A word about what was just done. */
  said = $state("");
  /** Entries that came below what is read. */
  news = $state(0);
  /** Whether its file has gone while it was read. */
  isGone = $state(false);
  readonly folds = new SvelteMap<string, boolean>();
  readonly openBranches = new SvelteSet<number>();
  #saying: ReturnType<typeof setTimeout> | undefined;

  constructor(id: string, detail: Detail) {
    this.id = id;
    this.detail = detail;
    this.opensCalls = opensCallsAt(detail);
  }

  /**
   * Begin, at a message or at the beginning. Answers the place of that message in the story.
   * Of a large session the beginning comes at once, and all else when it is read.
   */
  async begin(at: number | null): Promise<number> {
    try {
      const { story, outline } = this.#lists(this.detail);
      const opening = await this.#open(at, false);
      const found = this.#take(story, opening.story, at);
      this.line = opening.line;
      if (!found.isTold && this.detail !== "everything") {
        this.#know(opening);
        return await this.tell("everything", at);
      }
      this.story = story;
      this.outline = outline;
      if (opening.is_whole) this.#know(opening);
      else this.whole = this.#readWhole(story);
      return found.place;
    } catch (error) {
      this.trouble = error;
      return 0;
    }
  }

  /**
   * Tell more or less. Answers where the message now stands that was looked at, or the next that is told.
   * With `isMeant` this very message is wanted: where it is not told, everything is.
   */
  async tell(detail: Detail, around: number | null, isMeant = false): Promise<number> {
    await this.whole;
    const { story, outline } = this.#lists(detail);
    const found = await this.#seed(story, detail, around);
    if (isMeant && !found.isTold && detail !== "everything") return this.tell("everything", around);
    this.detail = detail;
    this.story = story;
    this.outline = outline;
    void outline.have(0, 0);
    return found.place;
  }

  /** Where a message stands in the story; more is told if it would not be told else. */
  async placeOf(number: number): Promise<number> {
    await this.whole;
    const found = await this.#seed(this.story, this.detail, number);
    return found.isTold || this.detail === "everything" ? found.place : this.tell("everything", number);
  }

  /** The agent wrote more. Answers by how many entries the story grew. */
  async renew(): Promise<number> {
    await this.whole;
    const before = this.story.total;
    await Promise.all([this.story.renew(), this.outline.renew(), this.#known()]);
    return Math.max(0, this.story.total - before);
  }

  /** Put changes side by side or one below the other, here and in every other session. */
  turnDiffs(): void {
    this.isSideBySide = !this.isSideBySide;
    choose("diffs", this.isSideBySide ? "side-by-side" : null);
  }

  /** Open all calls or fold them: also those that somebody opened or folded by hand. */
  foldAll(): void {
    this.folds.clear();
    this.opensCalls = !this.opensCalls;
  }

  /** Branches that can be opened where they forked: what was taken back. */
  get rewound(): readonly Branch[] {
    return this.branches.filter((branch) => branch.state === "rewound");
  }

  /** Open all dropped branches, or close them. */
  turnBranches(): void {
    const isAnyOpen = this.openBranches.size > 0;
    this.openBranches.clear();
    if (!isAnyOpen) this.rewound.forEach((branch) => this.openBranches.add(branch.index));
  }

  /** Say for a moment what was done. */
  say(words: string): void {
    clearTimeout(this.#saying);
    this.said = words;
    this.#saying = setTimeout(() => (this.said = ""), SAID);
  }

  /** What was taken back just after the turn at a place. */
  branchesAfter(place: number): readonly Branch[] {
    const entry = this.story.at(place);
    if (!this.branches.length || this.detail === "everything" || entry?.entry !== "turn") return NONE;
    const first = place === 0 ? 0 : entry.number;
    const next = this.#turnAfter(place);
    return this.rewound.filter((branch) => {
      const fork = branch.forked_after ?? 0;
      return fork >= first && fork < next;
    });
  }

  #turnAfter(place: number): number {
    for (let at = place + 1; at < Math.min(this.story.total, place + 5); at++) {
      const entry = this.story.at(at);
      if (entry?.entry === "turn") return entry.number;
    }
    return Infinity;
  }

  isOpen(key: string, isUsual: boolean): boolean {
    return this.folds.get(key) ?? isUsual;
  }

  fold(key: string, isOpen: boolean): void {
    this.folds.set(key, isOpen);
  }

  /** The turn at a place, or the nearest one in a direction; undefined beyond the ends. */
  async turnFrom(place: number, step: 1 | -1): Promise<number | undefined> {
    for (let at = place; at >= 0 && at < this.story.total; at += step) {
      if (!this.story.at(at)) await this.story.have(at, at);
      const entry = this.story.at(at);
      if (!entry || entry.entry === "turn") return entry ? at : undefined;
    }
    return undefined;
  }

  /** Which line of the outline a place in the story belongs to; -1 before the first. */
  async outlineAt(place: number): Promise<number> {
    await this.whole;
    const { outline, story } = this;
    let [low, lowEntry] = [0, 0];
    let [high, highEntry] = [outline.total, story.total];
    while (low < high) {
      // Prompts come about as often everywhere: a good guess needs fewer windows of the outline than halving.
      const share = (place - lowEntry) / Math.max(1, highEntry - lowEntry);
      const guess = Math.max(low, Math.min(high - 1, low + Math.floor(share * (high - low))));
      if (!outline.at(guess)) await outline.have(guess, guess);
      const line = outline.at(guess);
      if (!line) return -1;
      if (line.entry <= place) {
        low = guess + 1;
        lowEntry = line.entry + 1;
        const next = outline.at(low);
        if (next && next.entry > place) break;
      } else {
        high = guess;
        highEntry = line.entry;
      }
    }
    return low - 1;
  }

  /** All prompts at this level of detail: to look for words in them. */
  async allPrompts(): Promise<OutlineLine[]> {
    await this.whole;
    const all: OutlineLine[] = [];
    for (let total = 1; all.length < total; ) {
      const asked = { id: this.id, detail: this.detail, start: all.length, count: AT_ONCE };
      const answer = await answerTo("/api/session/outline", asked);
      all.push(...answer.prompts);
      total = answer.prompts.length ? answer.total : 0;
    }
    return all;
  }

  #lists(detail: Detail): { story: SparseList<Entry>; outline: SparseList<OutlineLine> } {
    const story = new SparseList<Entry>(async (start, count) => {
      await this.whole;
      const answer = await answerTo("/api/session/messages", { id: this.id, detail, start, count });
      this.#measure(answer.entries);
      return { start: answer.start, total: answer.total, items: answer.entries };
    }, WINDOW);
    const outline = new SparseList<OutlineLine>(async (start, count) => {
      await this.whole;
      const answer = await answerTo("/api/session/outline", { id: this.id, detail, start, count });
      if (detail === this.detail) this.promptKinds = answer.kinds;
      return { start, total: answer.total, items: answer.prompts };
    }, 500);
    return { story, outline };
  }

  #open(at: number | null, whole: boolean): Promise<Opening> {
    const around = at ?? undefined;
    return answerTo("/api/session/opening", { id: this.id, detail: this.detail, count: WINDOW, around, whole });
  }

  async #readWhole(story: SparseList<Entry>): Promise<void> {
    try {
      const opening = await this.#open(null, true);
      this.#take(story, opening.story, null);
      this.#know(opening);
    } catch (error) {
      story.trouble = sentenceOf(error);
    }
  }

  #know({ line, facts, branches, outline }: Opening): void {
    this.line = line;
    this.facts = facts;
    this.branches = branches ?? [];
    if (!outline) return;
    this.promptKinds = outline.kinds;
    this.outline.take({ start: 0, total: outline.total, items: outline.prompts });
  }

  async #seed(story: SparseList<Entry>, detail: Detail, at: number | null): Promise<{ place: number; isTold: boolean }> {
    const where = at === null ? { start: 0 } : { around: at };
    return this.#take(story, await answerTo("/api/session/messages", { id: this.id, detail, count: WINDOW, ...where }), at);
  }

  /** Take in a window. Answers where a message stands, or the next that is told; without one, the beginning. */
  #take(story: SparseList<Entry>, window: Story, at: number | null): { place: number; isTold: boolean } {
    this.#measure(window.entries);
    story.take({ start: window.start, total: window.total, items: window.entries });
    if (at === null) return { place: 0, isTold: true };
    const offset = window.entries.findIndex((entry) => entry.entry === "turn" && entry.number >= at);
    const found = window.entries[offset];
    const isTold = found?.entry === "turn" && found.number === at;
    return { place: offset < 0 ? Math.max(0, window.total - 1) : window.start + offset, isTold };
  }

  async #known(): Promise<void> {
    try {
      const [facts, branches] = await Promise.all([
        answerTo("/api/session", { id: this.id, detail: this.detail }),
        answerTo("/api/session/branches", { id: this.id }),
      ]);
      this.facts = facts;
      this.line = facts.line;
      this.branches = branches.branches;
    } catch (error) {
      // What was read stays on the page, whatever happens to the file meanwhile.
      this.story.trouble = sentenceOf(error);
    }
  }

  #measure(entries: readonly Entry[]): void {
    for (const entry of entries) {
      const used = entry.entry === "turn" ? (entry.usage?.total ?? 0) : 0;
      if (used > this.mostTokens) this.mostTokens = used;
    }
  }
}

/** Whether a level of detail shows what is behind each call. */
export function opensCallsAt(detail: Detail): boolean {
  return detail === "tools" || detail === "thoughts" || detail === "everything";
}

/** A message with all its parts, and all that is known of its calls. */
export async function wholeTurn(session: string, number: number): Promise<TurnEntry> {
  return answerTo("/api/session/message", { id: session, number, detail: "everything" });
}

/** What the fold of a part is remembered by. */
export function partKey(session: string, number: number, part: Part): string {
  return `${session} ${number} ${part.index}`;
}

export const [readingHere, setReading] = createContext<Reading>();
