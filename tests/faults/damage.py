"""Every file of the data folder is damaged in every way that disks and people know; then everything is asked.

What a command answers is what it answered before, or damage is said: on stderr, or by an exit code. What can
be made again is made again: the index always, the list of copies from the packs, copies from files that are
still there. A copy is never anything but what was kept, and the agents' own folders are never touched.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from tests.faults.machine import (
    ROUNDS_AN_EPISODE,
    BrokenPromiseError,
    Ended,
    Machine,
    load_everything,
    rounds_random,
    state_of,
)

PAGE = 4096
TOLD = ("id", "title", "name", "tags", "notes", "kept")
QUIET_CODES = (0, 1)
"""Of commands that do not say that something is wrong."""
WEIGHTY = (".db", ".pack", ".bak", ".db-wal")
"""Endings of the files that hold something; locks and such are hit less often."""


def flip(content: bytearray, random: Random) -> bytes:
    """One bit is another."""
    if content:
        content[random.randrange(len(content))] ^= 1 << random.randrange(8)
    return bytes(content)


def smear(content: bytearray, random: Random) -> bytes:
    """Some bytes are others."""
    start = random.randrange(len(content) or 1)
    length = random.randint(2, 64)
    return bytes(content[:start]) + random.randbytes(length) + bytes(content[start + length :])


def zero_page(content: bytearray, random: Random) -> bytes:
    """A page is empty."""
    start = random.randrange(0, len(content) or 1, PAGE)
    return bytes(content[:start]) + bytes(len(content[start : start + PAGE])) + bytes(content[start + PAGE :])


def repeat_page(content: bytearray, random: Random) -> bytes:
    """A page stands where another belongs."""
    one, other = (random.randrange(0, len(content) or 1, PAGE) for _ in range(2))
    page = content[one : one + PAGE]
    return bytes(content[:other]) + bytes(page) + bytes(content[other + len(page) :])


def cut(content: bytearray, random: Random) -> bytes:
    """The end is missing."""
    return bytes(content[: random.randrange(len(content) or 1)])


def cut_to_little(content: bytearray, random: Random) -> bytes:
    """Nearly all of it is missing."""
    return bytes(content[: random.randrange(30)])


def empty(_: bytearray, __: Random) -> bytes:
    """Nothing is left."""
    return b""


def lengthen(content: bytearray, random: Random) -> bytes:
    """Something else follows."""
    return bytes(content) + random.choice([random.randbytes(500), bytes(PAGE), bytes(content)])


CHANGES: tuple[Callable[[bytearray, Random], bytes], ...] = (
    flip,
    flip,
    smear,
    zero_page,
    repeat_page,
    cut,
    cut_to_little,
    empty,
    lengthen,
)
REPLACEMENTS = ("gone", "folder", "link to nothing", "named pipe")


def replace(path: Path, how: str) -> None:
    """Something else is there, or nothing."""
    path.unlink()
    if how == "folder":
        path.mkdir()
    elif how == "link to nothing":
        path.symlink_to("nothing")
    elif how == "named pipe":
        os.mkfifo(path)


class Answers(NamedTuple):
    """What a machine tells of everything."""

    listed: list[dict[str, Any]]
    found: list[str]
    shown: str
    totals: Any
    marked: Any
    forgotten: list[str]


class Said:
    """What was said that nobody says on a sound machine."""

    def __init__(self, usual: Collection[str] = ()) -> None:
        self.words: list[str] = []
        self._usual = usual

    def hear(self, ended: Ended) -> None:
        """Take in what a command said: its talk, and an exit code that tells of trouble."""
        told = [line for line in ended.err.splitlines() if line.strip()]
        if ended.code not in QUIET_CODES:
            told.append(f"exit {ended.code}")
        self.words += [line for line in told if line not in self._usual]


class Episode:
    """Rounds that all begin with the same sound machine."""

    def __init__(self, campaign: str, seed: int, number: int, folder: Path) -> None:
        self.campaign, self.seed = campaign, seed
        self.rounds = range(number * ROUNDS_AN_EPISODE, (number + 1) * ROUNDS_AN_EPISODE)
        self.machine = Machine(folder / "machine")
        self._make()
        self.sound = folder / "sound"
        shutil.copytree(self.machine.data, self.sound)
        usual = Said()
        self.answers = self._answers(usual)
        self.copies = self.machine.copies()
        self.agents = state_of(self.machine.home)
        self._check(usual, Random(0))
        self.usual = frozenset(usual.words)
        shutil.rmtree(self.machine.data)

    def _make(self) -> None:
        machine = self.machine
        machine.settle()
        load_everything()
        machine.run("sync")
        listed = [line["id"] for line in machine.ask("list")["sessions"]]
        self.gone, self.stays, self.forgotten = (f"gemini:{number + 1}c0ffee{number}" for number in range(3))
        for line in (
            ("key", "new", "--issuer", "Ada"),
            ("mark", self.gone, "--tag", "harbour", "--name", "The harbour", "--note", "Read it again"),
            ("mark", listed[0], "--tag", "first"),
            ("forget", self.forgotten, "--yes"),
            ("mark", self.stays, "--note", "Still there"),
            ("list",),
        ):
            machine.must(*line)
        # One lives in its copy alone.
        machine.session_files()[0].unlink()
        machine.run("list")

    def _answers(self, said: Said) -> Answers:
        """Ask everything, and note what is said of damage."""
        ask = self._asker(said)
        listed = ask("list", "--kind", "all") or {"sessions": []}
        found = ask("search", "harbour") or {"hits": []}
        forgotten = ask("forget", "--list") or {"sessions": []}
        return Answers(
            [
                {key: line[key] for key in ("id", "title", "name", "tags", "notes", "kept")}
                for line in listed["sessions"]
            ],
            sorted({hit["session"]["id"] for hit in found["hits"]}),
            str(ask("show", self.gone, "--all")),
            ask("stats"),
            ask("mark"),
            sorted(line["id"] for line in forgotten["sessions"]),
        )

    def _asker(self, said: Said) -> Callable[..., Any]:
        def ask(*line: object) -> Any:
            ended = self._run(said, *line, "--json")
            return ended.document() if ended.out.strip() else None

        return ask

    def _run(self, said: Said, *line: object) -> Ended:
        ended = self.machine.run(*line)
        said.hear(ended)
        if ended.has_bug:
            raise BrokenPromiseError(f"{line}: {ended}")
        return ended

    def play(self) -> Iterator[tuple[int, str]]:
        """Play all rounds; the number of each, and what was done. Raises BrokenPromiseError."""
        for number in self.rounds:
            random = rounds_random(self.campaign, self.seed, number)
            shutil.copytree(self.sound, self.machine.data)
            try:
                harm = self._harm(random)
                said = Said(self.usual)
                try:
                    self._check(said, random)
                except BrokenPromiseError as error:
                    words = "\n  ".join(said.words)
                    raise BrokenPromiseError(f"round {number}, {harm}: {error}\nsaid:\n  {words}") from error
            finally:
                shutil.rmtree(self.machine.data)
            yield number, f"{harm}; {'said' if said.words else 'not said'}"

    def _harm(self, random: Random) -> str:
        data = self.machine.data
        files = sorted(path for path in data.rglob("*") if path.is_file())
        heavy = [path for path in files if path.suffix in WEIGHTY]
        path = random.choice(heavy if random.random() < 0.7 else files)
        name = path.relative_to(data)
        if random.random() < 0.2:
            how = random.choice(REPLACEMENTS)
            replace(path, how)
            return f"{name}: {how}"
        change = random.choice(CHANGES)
        facts = path.stat()
        path.write_bytes(change(bytearray(path.read_bytes()), random))
        if random.random() < 0.5:
            # A disk that forgets does not touch the time of a file.
            os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))
        return f"{name}: {change.__name__}"

    def _check(self, said: Said, random: Random) -> None:
        if random.random() < 0.5:
            self._check_answers(said)
            self._run(said, "keep", "verify")
        else:
            self._run(said, "keep", "verify")
            self._check_answers(said)
        self._run(said, "sync")
        self._run(said, "mark", self.stays, "--tag", "afterwards")
        self._run(said, "doctor")
        self._check_copies(said)
        if state_of(self.machine.home) != self.agents:
            raise BrokenPromiseError("agents' files were touched")

    def _check_answers(self, said: Said) -> None:
        now = self._answers(said)
        differing = [
            name
            for name, before, after in zip(Answers._fields, self.answers, now, strict=True)
            if before != after
        ]
        if differing and not said.words:
            raise BrokenPromiseError(f"without a word {differing} differ: {now}")
        expected = {line["id"] for line in self.answers.listed if not line["kept"]}
        if lost := expected - {line["id"] for line in now.listed}:
            again = Said()
            if lost := expected - {line["id"] for line in self._answers(again).listed}:
                raise BrokenPromiseError(f"files are there, sessions are not: {lost}, {again.words}")

    def _check_copies(self, said: Said) -> None:
        now = self.machine.copies_that_can_be_read()
        for path, digests in now.items():
            if wrong := set(digests) - set(self.copies.get(path, [])):
                raise BrokenPromiseError(f"a copy of {path} is what was never kept: {wrong}")
        if now != self.copies and not said.words:
            raise BrokenPromiseError("copies are lost without a word")
