/** What agents write, as it happens. One line to the server for the whole page. */
import { readable, writable, type Readable } from "svelte/store";

import type { LiveEvent } from "./api-types";

const NAMES = ["news", "gone", "synced", "trouble", "reset"] as const;
const listeners = new Set<(event: LiveEvent) => void>();
const connected = writable(false);

/** Whether the server tells us what happens. */
export const isLive: Readable<boolean> = { subscribe: connected.subscribe };

/** Whether it ever did: a line that is lost is told, one that is not there yet is not. */
export const wasLive: Readable<boolean> = readable(false, (set) => connected.subscribe((is) => is && set(true)));

/** Hear what happens. Gives what ends it. */
export function onLive(listener: (event: LiveEvent) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Grows whenever the index has taken something in: what is drawn from it is to be asked again. */
export const freshness: Readable<number> = readable(0, (_, update) =>
  onLive((event) => {
    if (event.event === "synced" || event.event === "reset") update((number) => number + 1);
  }),
);

/** Begin to listen; the browser comes back by itself when the line breaks. Gives what ends it. */
export function startLive(): () => void {
  const source = new EventSource("/api/events");
  source.addEventListener("open", () => connected.set(true));
  source.addEventListener("error", () => connected.set(false));
  for (const name of NAMES) {
    source.addEventListener(name, (message) => {
      const event = JSON.parse(String(message.data)) as LiveEvent;
      listeners.forEach((listener) => listener(event));
    });
  }
  // A page that goes away lets the line go at once: a browser opens only a few to one server.
  const close = () => source.close();
  window.addEventListener("pagehide", close);
  return () => {
    window.removeEventListener("pagehide", close);
    close();
  };
}
