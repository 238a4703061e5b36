/** The time of a session on a line on which pauses take hardly any room. */
import type { TimelineCall, TimelineTurn } from "../lib/api-types";

/** Seconds: a longer pause between two turns is folded. */
const PAUSE = 15;
/** Of the line, in per cent, and of all folds together. */
const FOLD = 2.5;
const MOST_FOLDS = 40;
const MOST_LANES = 4;

/** From left, in per cent. */
export interface Bar {
  left: number;
  width: number;
}

export interface CallBar extends Bar {
  call: TimelineCall;
  /** Calls at the same time stand below each other. */
  lane: number;
  seconds: number | null;
}

export interface TurnBar extends Bar {
  turn: TimelineTurn;
  seconds: number;
  calls: CallBar[];
  lanes: number;
}

export interface Fold extends Bar {
  seconds: number;
}

export interface Folded {
  /** null for a turn without a time. */
  bars: (TurnBar | null)[];
  folds: Fold[];
  /** Seconds of work that the line tells. */
  seconds: number;
}

interface Span {
  begin: number;
  end: number;
}

export function folded(turns: readonly TimelineTurn[]): Folded {
  const spans = turns.map(spanOf);
  const busy = merged(spans.filter((span) => span !== null));
  const line = new Line(busy);
  return {
    bars: turns.map((turn, place) => barOf(turn, spans[place] ?? null, line)),
    folds: line.folds,
    seconds: line.seconds,
  };
}

/** Stretches of work, in seconds, with shorter pauses in them. */
function merged(spans: readonly Span[]): Span[] {
  const all: Span[] = [];
  for (const span of spans.toSorted((one, other) => one.begin - other.begin)) {
    const last = all.at(-1);
    if (last && span.begin - last.end <= PAUSE) last.end = Math.max(last.end, span.end);
    else all.push({ ...span });
  }
  return all;
}

class Line {
  readonly folds: Fold[] = [];
  readonly seconds: number;
  readonly #busy: readonly Span[];
  readonly #starts: number[] = [];
  readonly #scale: number;

  constructor(busy: readonly Span[]) {
    this.#busy = busy;
    this.seconds = busy.reduce((sum, span) => sum + span.end - span.begin, 0);
    const fold = busy.length > 1 ? Math.min(FOLD, MOST_FOLDS / (busy.length - 1)) : 0;
    this.#scale = (100 - fold * Math.max(0, busy.length - 1)) / Math.max(this.seconds, 1e-3);
    let left = 0;
    busy.forEach((span, place) => {
      this.#starts.push(left);
      left += (span.end - span.begin) * this.#scale;
      const next = busy[place + 1];
      if (!next) return;
      this.folds.push({ left, width: fold, seconds: next.begin - span.end });
      left += fold;
    });
  }

  /** Where a moment is, in per cent. */
  at(moment: number): number {
    const place = Math.max(0, this.#busy.findLastIndex((span) => span.begin <= moment));
    const span = this.#busy[place];
    if (!span) return 0;
    const within = Math.min(Math.max(moment, span.begin), span.end) - span.begin;
    return (this.#starts[place] ?? 0) + within * this.#scale;
  }

  bar({ begin, end }: Span): Bar {
    const left = this.at(begin);
    return { left, width: Math.max(0, this.at(end) - left) };
  }
}

function barOf(turn: TimelineTurn, span: Span | null, line: Line): TurnBar | null {
  if (!span) return null;
  const calls: CallBar[] = [];
  const ends: number[] = [];
  for (const call of turn.calls) {
    const during = spanOf(call);
    if (!during) continue;
    const free = ends.findIndex((end) => end <= during.begin);
    const lane = free >= 0 ? free : Math.min(ends.length, MOST_LANES - 1);
    ends[lane] = during.end;
    calls.push({ ...line.bar(during), call, lane, seconds: call.end === null ? null : during.end - during.begin });
  }
  return { ...line.bar(span), turn, seconds: span.end - span.begin, calls, lanes: Math.max(1, ends.length) };
}

function spanOf({ start, end }: { start: string | null; end: string | null }): Span | null {
  if (start === null) return null;
  const begin = Date.parse(start) / 1000;
  return { begin, end: Math.max(begin, end === null ? begin : Date.parse(end) / 1000) };
}
