import { ask, askForWords, type Answer, type Asked, type Fault, type Path } from "../lib/api";

/** There was no answer, and why. */
export class Refused extends Error {
  readonly fault: Fault;

  constructor(fault: Fault) {
    super(fault.sentence);
    this.fault = fault;
  }
}

/** The answer to a question. Throws Refused if there is none. */
export async function answerTo<P extends Path>(path: P, asked: Asked<P>): Promise<Answer<P>> {
  const result = await ask(path, asked);
  if (result.ok) return result.value;
  throw new Refused(result.fault);
}

/** The answer where it is plain words. Throws Refused if there are none. */
export async function wordsOf<P extends Path>(path: P, asked: Asked<P>): Promise<string> {
  const result = await askForWords(path, asked);
  if (result.ok) return result.value;
  throw new Refused(result.fault);
}

/** What to tell a person about something that went wrong. */
export function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
