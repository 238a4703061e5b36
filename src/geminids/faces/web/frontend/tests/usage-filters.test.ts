import { beforeEach, expect, test, vi } from "vitest";

import type { Hour } from "../src/lib/api-types";

const here = { value: new URL("http://127.0.0.1/usage") };
vi.stubGlobal("location", {
  get pathname() {
    return here.value.pathname;
  },
  get search() {
    return here.value.search;
  },
  get hash() {
    return here.value.hash;
  },
});
vi.stubGlobal("window", Object.assign(new EventTarget(), { scrollTo: () => {} }));
vi.stubGlobal("history", { length: 1, state: null, pushState: (_: unknown, __: string, address: string) => (here.value = new URL(address, here.value)) });
const filters = await import("../src/usage/filters");
const { cellsOf } = await import("../src/usage/hours");

const of = (words: string) => filters.filtersOf(new URLSearchParams(words));

beforeEach(() => {
  here.value = new URL("http://127.0.0.1/usage");
});

test("the server is asked for what the address says", () => {
  expect(filters.askedWith(of('q=cors&model=a"b&tool=edit&hour=mon-14&agent=gemini&since=2026-01-01'))).toEqual({
    q: 'cors model:"=ab" tool:"=edit" hour:mon-14',
    project: undefined,
    agent: ["gemini"],
    since: "2026-01-01",
    until: undefined,
  });
  expect(filters.askedWith(of("model=flash&tool=edit"), "model").q).toBe('tool:"=edit"');
});

test("the list of the sessions that are meant", () => {
  expect(filters.sessionsAddress(of("project=/src/shop&since=2026-01-01"))).toBe("/sessions?project=%2Fsrc%2Fshop&since=2026-01-01");
  expect(filters.sessionsAddress(of(""), { hour: "14" })).toBe("/sessions?q=hour%3A14&kind=main&kind=checkpoint&kind=lost");
});

test("a value is chosen, and given up when it is chosen again", () => {
  filters.choose(of(""), "model", "flash");
  expect(here.value.search).toBe("?model=flash");
  filters.choose(of("model=flash"), "model", "flash");
  expect(here.value.search).toBe("");
});

test.each([
  ["day", "2026-11-05", "", "2026-11-05", "2026-11-05"],
  ["week", "2026-10-19", "", "2026-10-19", "2026-10-25"],
  ["month", "2026-02-01", "", "2026-02-01", "2026-02-28"],
  ["month", "2026-02-01", "since=2026-02-10&until=2026-02-20", "2026-02-10", "2026-02-20"],
  ["month", "2026-02-01", "since=2026-01-01&until=2026-12-31", "2026-02-01", "2026-02-28"],
] as const)("a %s from %s on, of %j", (by, key, before, since, until) => {
  filters.narrowToPeriod(of(before), by, key);
  expect([here.value.searchParams.get("since"), here.value.searchParams.get("until")]).toEqual([since, until]);
});

test("all can be cleared, and what is no filter stays", () => {
  here.value = new URL("http://127.0.0.1/usage?q=a&model=b&session=c");
  filters.clearAll();
  expect(here.value.search).toBe("?session=c");
});

test.each([
  ["mon", "Monday"],
  ["14", "14–15 h"],
  ["sun-0", "Sunday, 0–1 h"],
])("the hour %s in words", (value, said) => {
  expect(filters.hourWords(value)).toBe(said);
});

test("what the view is narrowed to is told in words", () => {
  const year = new Date().getFullYear();
  const told = (words: string) => filters.chipsOf(of(words), (agent) => agent.toUpperCase()).map(({ key, value }) => `${key}: ${value}`);
  expect(told("project=/src/shop&agent=gemini&hour=mon-14")).toEqual(["project: shop", "agent: GEMINI", "hour: Monday, 14–15 h"]);
  expect(told(`since=${year}-03-05&until=${year}-03-05`)).toEqual(["time: 5 Mar"]);
  expect(told(`since=${year}-03-05`)).toEqual(["time: since 5 Mar"]);
  expect(told("until=7d")).toEqual(["time: until 7d"]);
  expect(told(`since=2020-03-05&until=${year}-03-06`)).toEqual(["time: 5 Mar 2020 to 6 Mar"]);
});

test("a week has 168 hours, with what was said in each", () => {
  const cells = cellsOf([{ weekday: 1, hour: 14, prompts: 3, replies: 4 } as Hour]);
  expect(cells).toHaveLength(168);
  expect(cells.filter((cell) => cell.prompts)).toEqual([{ key: "tue-14", weekday: 1, hour: 14, prompts: 3, replies: 4, words: "Tuesday, 14–15 h" }]);
});
