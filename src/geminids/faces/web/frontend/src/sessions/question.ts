/** What the list shows, as the address has it. */
import type { SessionLine } from "../lib/api-types";
import { lastAt } from "../lib/session-words";
import type { SessionQuestion } from "../lib/session-list.svelte";
import { timeGroup } from "../lib/time";

export type Grouping = "time" | "project" | "none";

const KINDS = ["main", "subagent", "checkpoint", "copy", "lost"] as const;
/** Besides the order that comes by itself: the newest first, or the best where words are looked for. */
export const ORDERS = [
  { key: "newest", name: "Newest first" },
  { key: "oldest", name: "Oldest first" },
  { key: "started", name: "Last started first" },
  { key: "messages", name: "Most messages first" },
  { key: "title", name: "By title" },
] as const;

export interface Heading {
  type: "heading";
  key: string;
  text: string;
}

export interface Row {
  type: "session";
  key: string;
  session: SessionLine;
}

export type Line = Heading | Row;

export function questionOf(query: URLSearchParams): SessionQuestion {
  return {
    q: query.get("q") ?? "",
    project: query.get("project") ?? undefined,
    agent: query.getAll("agent"),
    since: query.get("since") ?? undefined,
    until: query.get("until") ?? undefined,
    kind: KINDS.filter((kind) => query.getAll("kind").includes(kind)),
    tag: query.getAll("tag"),
    kept: query.get("kept") === "true",
    ...orderOf(query),
  };
}

function orderOf(query: URLSearchParams): Pick<SessionQuestion, "order" | "reverse"> {
  if (groupingOf(query) === "project") return { order: "project" };
  const order = ORDERS.find(({ key }) => key === query.get("order"))?.key;
  if (order === "newest") return { order: "date" };
  return order === "oldest" ? { order: "date", reverse: true } : { order };
}

const BY_TIME: readonly (string | null)[] = [null, "newest", "oldest"];

export function groupingOf(query: URLSearchParams): Grouping {
  const said = query.get("group");
  if (said === "project") return "project";
  return said === "none" || !BY_TIME.includes(query.get("order")) ? "none" : "time";
}

/** Sessions under their headings. Where they do not come in order, the best first, there are none. */
export function linesOf(sessions: readonly SessionLine[], grouping: Grouping): Line[] {
  const heading = headingOf(grouping, sessions);
  const lines: Line[] = [];
  let last: string | null = null;
  for (const session of sessions) {
    const text: string | null = heading?.(session) ?? null;
    if (text !== null && text !== last) lines.push({ type: "heading", key: `# ${text} ${lines.length}`, text });
    last = text;
    lines.push({ type: "session", key: session.id, session });
  }
  return lines;
}

function headingOf(grouping: Grouping, sessions: readonly SessionLine[]): ((session: SessionLine) => string) | null {
  if (grouping === "none") return null;
  const now = new Date();
  const heading = grouping === "project" ? projectOf : (session: SessionLine) => timeGroup(lastAt(session), now);
  return standTogether(sessions.map(heading)) ? heading : null;
}

function projectOf(session: SessionLine): string {
  return session.project.path ?? session.project.name;
}

function standTogether(names: readonly string[]): boolean {
  const beginnings = names.filter((name, place) => name !== names[place - 1]);
  return beginnings.length === new Set(beginnings).size;
}
