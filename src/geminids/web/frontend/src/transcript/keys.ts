/** What the keys do in a session, for the sheet that tells them. */
export const TRANSCRIPT_KEYS: [string[], string][] = [
  [["j", "k"], "next, previous message"],
  [["J", "K"], "next, previous prompt"],
  [["g", "G"], "first, last message"],
  [["o"], "fold or unfold this message"],
  [["O"], "fold or unfold all calls"],
  [["t"], "show or hide thoughts"],
  [["s"], "diffs side by side, or one below the other"],
  [["/"], "find in this session"],
  [["n", "N"], "next, previous hit"],
  [["c"], "copy this message as Markdown"],
  [["r"], "its record as the agent wrote it"],
  [["i"], "show or hide the outline"],
];
