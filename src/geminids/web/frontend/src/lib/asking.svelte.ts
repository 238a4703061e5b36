/** A question that a view asks again whenever what it asks changes; the last answer stays until there is a new one. */
import { ask, type Answer, type Asked, type Fault, type Path } from "./api";

export interface Asking<T> {
  readonly value: T | null;
  readonly fault: Fault | null;
  readonly isLoading: boolean;
  again(): void;
}

/** Must be called while a component is made. `asked` gives null while there is nothing to ask. */
export function asking<P extends Path>(path: P, asked: () => Asked<P> | null): Asking<Answer<P>> {
  let value = $state.raw<Answer<P> | null>(null);
  let fault = $state.raw<Fault | null>(null);
  let isLoading = $state(true);
  let round = $state(0);
  let shown = "";

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
      // What has not changed is not drawn anew: answers are asked again whenever an agent writes.
      const written = JSON.stringify(result.value);
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
