/** What the server says of itself; asked once, and again when it starts anew. */
import { derived, writable } from "svelte/store";

import { ask, type Fault } from "./api";
import type { About } from "./api-types";

export const about = writable<About | null>(null);
export const aboutFault = writable<Fault | null>(null);

/** What people call an agent. */
export const agentTitle = derived(about, (known) => (agent: string) => known?.agents[agent] ?? agent);

export async function learnAbout(): Promise<void> {
  const result = await ask("/api/about", {});
  if (result.ok) about.set(result.value);
  aboutFault.set(result.ok ? null : result.fault);
}
