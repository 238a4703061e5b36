/** Whether this page asks for answers without secrets. The server may hide them in any case. */
import { choose, chosen } from "./choices";

export const hidesSecrets = chosen("secrets") === "hidden";

/** The page begins anew, so that nothing of what was shown before is left in it. */
export function hideSecrets(isWanted: boolean): void {
  choose("secrets", isWanted ? "hidden" : null);
  location.reload();
}
