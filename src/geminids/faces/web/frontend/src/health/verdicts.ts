/** How things stand, in a sentence each: the worst first. */
import type { Forecast, Health } from "../lib/api-types";
import { counted } from "../lib/numbers";
import { ago } from "../lib/time";

export type Tone = "good" | "warn" | "bad";

export interface Verdict {
  tone: Tone;
  sentence: string;
  /** Where more of it stands on the page. */
  anchor: string;
}

const WORST_FIRST: readonly Tone[] = ["bad", "warn", "good"];

export function verdictsOf(health: Health, forecast: Forecast | null, now: Date, isSample: boolean): Verdict[] {
  const told = [ofReading(health), ofCopies(health, isSample), ...(forecast ? [ofDeletions(forecast)] : []), ofIndex(health, now)];
  return told.toSorted((one, other) => WORST_FIRST.indexOf(one.tone) - WORST_FIRST.indexOf(other.tone));
}

function ofReading({ problem_total: problems, problem_counts: counts }: Health): Verdict {
  const anchor = "problems";
  if (!problems) return { tone: "good", sentence: "Everything could be read.", anchor };
  const refused = counts["unreadable"] ?? 0;
  if (refused) return { tone: "bad", sentence: `${counted(refused, "file or folder", "files or folders")} may not be read.`, anchor };
  return { tone: "warn", sentence: `${counted(problems, "problem")} in files; what is around them could be read.`, anchor };
}

function ofCopies({ kept }: Health, isSample: boolean): Verdict {
  const anchor = "kept";
  if (isSample) return { tone: "good", sentence: "The sample comes with geminids and needs no copies.", anchor };
  if (!kept.is_on) return { tone: "bad", sentence: "No copies are kept: what an agent deletes is gone.", anchor };
  if (kept.troubles.length) return { tone: "warn", sentence: "Not everything could be copied.", anchor };
  return { tone: "good", sentence: `Copies of ${counted(kept.files, "file")} are kept.`, anchor };
}

function ofDeletions({ within_a_week: soon, not_kept: lost }: Forecast): Verdict {
  const anchor = "deletions";
  if (!soon) return { tone: "good", sentence: "Nothing will be deleted within a week.", anchor };
  const sentence = `${counted(soon, "session")} will be deleted within a week`;
  if (lost) return { tone: "bad", sentence: `${sentence}, ${lost === soon ? "without a copy" : `${lost} of them without a copy`}.`, anchor };
  return { tone: "good", sentence: `${sentence}; copies of all of them are kept.`, anchor };
}

function ofIndex({ syncing }: Health, now: Date): Verdict {
  const anchor = "index";
  if (syncing.is_running) return { tone: "good", sentence: "New files are being read.", anchor };
  if (!syncing.at) return { tone: "warn", sentence: "The index is used as it is; new sessions are not read.", anchor };
  return { tone: "good", sentence: `The index is up to date (${ago(syncing.at, now)}).`, anchor };
}
