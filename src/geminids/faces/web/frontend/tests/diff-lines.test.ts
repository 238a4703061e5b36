import { expect, test } from "vitest";

import type { DiffLine } from "../src/lib/api-types";
import { besides, pairs, thirds } from "../src/transcript/pairs";

const line = (written: string): DiffLine => {
  const kind = written.startsWith("-") ? "removed" : written.startsWith("+") ? "added" : "context";
  return { kind, text: written.slice(1) } as unknown as DiffLine;
};
const lines = (...written: string[]) => written.map(line);
const told = (of: DiffLine[]) => pairs(of).map((pair) => `${pair.old?.text ?? "·"}|${pair.new?.text ?? "·"}`);

test("what was removed stands beside what was added in its place", () => {
  expect(told(lines(" a", "-b", "-c", "+d", " e"))).toEqual(["a|a", "b|d", "c|·", "e|e"]);
  expect(told(lines("+a", "+b", " c"))).toEqual(["·|a", "·|b", "c|c"]);
});

test("what is removed after something was added begins another change", () => {
  expect(told(lines("-a", "+b", "-c", "+d"))).toEqual(["a|b", "c|d"]);
});

test("lines that changed know each other; those that stayed, came or went alone do not", () => {
  const [stayed, old, fresh, gone] = lines(" a", "-b", "+c", "-d") as [DiffLine, DiffLine, DiffLine, DiffLine];
  const beside = besides([stayed, old, fresh, gone]);
  expect([beside.get(old), beside.get(fresh), beside.get(stayed), beside.get(gone)]).toEqual([fresh, old, undefined, undefined]);
});

test("of a changed line only what differs is told apart", () => {
  expect(thirds("const port = 80;", "const port = 8080;")).toBeNull();
  expect(thirds("const port = 8080;", "const port = 80;")).toEqual(["const port = 80", "80", ";"]);
  expect(thirds("let a = one;", "let a = two;")).toEqual(["let a = ", "one", ";"]);
});

test("where hardly anything stayed, or nothing differs, the line is told whole", () => {
  expect(thirds("abcdef", "zzzzzz")).toBeNull();
  expect(thirds("same", "same")).toBeNull();
});
