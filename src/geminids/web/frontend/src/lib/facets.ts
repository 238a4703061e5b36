/** Values of facets, each named once: two agents may know one folder by two names. */
import type { FacetValue } from "./api-types";

export function merged(values: readonly FacetValue[]): FacetValue[] {
  const byKey = new Map<string, FacetValue>();
  for (const value of values) {
    const known = byKey.get(value.key);
    byKey.set(value.key, known ? { ...known, sessions: known.sessions + value.sessions } : value);
  }
  return [...byKey.values()];
}
