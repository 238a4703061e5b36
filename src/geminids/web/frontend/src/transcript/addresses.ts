import { sessionAddress } from "../lib/router";

/** The address of a message: to be kept, or sent to oneself. */
export function messageAddress(session: string, number: number): string {
  return `${sessionAddress(session)}?at=${number}`;
}

/** The message that an address means; null if it means none. */
export function messageMeant(query: URLSearchParams, anchor: string): number | null {
  const written = query.get("at") ?? anchor;
  return /^[1-9]\d{0,6}$/.test(written) ? Number(written) : null;
}
