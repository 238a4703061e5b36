import { expect, test, vi } from "vitest";

import { SparseList } from "../src/transcript/sparse.svelte";

/** A list of so many numbers on the server, in blocks of ten, and what is asked of it. */
function served(total: number, most = Infinity) {
  const server = { total, asked: [] as [number, number][], isDown: false };
  const list = new SparseList<number>(async (start, count) => {
    server.asked.push([start, count]);
    if (server.isDown) throw new Error("no answer");
    const end = Math.min(start + count, start + most, server.total);
    return { start, total: server.total, items: Array.from({ length: Math.max(0, end - start) }, (_, offset) => start + offset) };
  }, 10);
  return { list, server };
}

test("whole blocks are read, each once", async () => {
  const { list, server } = served(100);
  await list.have(15, 25);
  await list.have(11, 29);
  expect(server.asked).toEqual([
    [10, 10],
    [20, 10],
  ]);
  expect([list.total, list.at(10), list.at(29), list.at(30)]).toEqual([100, 10, 29, undefined]);
});

test("the last block ends with the list", async () => {
  const { list, server } = served(25);
  await list.have(20, 90);
  await list.have(20, 90);
  expect(server.asked[0]).toEqual([20, 10]);
  expect(list.at(24)).toBe(24);
  expect(server.asked.every(([start]) => start < 100)).toBe(true);
  const before = server.asked.length;
  await list.have(20, 24);
  expect(server.asked).toHaveLength(before);
});

test("where fewer come than were asked for, the rest is asked for", async () => {
  const { list, server } = served(100, 4);
  await list.have(0, 9);
  expect(server.asked).toEqual([
    [0, 10],
    [4, 6],
    [8, 2],
  ]);
  expect(list.at(9)).toBe(9);
});

test("two who want the same block wait for one answer", async () => {
  const { list, server } = served(100);
  await Promise.all([list.have(0, 5), list.have(3, 9)]);
  expect(server.asked).toHaveLength(1);
});

test("who scrolls on wants nothing of what went by", async () => {
  const { list, server } = served(1000);
  list.want(0, 9);
  for (let place = 100; place <= 900; place += 100) list.want(place, place + 9);
  await vi.waitFor(() => expect(list.at(905)).toBe(905));
  expect(server.asked).toEqual([
    [0, 10],
    [900, 10],
  ]);
});

test("what was read stays while it is read anew", async () => {
  const { list, server } = served(30);
  await list.have(0, 29);
  list.want(20, 29);
  server.total = 31;
  const renewing = list.renew();
  expect(list.at(5)).toBe(5);
  await renewing;
  await vi.waitFor(() => expect(list.total).toBe(31));
  expect(list.at(5)).toBe(5);
});

test("what was added to a block is read, also where fewer come than were asked for", async () => {
  const { list, server } = served(15, 4);
  await list.have(0, 14);
  server.total = 20;
  await list.renew();
  await list.have(10, 19);
  expect([list.at(15), list.at(19)]).toEqual([15, 19]);
});

test("a list that became shorter forgets its end", async () => {
  const { list, server } = served(30);
  await list.have(0, 29);
  server.total = 12;
  await list.renew();
  expect([list.total, list.at(11), list.at(12)]).toEqual([12, 11, undefined]);
});

test("a block that cannot be had is told, and what is there stays", async () => {
  const { list, server } = served(30);
  await list.have(0, 9);
  server.isDown = true;
  await list.have(10, 19);
  expect([list.trouble, list.at(3), list.at(13)]).toEqual(["no answer", 3, undefined]);
  server.isDown = false;
  await list.have(10, 19);
  expect([list.trouble, list.at(13)]).toEqual([null, 13]);
});

test("what was read in another way is taken in", () => {
  const { list, server } = served(100);
  list.take({ start: 40, total: 100, items: [40, 41] });
  expect([list.isKnown, list.at(41), server.asked.length]).toEqual([true, 41, 0]);
});

test("what is far from the eye is forgotten when there is too much", async () => {
  const { list } = served(10_000);
  list.take({ start: 0, total: 10_000, items: Array.from({ length: 4000 }, (_, place) => place) });
  list.want(3500, 3510);
  await vi.waitFor(() => expect(list.at(0)).toBeUndefined());
  expect([list.at(3505), list.at(3000), list.at(2000)]).toEqual([3505, 3000, undefined]);
});
