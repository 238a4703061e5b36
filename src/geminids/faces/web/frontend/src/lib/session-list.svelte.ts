/** The sessions of a question, page by page. What is shown stays while there is news. */
import { ask, type Asked, type Fault } from "./api";
import type { SessionLine, Sessions } from "./api-types";

export type SessionQuestion = Asked<"/api/sessions">;

const PAGE = 100;
const LARGEST_PAGE = 200;

export class SessionList {
  sessions = $state.raw<SessionLine[]>([]);
  /** The last page: totals, and what the question leaves out. */
  page = $state.raw<Sessions | null>(null);
  fault = $state.raw<Fault | null>(null);
  isLoading = $state(true);

  #question: SessionQuestion = {};
  #giveUp = new AbortController();
  #isBusy = false;

  /** Begin with another question. */
  async ask(question: SessionQuestion): Promise<void> {
    this.#question = question;
    await this.#begin(PAGE, () => []);
  }

  /** Ask the same again: what was added below the first page stays. */
  async refresh(): Promise<void> {
    const limit = Math.min(LARGEST_PAGE, Math.max(PAGE, this.sessions.length));
    const before = this.page;
    const rest = this.sessions.slice(limit);
    await this.#begin(limit, (fresh) => {
      const known = new Set(fresh.map((one) => one.id));
      return rest.filter((one) => !known.has(one.id));
    });
    if (rest.length && before && this.page) this.page = { ...this.page, next: before.next };
  }

  /** One more page, if there is one. */
  async more(): Promise<void> {
    const after = this.page?.next;
    if (!after || this.#isBusy) return;
    this.#isBusy = true;
    const result = await ask("/api/sessions", { ...this.#question, limit: PAGE, after }, this.#giveUp.signal);
    this.#isBusy = false;
    if (!result.ok) {
      if (!result.fault.isAborted) this.fault = result.fault;
      return;
    }
    const known = new Set(this.sessions.map((one) => one.id));
    this.sessions = [...this.sessions, ...result.value.sessions.filter((one) => !known.has(one.id))];
    this.page = result.value;
  }

  async #begin(limit: number, rest: (fresh: SessionLine[]) => SessionLine[]): Promise<void> {
    this.#giveUp.abort();
    this.#giveUp = new AbortController();
    this.#isBusy = false;
    this.isLoading = true;
    const result = await ask("/api/sessions", { ...this.#question, limit }, this.#giveUp.signal);
    if (!result.ok && result.fault.isAborted) return;
    this.isLoading = false;
    this.fault = result.ok ? null : result.fault;
    if (!result.ok) return;
    this.sessions = [...result.value.sessions, ...rest(result.value.sessions)];
    this.page = result.value;
  }
}
