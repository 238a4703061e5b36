import { expect, test } from "vitest";

import type { TimelineCall, TimelineTurn } from "../src/lib/api-types";
import { folded } from "../src/usage/folding";

const BEGIN = Date.parse("2026-11-06T10:00:00Z");
const at = (seconds: number | null) => (seconds === null ? null : new Date(BEGIN + seconds * 1000).toISOString());

function call(start: number | null, end: number | null): TimelineCall {
  return { start: at(start), end: at(end), call_id: "", name: "shell", kind: "execute", is_error: false } as unknown as TimelineCall;
}

function turn(start: number | null, end: number | null, ...calls: TimelineCall[]): TimelineTurn {
  return { start: at(start), end: at(end), calls } as unknown as TimelineTurn;
}

test("nothing fills no line", () => {
  expect(folded([])).toEqual({ bars: [], folds: [], seconds: 0 });
  expect(folded([turn(null, null)])).toEqual({ bars: [null], folds: [], seconds: 0 });
});

test("turns without a pause fill the line as their time does", () => {
  const { bars, folds, seconds } = folded([turn(0, 30), turn(30, 40)]);
  expect(seconds).toBe(40);
  expect(folds).toEqual([]);
  expect(bars.map((bar) => [bar?.left, bar?.width])).toEqual([
    [0, 75],
    [75, 25],
  ]);
});

test("a long pause is folded, a short one is not", () => {
  const short = folded([turn(0, 10), turn(25, 35)]);
  expect(short.folds).toEqual([]);
  expect(short.seconds).toBe(35);
  const long = folded([turn(0, 10), turn(26, 36)]);
  expect(long.seconds).toBe(20);
  expect(long.folds).toEqual([{ left: 48.75, width: 2.5, seconds: 16 }]);
  expect(long.bars.map((bar) => [bar?.left, bar?.width])).toEqual([
    [0, 48.75],
    [51.25, 48.75],
  ]);
});

test("however many folds there are, work takes most of the line", () => {
  const turns = Array.from({ length: 101 }, (_, place) => turn(place * 100, place * 100 + 1));
  const { folds, bars } = folded(turns);
  expect(folds).toHaveLength(100);
  expect(folds.reduce((sum, fold) => sum + fold.width, 0)).toBeCloseTo(40);
  const last = bars.at(-1);
  expect((last?.left ?? 0) + (last?.width ?? 0)).toBeCloseTo(100);
});

test("turns out of order stand where their time is", () => {
  const { bars } = folded([turn(50, 100), turn(0, 50)]);
  expect(bars.map((bar) => bar?.left)).toEqual([50, 0]);
});

test("a turn without an end, or that ends before it began, takes no time", () => {
  const { bars, seconds } = folded([turn(0, null), turn(1, 0), turn(1, 11)]);
  expect(seconds).toBe(11);
  expect(bars.map((bar) => bar?.seconds)).toEqual([0, 0, 10]);
});

test("calls at the same time stand below each other, in four lanes at most", () => {
  const [bar] = folded([turn(0, 100, call(0, 50), call(10, 60), call(55, 70), call(null, null), call(20, null))]).bars;
  expect(bar?.calls.map((one) => one.lane)).toEqual([0, 1, 0, 2]);
  expect(bar?.lanes).toBe(3);
  expect(bar?.calls.map((one) => one.seconds)).toEqual([50, 50, 15, null]);
  const [crowded] = folded([turn(0, 100, ...Array.from({ length: 6 }, () => call(0, 90)))]).bars;
  expect(crowded?.lanes).toBe(4);
  expect(crowded?.calls.map((one) => one.lane)).toEqual([0, 1, 2, 3, 3, 3]);
});
