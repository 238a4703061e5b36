import { expect, test } from "vitest";

import { bytes, counted, dollars, percent, short, summed, UNKNOWN, whole } from "../src/lib/numbers";
import alike from "./said-alike.json";

test("what nobody recorded is a dash, not nothing", () => {
  expect([whole(null), short(null), dollars(null), bytes(null), percent(null)]).toEqual(Array(5).fill(UNKNOWN));
  expect([whole(0), short(0), dollars(0), bytes(0), percent(0)]).toEqual(["0", "0", "$0.00", "0 bytes", "0.0 %"]);
});

test.each([
  [999, "999"],
  [1000, "1k"],
  [12_345, "12.3k"],
  [99_940, "99.9k"],
  [99_960, "100k"],
  [999_499, "999k"],
  [999_500, "1M"],
  [1_234_567, "1.2M"],
  [2_500_000_000, "2.5G"],
  [1_000_000_000_000, "1,000,000,000,000"],
  [-1500, "-1.5k"],
])("%d in short", (number, said) => {
  expect(short(number)).toBe(said);
});

test.each([
  [0.004, "< $0.01"],
  [0.04, "$0.04"],
  [12.3, "$12.30"],
  [1234.5, "$1,235"],
])("%d dollars", (cost, said) => {
  expect(dollars(cost)).toBe(said);
});

test.each(alike.size as [number, string][])("%d bytes", (number, said) => {
  expect(bytes(number)).toBe(said);
});

test("parts of a whole", () => {
  expect([percent(0.051), percent(0.5), percent(1)]).toEqual(["5.1 %", "50 %", "100 %"]);
});

test("one and several", () => {
  expect([counted(1, "session"), counted(0, "session"), counted(1234, "copy", "copies")]).toEqual(["1 session", "0 sessions", "1,234 copies"]);
});

test("a sum of nothing recorded is nothing recorded", () => {
  expect(summed([])).toBeNull();
  expect(summed([null, null])).toBeNull();
  expect(summed([null, 0])).toBe(0);
  expect(summed([1, null, 2])).toBe(3);
});
