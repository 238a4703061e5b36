/** What the keys do in a session, for the sheet that tells them. */
export const TRANSCRIPT_KEYS: [string[], string][] = [
  [["j", "k"], "next, previous message"],
  [["J", "K"], "next, previous prompt"],
  [["g", "G"], "first, last message"],
  [["[", "]"], "previous, next session of the list"],
  [["f", "/"], "find in this session"],
  [["n", "N"], "next, previous hit"],
  [["o"], "outline of prompts"],
  [["d", "D"], "more, less detail"],
  [["t"], "thoughts"],
  [["x"], "fold or open this message"],
  [["e"], "fold or open all calls"],
  [["s"], "diffs side by side"],
  [["b"], "dropped branches"],
  [["y"], "copy a link to this message"],
  [["c", "C"], "copy as Markdown: this message, this turn"],
  [["r"], "the record as the agent wrote it"],
];
