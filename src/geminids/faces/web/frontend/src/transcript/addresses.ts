import { changed, go, withQuery } from "../lib/router";

/** The message that an address means, as `#12` or as `?at=12`; null if it means none. */
export function messageMeant(query: URLSearchParams, anchor: string): number | null {
  const written = query.get("at") ?? anchor;
  return /^[1-9]\d{0,6}$/.test(written) ? Number(written) : null;
}

/** Let the address say what is read: the message, and words of the query; null takes one away. */
export function keepAddress(message: number | null, words: Record<string, string | null> = {}): void {
  const query = changed({ ...words, at: null });
  const anchor = message === null ? "" : `#${message}`;
  go(withQuery(location.pathname, query) + anchor, { replace: true });
}
