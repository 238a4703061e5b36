/** A piece of JSON as it is shown: its letters, and what they are. */
export interface JsonWord {
  text: string;
  kind: "name" | "text" | "number" | "word" | "sign";
}

const WORDS = /("(?:\\.|[^"\\])*")(\s*:)?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\b(?:true|false|null)\b/g;

/** JSON in words, so that each kind can have its colour. */
export function jsonWords(json: string): JsonWord[] {
  const words: JsonWord[] = [];
  let told = 0;
  const sign = (end: number) => {
    if (end > told) words.push({ text: json.slice(told, end), kind: "sign" });
  };
  for (const match of json.matchAll(WORDS)) {
    sign(match.index);
    const [whole, text, colon] = match;
    words.push({ text: text ?? whole, kind: kindOf(whole, text, colon) });
    told = match.index + (text ?? whole).length;
  }
  sign(json.length);
  return words;
}

function kindOf(whole: string, text: string | undefined, colon: string | undefined): JsonWord["kind"] {
  if (text !== undefined) return colon === undefined ? "text" : "name";
  return /^[tfn]/.test(whole) ? "word" : "number";
}
