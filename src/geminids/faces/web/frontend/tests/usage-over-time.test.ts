import { expect, test } from "vitest";

import type { UsageSeries } from "../src/lib/api-types";
import { cumulative, everyPeriod, linesOf, spread } from "../src/usage/series";
import { csvOf, saidIn, type Column } from "../src/usage/table";

const line = (values: (number | null)[]) => ({ key: "a", name: "A", ink: "--a", values });

test("values that grow keep what was before where nothing was recorded", () => {
  expect(cumulative(line([null, 1, null, 2])).values).toEqual([null, 1, 1, 3]);
});

test("quiet periods are told too", () => {
  expect(everyPeriod(["2026-03-28", "2026-03-31"], "day")).toEqual(["2026-03-28", "2026-03-29", "2026-03-30", "2026-03-31"]);
  expect(everyPeriod(["2026-10-19", "2026-11-02"], "week")).toEqual(["2026-10-19", "2026-10-26", "2026-11-02"]);
  expect(everyPeriod(["2026-11-01", "2027-01-01"], "month")).toEqual(["2026-11-01", "2026-12-01", "2027-01-01"]);
  expect(everyPeriod([], "day")).toEqual([]);
});

test("a span of ages does not become endless", () => {
  expect(everyPeriod(["0001-01-01", "9999-01-01"], "day").length).toBeLessThanOrEqual(4000);
});

test("a line over more periods has gaps, or, where it grows, what was before", () => {
  const keys = ["a", "c"];
  const all = ["a", "b", "c", "d"];
  expect(spread(line([1, 2]), keys, all, false).values).toEqual([1, null, 2, null]);
  expect(spread(line([1, 2]), keys, all, true).values).toEqual([1, 1, 2, 2]);
});

const SERIES = {
  points: [
    { fresh: 1, cached: null, cache_write: null, output: 2, thoughts: null, tool: null, cost: 0.5 },
    { fresh: 3, cached: null, cache_write: null, output: null, thoughts: null, tool: null, cost: null },
  ],
  total: { fresh: 4, cached: 0, cache_write: null, output: 2, thoughts: null, tool: null },
  parts: [{ key: "flash", name: "flash", totals: [1, 2], costs: [0.1, null] }],
  rest: { key: "", name: "", totals: [9, 9], costs: [1, 1] },
  left_out: 3,
} as unknown as UsageSeries;

test("tokens are told by kind, without kinds that were never used", () => {
  expect(linesOf(SERIES, "kind", "tokens").map(({ key, values }) => [key, values])).toEqual([
    ["fresh", [1, 3]],
    ["output", [2, null]],
  ]);
});

test("cost is one line, and what is left out of a split is told as others", () => {
  expect(linesOf(SERIES, "kind", "cost").map(({ values }) => values)).toEqual([[0.5, null]]);
  expect(linesOf(SERIES, "model", "cost").map(({ name, values }) => [name, values])).toEqual([
    ["flash", [0.1, null]],
    ["3 others", [1, 1]],
  ]);
  expect(linesOf({ ...SERIES, left_out: 1 }, "model", "tokens").map(({ name }) => name)).toEqual(["flash", "1 other"]);
  expect(linesOf({ ...SERIES, rest: null }, "model", "tokens")).toHaveLength(1);
});

interface Row {
  name: string;
  cost: number | null;
}
const COLUMNS: Column<Row>[] = [
  { name: "Name", value: (row) => row.name },
  { name: "Cost, $", value: (row) => row.cost, said: (row) => `$${row.cost}` },
];

test("a table is saved as spreadsheets want it, and no cell becomes a formula", () => {
  const rows = [
    { name: 'a "b", c', cost: 1.5 },
    { name: "=SUM(A1)", cost: null },
    { name: "two\nlines", cost: -1 },
  ];
  expect(csvOf(COLUMNS, rows)).toBe('Name,"Cost, $"\r\n"a ""b"", c",1.5\r\n\'=SUM(A1),\r\n"two\nlines",-1\r\n');
});

test("a cell that nobody recorded says so", () => {
  const [name, cost] = COLUMNS as [Column<Row>, Column<Row>];
  expect([saidIn(name, { name: "a", cost: null }), saidIn(cost, { name: "a", cost: null }), saidIn(cost, { name: "a", cost: 2 })]).toEqual(["a", "not recorded", "$2"]);
});
