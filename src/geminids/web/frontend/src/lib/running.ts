/** Sessions in which something was written a moment ago, as the server tells it. */
import { readable, type Readable } from "svelte/store";

import { onLive } from "./live";

const MOMENT = 60_000;

export const running: Readable<ReadonlySet<string>> = readable(new Set<string>(), (set) => {
  const until = new Map<string, ReturnType<typeof setTimeout>>();
  const tell = () => set(new Set(until.keys()));
  const stop = onLive((event) => {
    const id = event.session_id;
    if (event.event !== "news" || !id) return;
    clearTimeout(until.get(id));
    until.set(
      id,
      setTimeout(() => {
        until.delete(id);
        tell();
      }, MOMENT),
    );
    tell();
  });
  return () => {
    stop();
    until.forEach((timer) => clearTimeout(timer));
  };
});
