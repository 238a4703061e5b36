"""Commands that write are killed, or their disk fails; then everything that was durable must be there.

An episode is a machine of its own on which many rounds follow each other, as on one that crashes often. After
each round: the next command answers, every session is listed or forgotten, every copy that was kept reads
back, what was said of sessions stands, what was written is whole or not there, agents' files are untouched.
"""

from __future__ import annotations

import errno
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from tests.faults.machine import (
    ROUNDS_AN_EPISODE,
    BrokenPromiseError,
    Ended,
    Machine,
    Strike,
    load_everything,
    rounds_random,
    state_of,
)

ERRORS = (errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES)
NOTHING_FOUND = 1
"""The exit code where nothing is forgotten."""
LIST = ".geminids-export.json"
AT_A_CALL = 0.75
"""How many of the kills strike at a call; the others come at any time."""


class Stock(NamedTuple):
    """What a machine has, as its commands tell it."""

    listed: dict[str, dict[str, Any]]
    """Sessions by their ids, with their marks."""
    forgotten: frozenset[str]
    copies: dict[str, list[str]]
    agents: dict[str, tuple[str, int, int]]


class Deed(NamedTuple):
    """A command that writes, and what may differ afterwards."""

    name: str
    line: tuple[object, ...]
    session: str | None = None
    """The one that may be forgotten, come back, or be marked."""
    adds_files: bool = False
    """Whether it may add files to agents' folders."""
    check: Callable[[], None] = lambda: None
    """What else must hold, however far it came."""
    finish: tuple[object, ...] = ()
    """The command that must succeed afterwards and tidy up; else the same again."""
    can_finish: bool = True
    """Whether there is such a command: what is forgotten cannot be forgotten again."""
    target: Path | None = None
    """Where nothing half-written may be left then."""


class Episode:
    """Rounds on one machine."""

    def __init__(self, campaign: str, seed: int, number: int, folder: Path) -> None:
        self.campaign, self.seed = campaign, seed
        self.rounds = range(number * ROUNDS_AN_EPISODE, (number + 1) * ROUNDS_AN_EPISODE)
        self.machine = Machine(folder / "machine")
        self.elsewhere = folder / "elsewhere.tar"
        self._make(folder, rounds_random(campaign, seed, -number - 1))
        self.usual_calls: dict[str, int] = {}

    def _make(self, folder: Path, random: Random) -> None:
        other = Machine(folder / "other")
        other.settle(f"From elsewhere {random.random()}")
        other.run("sync")
        other.must("keep", "export", self.elsewhere)
        self.machine.settle()
        load_everything()
        self.machine.must("sync")
        self.machine.must("key", "new", "--issuer", "Ada")
        # Some sessions live in their copies alone.
        for path in random.sample(self.machine.session_files(), 2):
            path.unlink()

    def play(self) -> Iterator[tuple[int, str]]:
        """Play all rounds; the number of each, and what was done. Raises BrokenPromiseError."""
        before = self.stock()
        for number in self.rounds:
            random = rounds_random(self.campaign, self.seed, number)
            self._let_agents_write(random)
            before = before._replace(agents=state_of(self.machine.home))
            deed = self._deed(number, random, before)
            strike = self._strike(random, deed)
            try:
                ended = self.machine.run(*deed.line, strike=strike)
                self._check_ending(ended)
                before = self._check(deed, before)
                before = self._check_finished(deed, before)
            except BrokenPromiseError as error:
                raise BrokenPromiseError(f"round {number}, {deed.line} with {strike}: {error}") from error
            yield (
                number,
                f"{deed.name} {ended.code} at call {strike.call} of about {self.usual_calls.get(deed.name)}",
            )

    def stock(self) -> Stock:
        """What there is now."""
        machine = self.machine
        listed = {line["id"]: line for line in machine.ask("list", "--kind", "all")["sessions"]}
        return Stock(listed, self._forgotten(), machine.copies(), state_of(machine.home))

    def _forgotten(self) -> frozenset[str]:
        ended = self.machine.run("forget", "--list", "--json")
        if ended.has_bug or ended.code not in (0, NOTHING_FOUND):
            raise BrokenPromiseError(f"what is forgotten: exit {ended.code}\n{ended.err}")
        return (
            frozenset(line["id"] for line in ended.document()["sessions"]) if not ended.code else frozenset()
        )

    def _let_agents_write(self, random: Random) -> None:
        """An agent may go on with a session, or delete one that has long been kept."""
        files = self.machine.session_files()
        if files and random.random() < 0.5:
            path = random.choice(files)
            last = path.read_bytes().splitlines(keepends=True)[-1]
            words = f"Word {random.random()}".encode()
            path.write_bytes(
                path.read_bytes() + last.replace(b"Done.", words).replace(b'"id": "g-', b'"id": "h-')
            )

    def _strike(self, random: Random, deed: Deed) -> Strike:
        usual = self.usual_calls.get(deed.name) or self._count(deed)
        call = random.randint(1, max(usual, 1))
        if self.campaign == "failing":
            return Strike(call, random.choice(ERRORS), goes_on=random.random() < 0.5)
        if random.random() < AT_A_CALL:
            return Strike(call)
        return Strike(seconds=random.uniform(0.002, 0.25))

    def _count(self, deed: Deed) -> int:
        """How many calls it takes, tried on a copy of the data that is put back."""
        machine = self.machine
        spare = [
            (path, path.with_name(f"{path.name}-spare")) for path in (machine.data, machine.home, machine.out)
        ]
        for path, copy in spare:
            shutil.copytree(path, copy, symlinks=True)
        self.usual_calls[deed.name] = machine.run(*deed.line).calls
        for path, copy in spare:
            shutil.rmtree(path)
            copy.rename(path)
        return self.usual_calls[deed.name]

    @staticmethod
    def _check_ending(ended: Ended) -> None:
        # One that was killed may have been at anything; one that was not must have ended as a command does.
        if ended.has_bug and ended.code != -signal.SIGKILL:
            raise BrokenPromiseError(str(ended))

    def _check(self, deed: Deed, before: Stock) -> Stock:
        now = self.stock()
        self._check_sessions(deed, before, now)
        self._check_copies(deed, before, now)
        self._check_agents(deed, before, now)
        deed.check()
        return now

    def _check_sessions(self, deed: Deed, before: Stock, now: Stock) -> None:
        known = before.listed.keys() | before.forgotten
        for session in known:
            is_listed, is_forgotten = session in now.listed, session in now.forgotten
            if is_listed == is_forgotten:
                raise BrokenPromiseError(f"{session} is listed: {is_listed}, forgotten: {is_forgotten}")
            led_by = before.listed.get(session, now.listed.get(session, {})).get("parent_id")
            if is_listed != (session in before.listed) and deed.session not in (session, led_by):
                raise BrokenPromiseError(f"{session} changed sides")
            if is_listed and session in before.listed and session != deed.session:
                self._check_marks(before.listed[session], now.listed[session])

    @staticmethod
    def _check_marks(before: dict[str, Any], now: dict[str, Any]) -> None:
        for field in ("name", "tags", "notes"):
            if before[field] != now[field]:
                raise BrokenPromiseError(f"{field} of {now['id']}: {before[field]} became {now[field]}")

    @staticmethod
    def _check_copies(deed: Deed, before: Stock, now: Stock) -> None:
        gone = {session.partition(":")[2][:8] for session in now.forgotten}
        for path, digests in before.copies.items():
            grown = len(now.copies.get(path, [])) >= len(digests)
            lost = set(digests[:-1]) - set(now.copies.get(path, []))
            # What is forgotten goes; what an import brought of it again, too.
            if (lost or not grown) and not any(native in path for native in gone):
                raise BrokenPromiseError(
                    f"copies of {path} are lost: {digests} became {now.copies.get(path)}"
                )

    @staticmethod
    def _check_agents(deed: Deed, before: Stock, now: Stock) -> None:
        changed = {path for path in before.agents if now.agents.get(path) != before.agents[path]}
        added = now.agents.keys() - before.agents.keys()
        if changed or (added and not deed.adds_files):
            raise BrokenPromiseError(f"agents' files: changed {changed}, added {added}")

    def _check_finished(self, deed: Deed, before: Stock) -> Stock:
        """The same command again, unharmed, does what is left to do, and nothing is in its way."""
        if not deed.can_finish:
            return before
        self.machine.must(*(deed.finish or deed.line))
        now = self._check(deed, before)
        if deed.target and (left := list(deed.target.rglob("*.part"))):
            raise BrokenPromiseError(f"left behind: {left}")
        return now

    def _deed(self, number: int, random: Random, before: Stock) -> Deed:
        deeds: list[Callable[[int, Random, Stock], Deed]] = [
            self._syncing,
            self._syncing,
            self._verifying,
            self._forgetting,
            self._coming_back,
            self._marking,
            self._exporting,
            self._attesting,
            self._packing_up,
            self._taking_over,
            self._restoring,
        ]
        return random.choice(deeds)(number, random, before)

    def _syncing(self, _: int, random: Random, __: Stock) -> Deed:
        line = random.choice([("sync",), ("sync", "--full"), ("list",)])
        if random.random() < 0.3:
            shutil.rmtree(self.machine.data / "index", ignore_errors=True)
        return Deed(" ".join(line), line)

    def _verifying(self, *_: object) -> Deed:
        return Deed("keep verify", ("keep", "verify"))

    def _forgetting(self, number: int, random: Random, before: Stock) -> Deed:
        if len(before.listed) < 5:
            return self._coming_back(number, random, before)
        session = random.choice(sorted(before.listed))
        return Deed("forget", ("forget", session, "--yes"), session, can_finish=False)

    def _coming_back(self, number: int, random: Random, before: Stock) -> Deed:
        # What lived in its copy alone is gone for good: that is what forgetting is for.
        candidates = sorted(session for session in before.forgotten if self._has_file(session))
        if not candidates:
            return self._marking(number, random, before)
        session = random.choice(candidates)
        return Deed("forget --undo", ("forget", "--undo", session), session, can_finish=False)

    def _has_file(self, session: str) -> bool:
        native = session.partition(":")[2]
        return any(native[:8] in path.name for path in self.machine.home.rglob("*.jsonl"))

    def _marking(self, number: int, random: Random, before: Stock) -> Deed:
        session = random.choice(sorted(before.listed))
        options = [("--tag", f"t{number}"), ("--name", f"Name {number}"), ("--note", f"Note {number}")]
        chosen = random.sample(options, random.randint(1, 3))
        line = ("mark", session, *(word for option in chosen for word in option))

        def check() -> None:
            self._check_one_mark(before.listed[session], dict(chosen), session)

        return Deed("mark", line, session, check=check, can_finish=False)

    def _check_one_mark(self, before: dict[str, Any], asked: dict[str, str], session: str) -> None:
        """All that was said, or nothing of it."""
        now = next(
            line for line in self.machine.ask("list", "--kind", "all")["sessions"] if line["id"] == session
        )
        done = {
            "--tag": asked.get("--tag") in now["tags"],
            "--name": now["name"] == asked.get("--name"),
            "--note": len(now["notes"]) == len(before["notes"]) + 1,
        }
        if len({done[option] for option in asked}) != 1:
            raise BrokenPromiseError(f"of {asked} only a part was taken: {done}")
        if not set(before["tags"]) <= set(now["tags"]) or len(now["notes"]) < len(before["notes"]):
            raise BrokenPromiseError(f"marks of {session} are lost: {before} became {now}")

    def _exporting(self, number: int, random: Random, _: Stock) -> Deed:
        kind = random.choice(["html", "markdown", "jsonl"])
        target = self.machine.out / f"export-{number}"
        model = self.machine.out / f"model-{number}"
        self.machine.must("export", "--all", "-f", kind, "-o", f"{model}/")
        whole = {path: state[0] for path, state in state_of(model).items()}
        shutil.rmtree(model)

        def check() -> None:
            for path, (digest, _, _) in state_of(target).items():
                # The list of what is ours grows with the files.
                if path != LIST and not path.endswith(".part") and whole.get(path) != digest:
                    raise BrokenPromiseError(f"{path} was exported in part")

        return Deed("export", ("export", "--all", "-f", kind, "-o", f"{target}/"), check=check, target=target)

    def _attesting(self, *_: object) -> Deed:
        folder = self.machine.out / "statements"

        def check() -> None:
            if folder.is_dir() and any(folder.rglob("*.acr")):
                self.machine.must("verify", folder)

        return Deed("attest", ("attest", "--all", "-o", f"{folder}/"), check=check, target=folder)

    def _packing_up(self, number: int, *_: object) -> Deed:
        folder = self.machine.out / "packed"
        folder.mkdir(exist_ok=True)
        target = folder / f"{number}.tar"

        def check() -> None:
            if target.exists():
                other = Machine(self.machine.folder / "read-back")
                other.must("keep", "import", target)
                shutil.rmtree(other.folder)

        again = ("keep", "export", folder / f"{number}-again.tar")
        return Deed("keep export", ("keep", "export", target), check=check, finish=again, target=folder)

    def _taking_over(self, *_: object) -> Deed:
        return Deed("keep import", ("keep", "import", self.elsewhere))

    def _restoring(self, number: int, random: Random, before: Stock) -> Deed:
        kept = sorted(session for session, line in before.listed.items() if line["kept"])
        if not kept:
            return self._marking(number, random, before)
        session = random.choice(kept)
        if random.random() < 0.5:
            target = self.machine.out / f"restored-{number}"
            return Deed("restore --to", ("restore", session, "--yes", "--to", target), can_finish=False)
        return self._putting_back(session)

    def _putting_back(self, session: str) -> Deed:
        """Into the agent's folder; afterwards the agent deletes it again."""
        was_there = set(state_of(self.machine.home))
        self.machine.must("restore", session, "--yes")
        whole = set(self._taken_away(was_there).values())

        def check() -> None:
            left = self._taken_away(was_there)
            if torn := [path for path, digest in left.items() if digest not in whole]:
                raise BrokenPromiseError(f"restored in part: {torn}")

        return Deed("restore", ("restore", session, "--yes"), adds_files=True, check=check, can_finish=False)

    def _taken_away(self, was_there: set[str]) -> dict[str, str]:
        added = {
            path: state[0] for path, state in state_of(self.machine.home).items() if path not in was_there
        }
        for path in added:
            (self.machine.home / path).unlink()
        return {path: digest for path, digest in added.items() if not path.endswith(".part")}
