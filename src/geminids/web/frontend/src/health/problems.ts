/** Kinds of problems: what they are called, and what to do about them. */
export interface ProblemWords {
  name: string;
  advice: string;
}

const WORDS: Record<string, ProblemWords> = {
  "bad-json": {
    name: "damaged record",
    advice: "Most often the agent was stopped while it wrote. All around it is read; nothing needs to be done.",
  },
  "bad-text": { name: "damaged letters", advice: "Some letters could not be read and are shown as �. The rest is as it was." },
  empty: { name: "empty file", advice: "There is nothing in it. It may stay, or be deleted by hand." },
  "left-unread": { name: "too large", advice: "Only its beginning and end are looked at here." },
  "no-header": { name: "no header", advice: "The file does not say whose session it is; its name was used instead. Nothing needs to be done." },
  "not-a-session": { name: "no session", advice: "It lies where sessions lie, but is none. It is left alone." },
  unreadable: { name: "not allowed", advice: "The system refuses to open it. Allow your user to read it, then read what is new." },
  "wrong-type": { name: "unexpected value", advice: "A field holds another kind of value than it should. All around it is read." },
};

export function wordsOf(kind: string): ProblemWords {
  return WORDS[kind] ?? { name: kind, advice: "" };
}
