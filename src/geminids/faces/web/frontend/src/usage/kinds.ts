/** Kinds of tokens, in the order in which they are stacked; together they are all tokens. */
import type { UsedTokens } from "../lib/api-types";

export type Kind = "fresh" | "cached" | "cache_write" | "output" | "thoughts" | "tool";

export interface KindName {
  kind: Kind;
  name: string;
  /** The colour, as tokens.css names it. */
  ink: string;
}

const ALL: readonly KindName[] = [
  { kind: "fresh", name: "New input", ink: "--kind-fresh" },
  { kind: "cached", name: "Cached input", ink: "--kind-cached" },
  { kind: "cache_write", name: "Cache writes", ink: "--kind-cache-write" },
  { kind: "output", name: "Output", ink: "--kind-output" },
  { kind: "thoughts", name: "Thoughts", ink: "--kind-thoughts" },
  { kind: "tool", name: "From tools", ink: "--kind-tool" },
];

/** Those that were used at all. */
export function kindsIn(total: UsedTokens): KindName[] {
  return ALL.filter(({ kind }) => total[kind]);
}
