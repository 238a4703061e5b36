/** Sessions in which something was written a moment ago, as the server tells it. */
import { derived, readable, type Readable } from "svelte/store";

import { about } from "./about";
import type { SessionLine } from "./api-types";
import { onLive } from "./live";
import { now } from "./now";
import { seemsRunning } from "./session-words";

const MOMENT = 60_000;

const running: Readable<ReadonlySet<string>> = readable(new Set<string>(), (set) => {
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

/** Whether an agent seems to be at work in a session. */
export const isRunning = derived(
  [running, now, about],
  ([writtenTo, time, known]) =>
    (session: SessionLine) =>
      seemsRunning(session, time, known?.running_seconds ?? 0) || writtenTo.has(session.id),
);
