import { expect, test } from "vitest";

import type { FilterNote } from "../src/lib/api-types";
import { halfTyped, namesLike, valuesLike } from "../src/lib/completing";

const FILTERS: FilterNote[] = [
  { name: "agent", note: "who was at work", values: {} },
  { name: "in", note: "where the words stand", values: {} },
  { name: "is", note: "what kind", values: {} },
];
/** What stands before the bar, which is the caret. */
function half(typed: string) {
  const caret = typed.indexOf("|");
  return { text: typed.replace("|", ""), found: halfTyped(typed.replace("|", ""), caret, FILTERS) };
}

test.each([
  ["|", null, "", 0],
  ["ag|", null, "ag", 0],
  ["-ag|", null, "ag", 1],
  ["(cors OR ag|", null, "ag", 9],
  ["cors is:su|", "is", "su", 8],
  ["-is:|", "is", "", 4],
  ['agent:"gemini cl|', "agent", "gemini cl", 6],
  ["is:su|bagent cors", "is", "su", 3],
])("a filter may be meant by %s", (typed, filter, said, begin) => {
  const { found } = half(typed);
  expect(found).toMatchObject({ filter, typed: said, begin, end: typed.indexOf("|") });
});

test.each(["node:fs|", 'agent:"gemini"|', "/time|", "Cors|"])("no filter is meant by %s", (typed) => {
  expect(half(typed).found).toBeNull();
});

test("names are completed where they stand, and one goes on after the colon", () => {
  const { text, found } = half("cors i| since:7d");
  const names = namesLike(text, found!, FILTERS);
  expect(names).toEqual([
    { text: "in:", note: "where the words stand", whole: "cors in: since:7d", caret: 8 },
    { text: "is:", note: "what kind", whole: "cors is: since:7d", caret: 8 },
  ]);
});

const values = (...all: string[]) => all.map((value) => ({ value, note: "" }));

test("values that begin like what is typed come before those that hold it", () => {
  const { text, found } = half("agent:co|");
  const told = valuesLike(text, found!, values("my-codex", "codex", "Copilot", "gemini"));
  expect(told.map((one) => one.text)).toEqual(["codex", "Copilot", "my-codex"]);
  expect(told[0]).toMatchObject({ whole: "agent:codex ", caret: 12 });
});

test("what stands behind the caret stays, with one space before it", () => {
  const { text, found } = half("is:|  cors");
  expect(valuesLike(text, found!, values("main"))[0]?.whole).toBe("is:main cors");
});

test("a value that is typed already is not told", () => {
  const { text, found } = half("is:main|");
  expect(valuesLike(text, found!, values("main", "mainly")).map((one) => one.text)).toEqual(["mainly"]);
});

test("a value with spaces is put in quotes, also where one was begun", () => {
  const { text, found } = half('agent:"ge|');
  expect(valuesLike(text, found!, values('gemini "cli"', "other"))[0]).toMatchObject({ text: 'gemini "cli"', whole: 'agent:"gemini cli" ' });
});

test("at most eight values are told", () => {
  const { text, found } = half("is:|");
  expect(valuesLike(text, found!, values(..."abcdefghij")).map((one) => one.text).join("")).toBe("abcdefgh");
});
