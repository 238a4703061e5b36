import { describe, expect, test } from "vitest";

import { ago, ahead, clock, day, dayKey, dayOf, duration, lastOfMonth, monthName, secondsBetween, timeGroup, underHeading, whole } from "../src/lib/time";
import alike from "./said-alike.json";

/** A Friday afternoon in Berlin, where the clock is one hour ahead of UTC. */
const NOW = new Date("2026-11-06T15:00:00+01:00");
/** So many seconds before now. */
const before = (seconds: number) => new Date(NOW.getTime() - seconds * 1000).toISOString();
const MINUTE = 60;
const HOUR = 60 * MINUTE;

test("the tests run in a zone with summer time", () => {
  expect(new Date("2026-07-01T00:00:00Z").getTimezoneOffset()).toBe(-120);
  expect(new Date("2026-12-01T00:00:00Z").getTimezoneOffset()).toBe(-60);
});

test.each([
  [0, "just now"],
  [59, "just now"],
  // A clock that is a little ahead.
  [-30, "just now"],
  [60, "1 min ago"],
  [59 * MINUTE + 59, "59 min ago"],
  [HOUR, "1 h ago"],
  [14 * HOUR, "14 h ago"],
  [16 * HOUR, "yesterday"],
  [39 * HOUR, "yesterday"],
  [40 * HOUR, "4 Nov"],
  [-2 * HOUR, "6 Nov"],
])("%d seconds ago", (seconds, said) => {
  expect(ago(before(seconds), NOW)).toBe(said);
});

test("what was a few hours ago is not yet yesterday, though it was before midnight", () => {
  const night = new Date("2026-11-06T02:00:00+01:00");
  expect(ago("2026-11-05T22:30:00+01:00", night)).toBe("3 h ago");
  expect(ago("2026-11-05T19:00:00+01:00", night)).toBe("yesterday");
});

test("the year is told if it is another", () => {
  expect(ago("2025-11-05T12:00:00Z", NOW)).toBe("5 Nov 2025");
  expect(day("2026-01-02T12:00:00Z", NOW)).toBe("2 Jan");
  expect(day(new Date("2025-01-02T12:00:00Z"), NOW)).toBe("2 Jan 2025");
});

test("no time is told as none", () => {
  expect([ago(null, NOW), clock(null), whole(null), underHeading(null, NOW)]).toEqual(["", "", "", ""]);
  expect(timeGroup(null, NOW)).toBe("Without a date");
  expect(ahead(null, NOW)).toBe("now");
});

test("times are those of this machine", () => {
  expect(clock("2026-11-06T13:05:00Z")).toBe("14:05");
  expect(clock("2026-07-06T13:05:00Z")).toBe("15:05");
  expect(whole("2026-11-06T13:05:09Z")).toMatch(/^Friday,? 6 November 2026 at 14:05:09$/);
});

test.each([
  [5 * MINUTE, "5 min ago"],
  [HOUR, "14:00"],
  [2 * HOUR, "13:00"],
  [3 * 24 * HOUR, "15:00"],
  [8 * 24 * HOUR, "29 Oct"],
])("under a heading of time: %d seconds ago", (seconds, said) => {
  expect(underHeading(before(seconds), NOW)).toBe(said);
});

test.each([
  [-HOUR, "now"],
  [59 * MINUTE, "now"],
  [5 * HOUR, "in 5 h"],
  [47 * HOUR, "in 47 h"],
  [49 * HOUR, "in 2 days"],
])("ahead by %d seconds", (seconds, said) => {
  expect(ahead(before(-seconds), NOW)).toBe(said);
});

test("headings of time: weekdays for a week, then months", () => {
  const groups = [0, 1, 2, 6, 7, 40].map((days) => timeGroup(before(days * 24 * HOUR), NOW));
  expect(groups).toEqual(["Today", "Yesterday", "Wednesday", "Saturday", "October 2026", "September 2026"]);
  expect(timeGroup(before(-HOUR), NOW)).toBe("Today");
});

test("a day of 23 hours is a day, and one of 25", () => {
  expect(timeGroup("2026-03-29T00:30:00+01:00", new Date("2026-03-30T00:10:00+02:00"))).toBe("Yesterday");
  expect(timeGroup("2026-10-25T00:30:00+02:00", new Date("2026-10-26T00:10:00+01:00"))).toBe("Yesterday");
});

describe("days and months by their keys", () => {
  test("a key and its day mean each other", () => {
    expect(dayKey(dayOf("2026-03-05"))).toBe("2026-03-05");
    expect(dayOf("2026-03-05").getHours()).toBe(0);
    // In UTC it is still the day before.
    expect(dayKey(new Date("2026-11-05T23:30:00Z"))).toBe("2026-11-06");
  });

  test.each([
    ["2026-02", "2026-02-28"],
    ["2028-02", "2028-02-29"],
    ["2026-11", "2026-11-30"],
    ["2026-12", "2026-12-31"],
  ])("the last day of %s", (month, last) => {
    expect(lastOfMonth(month)).toBe(last);
  });

  test("the name of a month", () => expect(monthName("2026-11")).toBe("November 2026"));
});

test.each([
  [null, ""],
  [0, "0 ms"],
  [0.34, "340 ms"],
  [0.9994, "999 ms"],
  [0.9996, "1.0 s"],
  [1.26, "1.3 s"],
  [9.94, "9.9 s"],
  [9.96, "10 s"],
  ...(alike.duration as [number, string][]),
])("a duration of %s seconds", (seconds, said) => {
  expect(duration(seconds)).toBe(said);
});

test("how long something took is known if both moments are, and never below nothing", () => {
  expect(secondsBetween("2026-11-06T10:00:00Z", "2026-11-06T11:00:01+01:00")).toBe(1);
  expect(secondsBetween("2026-11-06T10:00:00Z", "2026-11-06T09:00:00Z")).toBe(0);
  expect(secondsBetween(null, "2026-11-06T09:00:00Z")).toBeNull();
  expect(secondsBetween("2026-11-06T09:00:00Z", null)).toBeNull();
});
