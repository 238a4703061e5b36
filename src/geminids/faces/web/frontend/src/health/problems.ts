/** Kinds of problems: what they are called, and what to do about them. */
export interface ProblemWords {
  /** One of them, and several. */
  one: string;
  many: string;
  advice: string;
}

const WORDS: Record<string, ProblemWords> = {
  "bad-json": {
    one: "damaged record",
    many: "damaged records",
    advice: "Most often the agent was stopped while it wrote. Everything else was read; nothing needs to be done.",
  },
  "bad-text": { one: "place with damaged letters", many: "places with damaged letters", advice: "Some letters could not be read and are shown as �. The rest is unchanged." },
  empty: { one: "empty file", many: "empty files", advice: "It is empty. You can delete it." },
  "left-unread": { one: "too large", many: "too large", advice: "Only its beginning and end are looked at here." },
  "no-header": { one: "without a header", many: "without a header", advice: "The file does not say whose session it is; its name was used instead. Nothing needs to be done." },
  "not-a-session": { one: "no session", many: "no sessions", advice: "It is in a folder of sessions but is not a session. It is ignored." },
  unreadable: { one: "not allowed", many: "not allowed", advice: "The system refuses to open it. Allow your user to read it, then refresh." },
  "wrong-type": { one: "unexpected value", many: "unexpected values", advice: "A field holds another kind of value than it should. Everything else was read." },
};

export function wordsOf(kind: string): ProblemWords {
  return WORDS[kind] ?? { one: kind, many: kind, advice: "" };
}
