/** A question that a view asks again whenever what it asks changes; the last answer stays until there is a new one. */
import { untrack } from "svelte";

import { addressOf, ask, type Answer, type Asked, type Fault, type Path } from "./api";

export interface Asking<T> {
  readonly value: T | null;
  readonly fault: Fault | null;
  readonly isLoading: boolean;
  again(): void;
}

const MOST_REMEMBERED = 24;
/** The last answers, as they came: a view that is seen again shows them at once, and asks anew. */
const remembered = new Map<string, string>();

/** Must be called while a component is made. `asked` gives null while there is nothing to ask. */
export function asking<P extends Path>(path: P, asked: () => Asked<P> | null): Asking<Answer<P>> {
  let shown = "";
  let value = $state.raw<Answer<P> | null>(untrack(() => known(asked())));
  let fault = $state.raw<Fault | null>(null);
  let isLoading = $state(true);
  let round = $state(0);

  function known(question: Asked<P> | null): Answer<P> | null {
    const written = question && remembered.get(addressOf(path, question));
    if (!written) return null;
    shown = written;
    return JSON.parse(written) as Answer<P>;
  }

  $effect(() => {
    void round;
    const question = asked();
    if (question === null) {
      isLoading = false;
      return;
    }
    const giveUp = new AbortController();
    isLoading = true;
    void ask(path, question, giveUp.signal).then((result) => {
      if (!result.ok && result.fault.isAborted) return;
      isLoading = false;
      fault = result.ok ? null : result.fault;
      if (!result.ok) return;
      const written = JSON.stringify(result.value);
      remember(addressOf(path, question), written);
      // What has not changed is not drawn anew: answers are asked again whenever an agent writes.
      if (written !== shown) {
        shown = written;
        value = result.value;
      }
    });
    return () => giveUp.abort();
  });

  return {
    get value() {
      return value;
    },
    get fault() {
      return fault;
    },
    get isLoading() {
      return isLoading;
    },
    again: () => {
      round += 1;
    },
  };
}

function remember(address: string, written: string): void {
  remembered.delete(address);
  remembered.set(address, written);
  const [oldest] = remembered.keys();
  if (remembered.size > MOST_REMEMBERED && oldest !== undefined) remembered.delete(oldest);
}
