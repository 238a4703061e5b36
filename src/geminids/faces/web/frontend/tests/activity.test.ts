import { expect, test } from "vitest";

import { amountOf, cellsOf, monthsOf } from "../src/home/activity";
import { weeksOf } from "../src/home/weeks";
import type { DayActivity, UsedTokens } from "../src/lib/api-types";
import { warmths } from "../src/lib/warmth";

/** A Wednesday. */
const TODAY = new Date(2026, 10, 11, 9, 30);

function active(day: string, tokens: Partial<UsedTokens>): DayActivity {
  return { day, sessions: 1, prompts: 2, active: 60, calls: 3, tokens: { total: null, cost: null, ...tokens } as UsedTokens };
}

test("a year of days ends today, in whole weeks that begin on Monday", () => {
  const cells = cellsOf([active("2026-11-10", { total: 7 })], TODAY);
  expect(cells).toHaveLength(52 * 7 + 3);
  expect([cells[0]?.date.getDay(), cells[0]?.weekday, cells[0]?.week]).toEqual([1, 0, 0]);
  expect([cells.at(-1)?.key, cells.at(-1)?.weekday, cells.at(-1)?.week]).toEqual(["2026-11-11", 2, 52]);
  expect(new Set(cells.map((cell) => cell.key)).size).toBe(cells.length);
  expect(cells.filter((cell) => cell.activity).map((cell) => cell.key)).toEqual(["2026-11-10"]);
});

test("a month is named where its first whole week begins", () => {
  const cells = cellsOf([], TODAY);
  const months = monthsOf(cells);
  expect(months.map((month) => month.name).slice(0, 2)).toEqual(["Dec", "Jan"]);
  const june = months.find((month) => month.name === "Jun");
  expect(cells.find((cell) => cell.week === june?.week && cell.weekday === 0)?.key).toBe("2026-06-01");
});

test("what is measured of a day", () => {
  const one = active("2026-11-10", { total: 7, cost: 0.5 });
  expect([amountOf(one, "prompts"), amountOf(one, "active"), amountOf(one, "tokens"), amountOf(one, "cost"), amountOf(null, "tokens")]).toEqual([2, 60, 7, 0.5, 0]);
  expect(amountOf(active("2026-11-10", {}), "tokens")).toBe(0);
});

test("days are summed up to weeks, of which empty ones are there too", () => {
  const days = [
    active("2026-10-25", { fresh: 1, total: 1 }),
    active("2026-11-02", { fresh: 10, cache_write: 5, cached: 3, output: 2, thoughts: 1, total: 21, cost: 0.25 }),
    active("2026-11-08", { fresh: 10, total: 10 }),
    active("2025-01-01", { fresh: 1000, total: 1000 }),
  ];
  const weeks = weeksOf(days, 4, TODAY);
  expect(weeks.map((week) => [week.key, week.fresh, week.total, week.cost])).toEqual([
    ["2026-10-19", 1, 1, null],
    ["2026-10-26", 0, null, null],
    ["2026-11-02", 25, 31, 0.25],
    ["2026-11-09", 0, null, null],
  ]);
  expect(weeks[2]).toMatchObject({ cached: 3, output: 2, thoughts: 1 });
});

test("one wild day does not pale all others", () => {
  expect(warmths([0, 1, 2, 3, 1_000_000])).toEqual([0, 1, 2, 3, 4]);
  expect(warmths([5, 5, 5])).toEqual([1, 1, 1]);
  expect(warmths([0, 0])).toEqual([0, 0]);
});
