/** The sessions of the list that was looked at last, in its order: whoever reads one may go to the next. */
let sessions: readonly string[] = [];

export function noteList(ids: readonly string[]): void {
  sessions = [...new Set(ids)];
}

/** The session before (-1) or after (1) this one in that list; null if there is none. */
export function neighbourOf(id: string, by: 1 | -1): string | null {
  const place = sessions.indexOf(id);
  return place < 0 ? null : (sessions[place + by] ?? null);
}
