import { expect, test } from "vitest";

import { jsonWords } from "../src/transcript/json-words";

test.each(['{"a": [1, -2.5e+3, true, null], "b\\"": "c: \\"d\\""}', "", "{", '"half', "[[]]", "nothing that is JSON"])("no letter of %j is lost", (json) => {
  expect(jsonWords(json).map((word) => word.text).join("")).toBe(json);
});

test("each word is told by its kind", () => {
  const kinds = jsonWords('{"a" : "b", "c":-1.5e3, "d":[true,null]}')
    .filter((word) => word.kind !== "sign")
    .map((word) => [word.text, word.kind]);
  expect(kinds).toEqual([
    ['"a"', "name"],
    ['"b"', "text"],
    ['"c"', "name"],
    ["-1.5e3", "number"],
    ['"d"', "name"],
    ["true", "word"],
    ["null", "word"],
  ]);
});

test("a number in a text is text", () => {
  expect(jsonWords('"1 true"')).toEqual([{ text: '"1 true"', kind: "text" }]);
});
