import { expect, test } from "vitest";

import { soughtBy } from "../src/transcript/sought";

test("words are looked for as they stand, without filters, and one by one, the longest first", () => {
  expect(soughtBy("cors preflight since:7d")).toEqual(["cors preflight since:7d", "cors preflight", "preflight", "cors"]);
});

test("one word is looked for once", () => {
  expect(soughtBy(" cors ")).toEqual(["cors"]);
});

test("phrases stay together; what must not be there and what joins words is left out", () => {
  expect(soughtBy('"no such file" OR (cors -test)')).toEqual(['"no such file" OR (cors -test)', "no such file cors", "no such file", "cors"]);
});

test("the beginning of a word is looked for without its star", () => {
  expect(soughtBy("pre*")).toEqual(["pre*", "pre"]);
});

test("filters alone are looked for as they stand, nothing not at all", () => {
  expect(soughtBy('tool:edit file:"a b"')).toEqual(['tool:edit file:"a b"']);
  expect(soughtBy("  ")).toEqual([]);
});

test("of many words the longest are looked for", () => {
  expect(soughtBy("a bb ccc dddd eeeee ffffff")).toEqual(["a bb ccc dddd eeeee ffffff", "ffffff", "eeeee", "dddd", "ccc", "bb"]);
});
