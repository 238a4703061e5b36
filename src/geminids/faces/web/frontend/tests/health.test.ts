import { expect, test } from "vitest";

import { wordsOf } from "../src/health/problems";
import { verdictsOf } from "../src/health/verdicts";
import type { Forecast, Health, RetentionRule } from "../src/lib/api-types";
import { habitOf } from "../src/lib/retention";

const NOW = new Date("2026-11-06T15:00:00Z");

function health(more: object = {}): Health {
  return {
    problem_total: 0,
    problem_counts: {},
    kept: { is_on: true, troubles: [], files: 3 },
    syncing: { is_running: false, at: "2026-11-06T14:58:00Z" },
    ...more,
  } as unknown as Health;
}
const forecast = (soon: number, lost: number) => ({ within_a_week: soon, not_kept: lost }) as Forecast;
const told = (one: Health, ahead: Forecast | null = null, isSample = false) => verdictsOf(one, ahead, NOW, isSample).map(({ tone, sentence }) => `${tone}: ${sentence}`);

test("where all is well every sentence says so", () => {
  expect(told(health(), forecast(0, 0))).toEqual([
    "good: Everything could be read.",
    "good: Copies of 3 files are kept.",
    "good: Nothing will be deleted within a week.",
    "good: The index is up to date (2 min ago).",
  ]);
});

test("the worst comes first", () => {
  const sick = health({ problem_total: 2, problem_counts: { "bad-json": 2 }, kept: { is_on: false, troubles: [], files: 0 } });
  expect(told(sick, forecast(2, 1))).toEqual([
    "bad: No copies are kept: what an agent deletes is gone.",
    "bad: 2 sessions will be deleted within a week, 1 of them without a copy.",
    "warn: 2 problems in files; what is around them could be read.",
    "good: The index is up to date (2 min ago).",
  ]);
});

test.each([
  [health({ problem_total: 1, problem_counts: { unreadable: 1 } }), "bad: 1 file or folder may not be read."],
  [health({ kept: { is_on: true, troubles: ["full"], files: 1 } }), "warn: Not everything could be copied."],
  [health({ syncing: { is_running: false, at: null } }), "warn: The index is used as it is; new sessions are not read."],
  [health({ syncing: { is_running: true, at: null } }), "good: New files are being read."],
])("what is not well is told", (one, sentence) => {
  expect(told(one)).toContain(sentence);
});

test("what will be deleted is bad only where there is no copy", () => {
  expect(told(health(), forecast(1, 0))).toContain("good: 1 session will be deleted within a week; copies of all of them are kept.");
  expect(told(health(), forecast(2, 2))).toContain("bad: 2 sessions will be deleted within a week, without a copy.");
});

test("the sample needs no copies", () => {
  expect(told(health({ kept: { is_on: false, troubles: [], files: 0 } }), null, true)).toContain("good: The sample comes with geminids and needs no copies.");
});

test.each([
  [30, null, "deletes what was not used for 30 days"],
  [1, 50, "deletes what was not used for 1 day and what is older than the newest 50"],
  [null, null, "deletes nothing by itself"],
])("an agent that keeps sessions for %s days and the newest %s", (days, most, said) => {
  expect(habitOf({ days, most } as RetentionRule)).toBe(said);
});

test("a kind of problem that is new is called as the server calls it", () => {
  expect(wordsOf("bad-json").many).toBe("damaged records");
  expect(wordsOf("new-kind")).toEqual({ one: "new-kind", many: "new-kind", advice: "" });
});
