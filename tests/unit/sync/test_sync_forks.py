"""Sessions that are forked, resumed into new files, rewound, cut and deleted: each request counts once."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from geminids.library import Library
from geminids.query.usage.stats import StatsQuestion
from tests.conftest import NOW
from tests.support.claude_lines import Line, reply, user, words, write
from tests.support.indexes import assert_equals_a_fresh_build

pytestmark = pytest.mark.usefixtures("without_copies")

STEPS = 16


class Disk:
    """A home of Claude Code, as a person and the agent change it."""

    def __init__(self, home: Path, seed: int) -> None:
        self.home = home
        self.files: dict[str, list[Line]] = {}
        self._random = random.Random(seed)
        self._count = 0
        self._second = 0

    def change(self) -> None:
        """Do one thing that happens to sessions."""
        names = list(self.files)
        name = self._random.choice(names) if names else None
        what = self._random.choice([self._grow, self._grow, self._fork, self._fork, self._resume_of_old])
        what = self._random.choice([what, what, self._rewind, self._cut, self._delete])
        if name is None or self._random.random() < 0.2:
            name = self._id()
            self.files[name] = self._turn(name, None)
        else:
            what(name)
        for path in self.home.glob(".claude/projects/*/*.jsonl"):
            if path.stem not in self.files:
                path.unlink()
        for kept, lines in self.files.items():
            write(self.home, *lines, name=f"{kept}.jsonl")

    def billed(self) -> dict[str, int]:
        """The tokens of each request that is still on the disk."""
        return {
            line["message"]["id"]: sum(line["message"]["usage"].values())
            for lines in self.files.values()
            for line in lines
            if line["type"] == "assistant"
        }

    def _id(self) -> str:
        self._count += 1
        return f"{self._random.getrandbits(32):08x}-0000-4000-8000-{self._count:012}"

    def _turn(self, name: str, parent: str | None) -> list[Line]:
        self._second += self._random.choice([5, 50, 500])
        prompt, answer = self._id(), self._id()
        usage = {
            "input_tokens": self._random.randrange(1, 999),
            "output_tokens": self._random.randrange(1, 99),
        }
        return [
            user(prompt, parent, f"prompt {prompt}", self._second, sessionId=name),
            reply(
                answer,
                prompt,
                words("Done."),
                reply_id=f"msg_{self._count}",
                second=self._second + 1,
                usage=usage,
                sessionId=name,
            ),
        ]

    def _grow(self, name: str) -> None:
        self.files[name] += self._turn(name, self._tree(name)[-1]["uuid"])

    def _rewind(self, name: str) -> None:
        replies = [line["uuid"] for line in self._tree(name) if line["type"] == "assistant"]
        self.files[name] += self._turn(name, self._random.choice([None, *replies]))

    def _cut(self, name: str) -> None:
        lines = self.files[name]
        self.files[name] = lines[: max(1, self._random.randrange(len(lines)))]

    def _delete(self, name: str) -> None:
        if len(self.files) > 1:
            del self.files[name]

    def _fork(self, name: str) -> None:
        """As 2.1 does: its own beginning, then copies with the same ids and times."""
        new = self._id()
        copies = [{**line, "sessionId": new} for line in self._current(name)]
        turn = self._turn(new, copies[-1]["uuid"])
        begun = {"type": "queue-operation", "operation": "enqueue", "timestamp": turn[0]["timestamp"]}
        self.files[new] = [{**begun, "sessionId": new}, *copies, *turn]

    def _resume_of_old(self, name: str) -> None:
        """As 1.0 did: a new file with copies that have new ids and times, and no name of the request."""
        new, ids, copies = self._id(), dict[str, str](), list[Line]()
        self._second += 10
        for line in self._current(name):
            ids[line["uuid"]] = self._id()
            changes = {"uuid": ids[line["uuid"]], "parentUuid": ids.get(line["parentUuid"]), "sessionId": new}
            copy = {**line, **changes, "timestamp": user("", None, "", self._second)["timestamp"]}
            copy.pop("requestId", None)
            copies.append(copy)
        self.files[new] = copies + self._turn(new, copies[-1]["uuid"])

    def _tree(self, name: str) -> list[Line]:
        return [line for line in self.files[name] if "uuid" in line] or self._turn(name, None)

    def _current(self, name: str) -> list[Line]:
        """The way from the last line to the root."""
        by_id = {line["uuid"]: line for line in self._tree(name)}
        way = list(_way(by_id, self._tree(name)[-1]["uuid"]))
        return [line for line in self._tree(name) if line["uuid"] in way]


def _way(by_id: dict[str, Line], leaf: str | None) -> Iterator[str]:
    while leaf is not None and leaf in by_id:
        yield leaf
        leaf = by_id[leaf]["parentUuid"]


@pytest.mark.parametrize("seed", range(10))
def test_each_request_counts_once_whatever_happens(seed: int, tmp_path: Path) -> None:
    disk, data = Disk(tmp_path / "home", seed), tmp_path / "data"
    for _ in range(STEPS):
        disk.change()
        with Library([disk.home], data) as library:
            total = library.stats(StatsQuestion(), NOW).total
            listed = [summary.usage.total for summary in library.sessions()]
        billed = disk.billed()
        assert (total.tokens.requests, total.tokens.total or 0) == (len(billed), sum(billed.values()))
        assert sum(number or 0 for number in listed) == sum(billed.values())
    assert_equals_a_fresh_build([disk.home], data, tmp_path / "fresh")


def test_a_copy_that_lost_its_numbers_is_not_the_one_that_counts(tmp_path: Path) -> None:
    first, second = "1" * 8 + "-0000-4000-8000-000000000001", "0" * 8 + "-0000-4000-8000-000000000002"
    nothing = {"input_tokens": 0, "output_tokens": 0}
    told = user("u", None, "Hello?")
    write(tmp_path, told, reply("a", "u", words("Hi."), reply_id="m", second=1), name=f"{first}.jsonl")
    copy = reply("a", "u", words("Hi."), reply_id="m", second=1, usage=nothing)
    write(tmp_path, told, copy, name=f"{second}.jsonl")
    with Library([tmp_path], tmp_path / "data") as library:
        assert library.stats(StatsQuestion(), NOW).total.tokens.total == 12


def test_what_only_a_subagent_did_counts(tmp_path: Path) -> None:
    """A request that its parent's file holds too does not take the others with it."""
    parent = "1" * 8 + "-0000-4000-8000-000000000001"

    def lines(*ids: str) -> list[Line]:
        told = [user("u" + "".join(ids), None, "Go", isSidechain=len(ids) > 1)]
        for number, one in enumerate(ids):
            more = {"isSidechain": len(ids) > 1, "second": number + 1}
            told.append(reply(f"{one}-{len(ids)}", told[-1]["uuid"], words(one), reply_id=one, **more))
        return told

    write(tmp_path, *lines("x"), name=f"{parent}.jsonl")
    write(tmp_path, *lines("a", "b", "x", "c"), name="agent-0a1b2c3d.jsonl")
    with Library([tmp_path], tmp_path / "data") as library:
        assert library.stats(StatsQuestion(), NOW).total.tokens.requests == 4


@pytest.mark.parametrize("forks", [400])
def test_of_many_forks_one_has_what_they_share(forks: int, tmp_path: Path) -> None:
    lines = [user("u", None, "Hello?"), reply("a", "u", words("Hi."), reply_id="m", second=1)]
    for number in range(forks):
        own = reply(f"b{number}", "a", words("More."), reply_id=f"n{number}", second=2 + number)
        write(tmp_path, *lines, own, name=f"{number:08x}-0000-4000-8000-000000000000.jsonl")
    with Library([tmp_path], tmp_path / "data") as library:
        assert library.stats(StatsQuestion(), NOW).total.tokens.requests == forks + 1
        assert sum(agent.copies for agent in library.explain(StatsQuestion(), NOW).agents) == forks - 1
