/** What agents write, as it happens. One line to the server for all pages of a browser. */
import { readable, writable, type Readable } from "svelte/store";

import type { LiveEvent } from "./api-types";
import { hidesSecrets } from "./redaction";

const NAMES = ["news", "gone", "synced", "trouble", "reset"] as const;
/** Pages for which secrets are hidden hear other words than those that see all. */
const SHARED = hidesSecrets ? "geminids-live-hidden" : "geminids-live";
const RESET: LiveEvent = {
  event: "reset",
  session_id: null,
  parent_id: null,
  agent: null,
  added: 0,
  changed: 0,
  dropped: 0,
  detail: null,
};
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

/** Begin to listen, and to tell the other pages or to hear from them. Gives what ends it. */
export function startLive(): () => void {
  let leave = join(false);
  const away = () => leave();
  const back = (event: PageTransitionEvent) => {
    // A page that the browser had put aside has missed whatever happened.
    if (event.persisted) leave = join(true);
  };
  window.addEventListener("pagehide", away);
  window.addEventListener("pageshow", back);
  return () => {
    window.removeEventListener("pagehide", away);
    window.removeEventListener("pageshow", back);
    leave();
  };
}

/** What pages tell each other. */
type Told = { event: LiveEvent } | { isOpen: boolean } | "is anybody there?";

/**
 * Take part among all pages of this server. One of them has the line and tells the others: a browser opens only
 * six to one server, and a few more tabs would leave none for questions.
 */
function join(hasMissed: boolean): () => void {
  const channel = new BroadcastChannel(SHARED);
  const leaving = new AbortController();
  channel.addEventListener("message", ({ data }: MessageEvent<Told>) => {
    if (data !== "is anybody there?") hear(data);
  });
  if (hasMissed) hear({ event: RESET });
  void navigator.locks.request(SHARED, { ifAvailable: true }, async (lock) => {
    if (leaving.signal.aborted) return;
    if (lock) return lead(channel, leaving.signal, false);
    channel.postMessage("is anybody there?" satisfies Told);
    // Whoever had the line is gone when it is our turn, and something may have happened since.
    const turn = navigator.locks.request(SHARED, { signal: leaving.signal }, () => lead(channel, leaving.signal, true));
    turn.catch(() => undefined);
  });
  return () => {
    leaving.abort();
    channel.close();
  };
}

/** Have the line until we leave; the browser comes back by itself when it breaks. */
function lead(channel: BroadcastChannel, leaving: AbortSignal, hasMissed: boolean): Promise<void> {
  const source = new EventSource(hidesSecrets ? "/api/events?redact=true" : "/api/events");
  const tell = (told: Exclude<Told, string>) => {
    hear(told);
    channel.postMessage(told);
  };
  source.addEventListener("open", () => tell({ isOpen: true }));
  source.addEventListener("error", () => tell({ isOpen: false }));
  if (hasMissed) source.addEventListener("open", () => tell({ event: RESET }), { once: true });
  for (const name of NAMES) {
    source.addEventListener(name, (message) => tell({ event: JSON.parse(String(message.data)) as LiveEvent }));
  }
  channel.addEventListener("message", ({ data }: MessageEvent<Told>) => {
    if (data === "is anybody there?") channel.postMessage({ isOpen: source.readyState === source.OPEN } satisfies Told);
  });
  return new Promise((resolve) => {
    leaving.addEventListener("abort", () => {
      source.close();
      resolve();
    });
  });
}

function hear(told: Exclude<Told, string>): void {
  if ("isOpen" in told) connected.set(told.isOpen);
  else listeners.forEach((listener) => listener(told.event));
}
