/** Projects in the order that somebody wants. */
import type { ProjectLine } from "../lib/api-types";

export const ORDERS = ["last", "sessions", "tokens", "cost", "name"] as const;
export type Order = (typeof ORDERS)[number];
export const ORDER_NAMES: Record<Order, string> = { last: "Last used", sessions: "Sessions", tokens: "Tokens", cost: "Cost", name: "Name" };

const BY: Record<Order, (one: ProjectLine, other: ProjectLine) => number> = {
  last: (one, other) => (other.last ?? "").localeCompare(one.last ?? ""),
  sessions: (one, other) => other.sessions - one.sessions,
  // What nobody recorded comes last.
  tokens: (one, other) => (other.tokens.total ?? -1) - (one.tokens.total ?? -1),
  cost: (one, other) => (other.tokens.cost ?? -1) - (one.tokens.cost ?? -1),
  name: (one, other) => one.project.name.localeCompare(other.project.name),
};

export function orderMeant(written: string | null): Order {
  return ORDERS.find((one) => one === written) ?? "last";
}

/** The projects whose name or folder holds these letters. */
export function listed(projects: readonly ProjectLine[], order: Order, named: string): ProjectLine[] {
  const wanted = named.trim().toLowerCase();
  return projects.filter(({ project }) => `${project.name}\n${project.path ?? ""}`.toLowerCase().includes(wanted)).toSorted(BY[order]);
}
