import { beforeEach, expect, test, vi } from "vitest";

import { TRANSCRIPT_KEYS } from "../src/transcript/keys";

/** As much of a browser as keys need. */
class Field {
  isContentEditable = false;
  readonly tagName: string;
  constructor(tagName: string) {
    this.tagName = tagName;
  }
  closest(selector: string): Field | null {
    return selector.includes(this.tagName.toLowerCase()) ? this : null;
  }
}
const BODY = new Field("BODY");

vi.stubGlobal("HTMLElement", Field);
vi.stubGlobal("navigator", { userAgent: "X11; Linux" });
vi.stubGlobal("location", new URL("http://127.0.0.1/sessions/a"));
let pressKey: ((event: object) => void) | undefined;
vi.stubGlobal("document", {
  cookie: "",
  addEventListener: (_: string, act: (event: object) => void) => (pressKey = act),
  removeEventListener: () => (pressKey = undefined),
});
const { listenToKeys, MOD } = await import("../src/lib/keys");
const { keysOf } = await import("../src/transcript/key-actions");

let heard: string[] = [];
let ends: (() => void)[] = [];
/** A layer that notes its keys. */
function layer(name: string, keys: string[], isAlone = false): () => void {
  const end = listenToKeys(Object.fromEntries(keys.map((key) => [key, () => heard.push(`${name} ${key}`)])), { isAlone });
  ends.push(end);
  return end;
}

function press(key: string, more: object = {}): boolean {
  let isTaken = false;
  pressKey?.({ key, target: BODY, preventDefault: () => (isTaken = true), ...more });
  return isTaken;
}

beforeEach(() => {
  ends.forEach((end) => end());
  [heard, ends] = [[], []];
});

test("the newest layer comes first, and what it does not know goes to those below", () => {
  layer("page", ["1", "/"]);
  const end = layer("view", ["/"]);
  expect([press("/"), press("1"), press("2")]).toEqual([true, true, false]);
  end();
  press("/");
  expect(heard).toEqual(["view /", "page 1", "page /"]);
});

test("a sheet takes all keys, until it is closed", () => {
  layer("page", ["1"]);
  const close = layer("sheet", ["Escape"], true);
  expect([press("1"), press("Escape")]).toEqual([false, true]);
  close();
  press("1");
  expect(heard).toEqual(["sheet Escape", "page 1"]);
});

test("a view that comes while a sheet is open comes below it", () => {
  layer("page", ["1"]);
  const close = layer("sheet", ["Escape"], true);
  layer("view", ["Escape", "j"]);
  press("Escape");
  expect(press("j")).toBe(false);
  close();
  press("j");
  press("Escape");
  expect(heard).toEqual(["sheet Escape", "view j", "view Escape"]);
});

test("a sheet over a sheet takes them first", () => {
  layer("lower", ["Escape"], true);
  layer("upper", ["Escape"], true);
  press("Escape");
  expect(heard).toEqual(["upper Escape"]);
});

test("ending a layer twice ends nothing else, and without layers nobody listens", () => {
  const end = layer("page", ["1"]);
  const other = layer("view", ["2"]);
  end();
  end();
  expect(press("2")).toBe(true);
  other();
  expect(pressKey).toBeUndefined();
});

test("whoever types, types: but Escape and Ctrl with a key are heard", () => {
  layer("page", ["j", "Escape", "mod+k", "alt+j"]);
  const target = new Field("INPUT");
  expect([press("j", { target }), press("Escape", { target }), press("K", { target, ctrlKey: true }), press("k", { target, metaKey: true })]).toEqual([false, true, true, true]);
  expect(press("j", { altKey: true })).toBe(true);
  expect(press("j", { target: Object.assign(new Field("DIV"), { isContentEditable: true }) })).toBe(false);
  expect([press("j", { isComposing: true }), press("j", { defaultPrevented: true })]).toEqual([false, false]);
});

test("Enter and the space bar belong to what has the focus", () => {
  layer("page", ["Enter", " "]);
  const target = new Field("BUTTON");
  expect([press("Enter", { target }), press(" ", { target }), press("Enter")]).toEqual([false, false, true]);
});

test("the key beside the space bar is called as it is here", () => expect(MOD).toBe("Ctrl"));

test("the sheet of keys tells all keys of a transcript, and no other", () => {
  const done = Object.keys(keysOf({} as Parameters<typeof keysOf>[0])).filter((key) => key !== "Escape" && key !== "mod+f");
  expect(done.toSorted()).toEqual(TRANSCRIPT_KEYS.flatMap(([keys]) => keys).toSorted());
});
