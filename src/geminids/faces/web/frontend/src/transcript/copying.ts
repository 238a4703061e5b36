import { sessionAddress } from "../lib/router";
import { wordsOf } from "./answers";

/** Put words where they can be pasted from; false if the browser does not allow it, or they cannot be had. */
export async function copied(words: string | Promise<string>): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(await words);
    return true;
  } catch {
    return false;
  }
}

/** The link to a message, whole. */
export function linkTo(session: string, number: number): string {
  return location.origin + sessionAddress(session, number);
}

/** A message as Markdown, or the prompt before it with all that came of it. */
export function markdownOf(session: string, number: number, isWholeTurn = false): Promise<string> {
  return wordsOf("/api/session/markdown", { id: session, number, with_answers: isWholeTurn });
}

/** A whole session as Markdown. */
export function markdownOfSession(session: string, redact: boolean): Promise<string> {
  return wordsOf("/api/session/markdown", { id: session, redact });
}
