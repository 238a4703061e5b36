/** What was found, page by page. What is shown stays while there is news. */
import { ask, type Fault } from "../lib/api";
import type { Search, SearchSession, Unsearched } from "../lib/api-types";
import type { SearchQuestion } from "./question";

export interface FoundHit {
  key: string;
  session: string;
  number: number;
}

export class SearchList {
  sessions = $state.raw<SearchSession[]>([]);
  /** The first page: totals, and what the question leaves out. */
  page = $state.raw<Search | null>(null);
  /** Messages in which a regular expression took too long, on all pages so far. */
  unsearched = $state.raw<Unsearched[]>([]);
  /** Sessions that may hold more and were not read yet. */
  left = $state(0);
  fault = $state.raw<Fault | null>(null);
  isLoading = $state(false);

  #question: SearchQuestion | null = null;
  #next: string | null = null;
  #giveUp = new AbortController();
  #isBusy = false;

  /** Made anew each time: a derived value would end with the view that made the list, and the list outlives it. */
  get hits(): FoundHit[] {
    return this.sessions.flatMap(hitsOf);
  }

  /** Begin with a question; null forgets what was found. */
  async ask(question: SearchQuestion | null): Promise<void> {
    this.#giveUp.abort();
    this.#giveUp = new AbortController();
    this.#question = question;
    this.#isBusy = false;
    this.isLoading = question !== null;
    if (!question) {
      this.#show(null);
      return;
    }
    const result = await ask("/api/search", question, this.#giveUp.signal);
    if (!result.ok && result.fault.isAborted) return;
    this.isLoading = false;
    if (result.ok) this.#show(result.value);
    else this.fault = result.fault;
  }

  /** Ask the same again, unless more than a page is shown: what is being read must not go away. */
  async refresh(): Promise<void> {
    if (this.#question && this.#isFirstPage()) await this.ask(this.#question);
  }

  /** One more page, if there is one. */
  async more(): Promise<void> {
    if (!this.#question || !this.#next || this.#isBusy || this.isLoading) return;
    this.#isBusy = true;
    const result = await ask("/api/search", { ...this.#question, after: this.#next }, this.#giveUp.signal);
    if (!result.ok && result.fault.isAborted) return;
    this.#isBusy = false;
    this.fault = result.ok ? null : result.fault;
    if (!result.ok) return;
    const known = new Set(this.sessions.map((one) => one.session.id));
    this.sessions = [...this.sessions, ...result.value.sessions.filter((one) => !known.has(one.session.id))];
    this.#next = result.value.next;
    this.unsearched = [...this.unsearched, ...result.value.unsearched];
    this.left = result.value.left;
  }

  #show(page: Search | null): void {
    this.fault = null;
    this.page = page;
    this.sessions = page?.sessions ?? [];
    this.#next = page?.next ?? null;
    this.unsearched = page?.unsearched ?? [];
    this.left = page?.left ?? 0;
  }

  #isFirstPage(): boolean {
    return this.sessions.length <= (this.page?.sessions.length ?? 0);
  }
}

function hitsOf({ session, hits }: SearchSession): FoundHit[] {
  return hits.map((hit) => ({ key: `${session.id}#${hit.number}`, session: session.id, number: hit.number }));
}
