import { tick } from "svelte";

import { keepAddress } from "./addresses";
import { opensCallsAt, type Reading } from "./reading.svelte";
import type StoryList from "./StoryList.svelte";
import { LEVELS, type Detail } from "./types";

/** Milliseconds after which the address follows: browsers refuse too many changes of it. */
const KEPT = 400;
const USUAL: Detail = "conversation";

/** Where in a session somebody reads, and how to get elsewhere. */
export class Moving {
  /** Where a new list begins. */
  begin = $state(0);
  /** The place that the keys move; -1 as long as nobody chose one. */
  current = $state(-1);
  /** The first place that is seen. */
  top = $state(0);
  isAtEnd = $state(false);
  /** Whether there is something to show: the session, or why it cannot be read. */
  isReady = $state(false);
  list = $state<StoryList>();
  /** What all of it is drawn in; null when the view has ended: what was asked for may come later. */
  page = $state.raw<HTMLElement | null>(null);
  /** The message that the address means. */
  meant: number | null;
  /** The level of detail to go back to from thoughts. */
  #before: Detail;
  #keeping: ReturnType<typeof setTimeout> | undefined;
  #isEnded = false;
  readonly #reading: Reading;

  constructor(reading: Reading, meant: number | null) {
    this.#reading = reading;
    this.meant = meant;
    this.#before = reading.detail === "thoughts" ? USUAL : reading.detail;
  }

  /** Read the session from the message that the address means. */
  async open(): Promise<void> {
    this.isReady = false;
    this.#reading.trouble = null;
    this.begin = await this.#reading.begin(this.meant);
    this.current = this.meant === null ? -1 : this.begin;
    if (!this.#reading.trouble) this.keep();
    this.isReady = true;
  }

  /** The place that is read: the chosen one while it is seen, else the first that is. */
  get here(): number {
    return this.current >= 0 && this.list?.isSeen(this.current) ? this.current : this.top;
  }

  /** The number of the message that is read. */
  get number(): number | null {
    const entry = this.#reading.story.at(this.here);
    return entry?.entry === "turn" ? entry.number : null;
  }

  /** The turn that is read, as far as it is drawn. */
  get turnElement(): HTMLElement | null {
    return this.page?.querySelector<HTMLElement>(`[data-place="${this.here}"]`) ?? null;
  }

  get storyElement(): HTMLElement | null {
    return this.page?.querySelector<HTMLElement>(".story") ?? null;
  }

  async jump(to: number, align: "start" | "nearest" | "center" = "start"): Promise<void> {
    this.current = to;
    await this.list?.show(to, align);
    if (this.#isEnded) return;
    clearTimeout(this.#keeping);
    this.#keeping = setTimeout(() => this.#keepPlace(), KEPT);
  }

  async jumpToMessage(number: number): Promise<void> {
    const story = this.#reading.story;
    const to = await this.#reading.placeOf(number);
    // Another level of detail is another list, which begins where it should.
    if (this.#reading.story !== story) this.begin = to;
    await tick();
    await this.jump(to);
  }

  async jumpToEnd(): Promise<void> {
    await this.#reading.whole;
    const last = await this.#reading.turnFrom(this.#reading.story.total - 1, -1);
    if (last !== undefined) await this.jump(last);
  }

  /** Show the end of the story, as whoever was there wants to stay there. */
  async showEnd(): Promise<void> {
    this.#reading.news = 0;
    await this.#reading.whole;
    await this.list?.show(this.#reading.story.total - 1, "end");
  }

  async step(by: 1 | -1): Promise<void> {
    const isChosenSeen = this.here === this.current;
    const to = await this.#reading.turnFrom(isChosenSeen ? this.current + by : this.top, by);
    if (to !== undefined) await this.jump(to, "nearest");
  }

  async stepPrompt(by: 1 | -1): Promise<void> {
    const { outline } = this.#reading;
    const line = await this.#reading.outlineAt(this.here);
    const at = outline.at(line);
    // Back from an answer is its own prompt.
    const to = by === -1 && at && at.entry < this.here ? line : line + by;
    if (to < 0 || to >= outline.total) return;
    await outline.have(to, to);
    const prompt = outline.at(to);
    if (prompt) await this.jump(prompt.entry);
  }

  /** Tell more or less, and stay where somebody reads. */
  async tell(detail: Detail): Promise<void> {
    const isAtBeginning = this.top === 0 && this.current < 0;
    this.begin = await this.#reading.tell(detail, isAtBeginning ? null : this.number);
    this.current = this.current < 0 ? -1 : this.begin;
    this.keep();
  }

  choose(detail: Detail): void {
    this.#reading.opensCalls = opensCallsAt(detail);
    if (detail !== "thoughts") this.#before = detail;
    void this.tell(detail);
  }

  /** One level more or less; after the last comes the first. */
  stepDetail(by: 1 | -1): void {
    const next = LEVELS.at((LEVELS.indexOf(this.#reading.detail) + by) % LEVELS.length);
    if (next) this.choose(next);
  }

  /** Tell thoughts too, or no longer. What is folded stays as it is. */
  turnThoughts(): void {
    const areTold = this.#reading.detail === "thoughts" || this.#reading.detail === "everything";
    const before = this.#before === "everything" ? USUAL : this.#before;
    void this.tell(areTold ? before : "thoughts");
  }

  /** The address always means what is read, so that it can be sent and loaded anew. */
  keep(words: Record<string, string | null> = {}): void {
    if (this.#isEnded) return;
    const detail = this.#reading.detail === USUAL ? null : this.#reading.detail;
    keepAddress(this.meant, { detail, ...words });
  }

  /** Nobody reads here any more: what is still on its way must not change the address of another view. */
  end(): void {
    this.#isEnded = true;
    clearTimeout(this.#keeping);
  }

  #keepPlace(): void {
    const entry = this.#reading.story.at(this.current);
    if (entry?.entry !== "turn") return;
    this.meant = entry.number;
    this.keep();
  }
}
