import { describe, expect, test } from "vitest";

import type { ProjectLine, SessionLine } from "../src/lib/api-types";
import { neighbourOf, noteList } from "../src/lib/came-from";
import { countsOf, fateOf, kindOf, lastAt, seemsRunning, titleOf } from "../src/lib/session-words";
import { listed, orderMeant } from "../src/projects/listing";
import * as search from "../src/search/question";
import * as sessions from "../src/sessions/question";

const asked = (words: string) => new URLSearchParams(words);

function session(id: string, more: Partial<SessionLine> = {}): SessionLine {
  return { id, kind: "main", name: null, title: null, started_at: null, ended_at: null, project: { name: "shop", path: "/src/shop" }, counts: { prompts: 0, tool_calls: 0 }, ...more } as SessionLine;
}

describe("the list of sessions", () => {
  test("an address asks for what it says, and nothing that is not known", () => {
    const { kind, agent, order, reverse, kept } = sessions.questionOf(asked("agent=gemini&agent=codex&kind=lost&kind=odd&order=oldest&kept=true"));
    expect({ kind, agent, order, reverse, kept }).toEqual({ kind: ["lost"], agent: ["gemini", "codex"], order: "date", reverse: true, kept: true });
    expect(sessions.questionOf(asked("order=odd")).order).toBeUndefined();
    expect(sessions.questionOf(asked("order=newest"))).toMatchObject({ order: "date" });
  });

  test("sessions by project come in the order of projects, whatever else is said", () => {
    expect(sessions.questionOf(asked("group=project&order=oldest")).order).toBe("project");
  });

  test("headings of time are for lists in the order of time", () => {
    expect(["", "order=oldest", "order=title", "group=none", "group=project"].map((words) => sessions.groupingOf(asked(words)))).toEqual(["time", "time", "none", "none", "project"]);
  });

  test("each heading stands before the first of its sessions", () => {
    const other = { project: { name: "blog", path: null } } as Partial<SessionLine>;
    const lines = sessions.linesOf([session("a"), session("b"), session("c", other)], "project");
    expect(lines.map((line) => (line.type === "heading" ? line.text : line.key))).toEqual(["/src/shop", "a", "b", "blog", "c"]);
  });

  test("where sessions of one heading do not stand together there are none", () => {
    const other = { project: { name: "blog", path: null } } as Partial<SessionLine>;
    const lines = sessions.linesOf([session("a"), session("c", other), session("b")], "project");
    expect(lines.map((line) => line.type)).toEqual(["session", "session", "session"]);
  });
});

describe("what is said of a session", () => {
  test("its name before its title", () => {
    expect([titleOf({ name: "mine", title: "its" }), titleOf({ name: null, title: "its" }), titleOf({ title: null })]).toEqual(["mine", "its", "Without a title"]);
  });

  test("when it was last written to", () => {
    expect(lastAt(session("a", { started_at: "1", ended_at: "2" }))).toBe("2");
    expect(lastAt(session("a", { started_at: "1" }))).toBe("1");
  });

  test("whether it seems to be running, as long as the server says", () => {
    const running = session("a", { started_at: "2026-11-06T10:00:00Z", is_running: true });
    const after = (seconds: number) => new Date(Date.parse("2026-11-06T10:00:00Z") + seconds * 1000);
    expect([seemsRunning(running, after(179), 180), seemsRunning(running, after(180), 180), seemsRunning(running, after(61), 60)]).toEqual([true, false, false]);
    expect(seemsRunning({ ...running, is_running: false }, after(1), 180)).toBe(false);
    expect(seemsRunning({ ...running, started_at: null }, after(1), 180)).toBe(false);
  });

  test("its counts, as far as there is something to count", () => {
    const counts = (prompts: number, calls: number) => countsOf(session("a", { counts: { prompts, tool_calls: calls } as SessionLine["counts"] }));
    expect([counts(0, 0), counts(1, 0), counts(2, 1), counts(0, 3)]).toEqual(["0 prompts", "1 prompt", "2 prompts · 1 call", "3 calls"]);
  });

  test("what kind it is, and what became of a message", () => {
    expect([kindOf(session("a")), kindOf(session("a", { kind: "subagent" }))]).toEqual([null, "Subagent"]);
    expect([fateOf("rewound"), fateOf("failed")]).toEqual(["undone", "failed"]);
  });
});

describe("a search", () => {
  test("without words there is nothing to ask", () => {
    expect(search.questionOf(asked("q=%20&agent=gemini"))).toBeNull();
  });

  test("a month is a span of days", () => {
    expect(search.questionOf(asked("q=a&month=2026-02&place=human&place=odd"))).toMatchObject({ since: "2026-02-01", until: "2026-02-28", place: ["human"], order: "best" });
  });

  test("what narrows it down is told in words", () => {
    const chips = search.chipsOf(asked("q=a&place=output&project=/src/shop&agent=gemini&month=2026-02"), (name) => name.toUpperCase());
    expect(chips.map(({ key, value }) => [key, value])).toEqual([
      ["place", "Output of tools"],
      ["project", "shop"],
      ["agent", "GEMINI"],
      ["month", "February 2026"],
    ]);
  });
});

describe("projects", () => {
  const project = (name: string, more: object) => ({ project: { name, path: `/src/${name}` }, sessions: 0, last: null, tokens: { total: null, cost: null }, ...more }) as unknown as ProjectLine;
  const all = [project("b", { sessions: 1, tokens: { total: 0, cost: null } }), project("a", { sessions: 2, last: "2026-01-01" }), project("c", { tokens: { total: 5, cost: 1 } })];
  const names = (order: string, wanted = "") => listed(all, orderMeant(order), wanted).map((one) => one.project.name).join("");

  test("come in the order that is asked for, with what nobody recorded last", () => {
    expect([names("name"), names("sessions"), names("tokens"), names("cost"), names("last")]).toEqual(["abc", "abc", "cba", "cba", "abc"]);
  });

  test("an order that there is not is the usual one", () => expect(orderMeant("odd")).toBe("last"));

  test("are found by their name or their folder", () => {
    expect([names("name", " B "), names("name", "src/C"), names("name", "nothing")]).toEqual(["b", "c", ""]);
  });
});

test("the sessions before and after one in the list that somebody came from", () => {
  noteList(["a", "b", "b", "c"]);
  expect([neighbourOf("a", -1), neighbourOf("a", 1), neighbourOf("b", 1), neighbourOf("c", 1), neighbourOf("x", 1)]).toEqual([null, "b", "c", null, null]);
});
