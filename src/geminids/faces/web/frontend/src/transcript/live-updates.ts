/** A session while its agent writes it. */
import { tick } from "svelte";

import { onLive } from "../lib/live";
import type { Moving } from "./moving.svelte";
import type { Reading } from "./reading.svelte";

/** Milliseconds in which what an agent writes is gathered. */
const GATHERED = 250;

/** Read whatever is added. Whoever is at the end stays there; all others are told how much is new. Gives what ends it. */
export function followAgent(reading: Reading, moving: Moving): () => void {
  let gathering: ReturnType<typeof setTimeout> | undefined;
  const end = onLive((event) => {
    if (event.event !== "reset" && event.session_id !== reading.id) return;
    // What is gone cannot be read anew; what was read stays on the page.
    reading.isGone = event.event === "gone";
    clearTimeout(gathering);
    if (!reading.isGone) gathering = setTimeout(() => void renew(reading, moving), GATHERED);
  });
  return () => {
    end();
    clearTimeout(gathering);
  };
}

async function renew(reading: Reading, moving: Moving): Promise<void> {
  const wasAtEnd = moving.isAtEnd;
  const more = await reading.renew();
  await tick();
  if (wasAtEnd) await moving.showEnd();
  else reading.news += more;
}
