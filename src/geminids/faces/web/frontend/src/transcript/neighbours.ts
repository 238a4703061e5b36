/** From one session of a list to the next. */
import { ask } from "../lib/api";
import { neighbourOf, noteList } from "../lib/came-from";
import { go, sessionAddress, withQuery } from "../lib/router";
import type { Reading } from "./reading.svelte";

/** Newest sessions that are gone through where nobody came from a list. */
const NEWEST = 200;

/** Open the session after this one, or the one before, in the list that somebody came from. */
export async function openNeighbour(reading: Reading, by: 1 | -1): Promise<void> {
  let next = neighbourOf(reading.id, by);
  if (!next && !neighbourOf(reading.id, by === 1 ? -1 : 1)) {
    const newest = await ask("/api/sessions", { limit: NEWEST });
    if (newest.ok) noteList(newest.value.sessions.map((session) => session.id));
    next = neighbourOf(reading.id, by);
  }
  // In the same detail, so that one reads on as before.
  const query = new URLSearchParams(reading.detail === "conversation" ? "" : { detail: reading.detail });
  if (next) go(withQuery(sessionAddress(next), query));
  else reading.say(by === 1 ? "This is the last session of the list" : "This is the first session of the list");
}
