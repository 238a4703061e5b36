import { expect, test } from "vitest";

import { promptsOf } from "../src/lib/session-words";

test("an outline names what it has and what it leaves out", () => {
  expect(promptsOf({ prompt: 4, rewound: 1 })).toBe("4 prompts, 1 undone");
  expect(promptsOf({ prompt: 1, command: 2, copied: 3 })).toBe("1 prompt, 2 commands, 3 copied");
  expect(promptsOf({})).toBe("0 prompts");
});
