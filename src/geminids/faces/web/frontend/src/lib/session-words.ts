/** What is said of a session in a list. */
import type { SessionLine, TurnEntry } from "./api-types";
import { counted, whole } from "./numbers";

/** What the user calls it, else its title. */
export function titleOf({ name, title }: { name?: string | null; title: string | null }): string {
  return name ?? title ?? "Without a title";
}

export function lastAt(session: SessionLine): string | null {
  return session.ended_at ?? session.started_at;
}

/** Whether something was written to it so lately, in the last so many seconds, that it seems to be running still. */
export function seemsRunning(session: SessionLine, now: Date, seconds: number): boolean {
  const last = lastAt(session);
  return session.is_running && last !== null && now.getTime() - new Date(last).getTime() < seconds * 1000;
}

type State = TurnEntry["state"];
const KINDS: Partial<Record<string, string>> = {
  subagent: "Subagent",
  checkpoint: "Checkpoint",
  copy: "Copy",
  lost: "Lost",
};

const FATES: Partial<Record<State, string>> = {
  rewound: "undone",
  superseded: "replaced",
  unrecorded: "not in its file",
};

/** What became of a message. */
export function fateOf(state: State): string {
  return FATES[state] ?? state;
}

/** What is in an outline, and what is left out of it: "4 prompts, 1 command, 1 undone". */
export function promptsOf(kinds: Readonly<Record<string, number>>): string {
  const { prompt = 0, command, ...others } = kinds;
  const rest = Object.entries(others).map(([kind, number]) => `${whole(number)} ${fateOf(kind as State)}`);
  return [counted(prompt, "prompt"), ...(command ? [counted(command, "command")] : []), ...rest].join(", ");
}

/** What it is, if it is no ordinary session. */
export function kindOf(session: SessionLine): string | null {
  return KINDS[session.kind] ?? null;
}

export function countsOf(session: SessionLine): string {
  const { prompts, tool_calls: calls } = session.counts;
  return [...(prompts || !calls ? [counted(prompts, "prompt")] : []), ...(calls ? [counted(calls, "call")] : [])].join(" · ");
}
