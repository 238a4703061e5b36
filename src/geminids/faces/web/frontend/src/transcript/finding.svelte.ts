import { answerTo, sentenceOf } from "./answers";
import type { FoundInSession, FoundPlace } from "../lib/api-types";
import type { Reading } from "./reading.svelte";
import { SparseList } from "./sparse.svelte";

const WINDOW = 100;

/** Words that are looked for in a session, and every place where they stand. */
export class Finding {
  words = $state("");
  /** Which of the places is looked at, from 0. */
  chosen = $state(0);
  messages = $state(0);
  trouble = $state("");
  hits = $state.raw<SparseList<FoundPlace> | null>(null);
  /** What the places are of. */
  #asked = "";
  /** Grows when looking ends: an answer that comes later is of no use. */
  #ended = 0;
  readonly #reading: Reading;

  constructor(reading: Reading, words: string) {
    this.#reading = reading;
    this.words = words;
  }

  get hit(): FoundPlace | null {
    return this.hits?.at(this.chosen) ?? null;
  }

  /** Whether the places are those of other words than the ones that stand in the box. */
  get isBehind(): boolean {
    return this.#asked !== this.words;
  }

  /** Of several words keep those that stand in a message, or else somewhere; the first if none does. */
  async settle(several: readonly string[], number: number): Promise<void> {
    const begun = this.#ended;
    let [kept] = several;
    let isAnywhere = false;
    try {
      for (const words of several) {
        const answer = await this.#ask(words, { at: number, count: 1 });
        const isHere = answer.places[0]?.number === number;
        if (isHere || (answer.total && !isAnywhere)) kept = words;
        if (isHere) break;
        isAnywhere ||= answer.total > 0;
      }
    } catch (error) {
      this.trouble = sentenceOf(error);
    }
    if (this.#ended === begun) this.words = kept ?? "";
  }

  /** Look for the words; the first place is chosen that stands in a message or after it. */
  async look(from: number): Promise<void> {
    const wanted = (this.#asked = this.words);
    this.trouble = "";
    if (!wanted) {
      this.hits = null;
      return;
    }
    try {
      const answer = await this.#ask(wanted, { at: from });
      if (this.#asked !== wanted) return;
      this.hits = this.#list(wanted);
      this.hits.take(pieceOf(answer));
      this.messages = answer.messages;
      await this.#choose(answer.start < answer.total ? answer.start : 0);
    } catch (error) {
      this.trouble = sentenceOf(error);
    }
  }

  /** Nobody looks for anything any more. */
  end(): void {
    this.#ended += 1;
    this.words = this.#asked = "";
    this.hits = null;
  }

  /** Go to the next place or the one before; after the last comes the first. */
  async step(by: 1 | -1): Promise<void> {
    const total = this.hits?.total ?? 0;
    if (total) await this.#choose((this.chosen + by + total) % total);
  }

  async #choose(place: number): Promise<void> {
    await this.hits?.have(place, place);
    this.chosen = place;
  }

  #list(words: string): SparseList<FoundPlace> {
    return new SparseList(async (start, count) => pieceOf(await this.#ask(words, { start, count })), WINDOW);
  }

  #ask(words: string, which: { at?: number; start?: number; count?: number }): Promise<FoundInSession> {
    return answerTo("/api/session/find", { id: this.#reading.id, words, detail: this.#reading.detail, count: WINDOW, ...which });
  }
}

function pieceOf(answer: FoundInSession): { start: number; total: number; items: readonly FoundPlace[] } {
  return { start: answer.start, total: answer.total, items: answer.places };
}
