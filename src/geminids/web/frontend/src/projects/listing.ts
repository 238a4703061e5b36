/** Projects with what they used, in the order that somebody wants. */
import type { ProjectLine, UsageGroup } from "../lib/api-types";
import { projectKey } from "../lib/router";

export interface Worked {
  key: string;
  line: ProjectLine;
  /** Null where nobody recorded them. */
  tokens: number | null;
  cost: number | null;
}

export const ORDERS = ["last", "sessions", "tokens", "cost", "name"] as const;
export type Order = (typeof ORDERS)[number];
export const ORDER_NAMES: Record<Order, string> = { last: "Last used", sessions: "Sessions", tokens: "Tokens", cost: "Cost", name: "Name" };

const BY: Record<Order, (one: Worked, other: Worked) => number> = {
  last: (one, other) => (other.line.last ?? "").localeCompare(one.line.last ?? ""),
  sessions: (one, other) => other.line.sessions - one.line.sessions,
  tokens: (one, other) => (other.tokens ?? -1) - (one.tokens ?? -1),
  cost: (one, other) => (other.cost ?? -1) - (one.cost ?? -1),
  name: (one, other) => one.line.project.name.localeCompare(other.line.project.name),
};

export function orderMeant(written: string | null): Order {
  return ORDERS.find((one) => one === written) ?? "last";
}

/** The projects whose name or folder holds these letters. */
export function listed(lines: readonly ProjectLine[], used: readonly UsageGroup[], order: Order, named: string): Worked[] {
  const byKey = new Map(used.map((group) => [group.key, group.tokens]));
  const wanted = named.trim().toLowerCase();
  return lines
    .filter(({ project }) => `${project.name}\n${project.path ?? ""}`.toLowerCase().includes(wanted))
    .map((line) => {
      const key = projectKey(line.project);
      const tokens = byKey.get(key);
      return { key, line, tokens: tokens?.total ?? null, cost: tokens?.cost ?? null };
    })
    .toSorted(BY[order]);
}
