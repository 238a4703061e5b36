"""Where every byte of a file went: into a record that was used, past us for a reason, or into a problem.

The readers put into a log what they find in a file. What a record is, and what is made of it, each says for
its own agent.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from geminids.core.agents.base import FoundFile, Reading
from geminids.core.agents.fates import Fate
from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.model import FileAccount, Location, Problem, ProblemKind, Session, Tally
from geminids.reading.bounded import Text
from geminids.reading.jsonl import HALVED, Decoded, decode, in_whole_characters
from geminids.reading.texts import unreadable

MOST_PROBLEMS = 1_000
"""Of one file; of what goes beyond, the last one stands for all: more would tell nobody anything."""
NAME = lazy_pattern(r"[\w$./-]{1,60}")
"""What the name of a kind or a field looks like."""


class FileLog:
    """What was written in one file, byte by byte."""

    field_name: ClassVar[re.Pattern[str]] = NAME

    def __init__(self, path: str, file_format: str, size: int, *, keeps_halves: bool = False) -> None:
        self.path = path
        self.format = file_format
        self.size = size
        self._problems: list[Problem] = []
        self.keeps_halves = keeps_halves
        """Whether halves of characters stay what they are, as the agent itself would read them."""
        self.has_halves = False
        """Whether there are any."""
        self._layout = 0
        self._further = self._further_from = 0
        self._last: Problem | None = None
        self._used: dict[str, list[int]] = {}
        self._ignored: dict[str, list[int]] = {}
        self._problem: dict[str, list[int]] = {}
        self._unknown_fields: Counter[str] = Counter()

    @property
    def problems(self) -> list[Problem]:
        """What could not be read; of very many problems, the first ones and how many more there are."""
        last = self._last
        if last is None:
            return self._problems
        detail = f"{self._further:,} more problems up to here, the last one: {last.detail}"
        return [*self._problems, msgspec.structs.replace(last, detail=detail, start=self._further_from)]

    @property
    def era(self) -> str:
        """Which of the agent's ways of writing this is."""
        return "unknown"

    def count_use(self, kind: str, size: int) -> None:
        """Count a record that was read and understood."""
        count(self._used, kind, size)

    def count_layout(self, size: int) -> None:
        """Count bytes between records: line endings, commas, indentation."""
        self._layout += size

    def ignore(self, reason: str, size: int) -> None:
        """Count bytes that mean nothing to us, and why."""
        count(self._ignored, reason, size)

    def report(self, kind: ProblemKind, detail: str, line: int | None, start: int, end: int) -> None:
        """Note bytes that could not be read."""
        count(self._problem, kind, end - start)
        self.remark(kind, detail, line, start, end)

    def report_gaps(self, text: Text) -> None:
        """Note what was not even read."""
        for gap in text.gaps:
            self.report(gap.kind, gap.detail, None, gap.start, gap.end)

    def remark(self, kind: ProblemKind, detail: str, line: int | None, start: int, end: int) -> None:
        """Note a problem with bytes that were read all the same."""
        # Of what stands behind bytes that nobody read, the line is not known.
        self.note(Problem(self.path, kind, detail, line or None, start, end))

    def note(self, problem: Problem) -> None:
        """Note a problem; of very many, only how many there are."""
        if len(self._problems) < MOST_PROBLEMS:
            self._problems.append(problem)
        else:
            self._further += 1
            self._last = problem
            start = problem.start or 0
            self._further_from = start if self._further == 1 else min(start, self._further_from)

    def forgive(self, raw: bytes, place: Location) -> Decoded:
        """The value of bytes that the fast decoder refused; raises UndecodableError."""
        decoded = decode(raw, keep_halves=self.keeps_halves)
        forgiven = decoded.forgiven or ""
        self.has_halves = self.has_halves or HALVED in forgiven
        self.remark(ProblemKind.BAD_TEXT, forgiven, place.line, place.start, place.end)
        return decoded

    def name_halves(self, raw: bytes, place: Location) -> None:
        """Note half a character in bytes that were read from a damaged place all the same."""
        if in_whole_characters(raw) != raw:
            self.has_halves = True
            self.remark(ProblemKind.BAD_TEXT, HALVED, place.line, place.start, place.end)

    def _note_fields(self, name: str, known: frozenset[str], value: dict[str, Any]) -> None:
        """Count the fields of a value that we have no name for."""
        if not known.issuperset(value):
            unknown = value.keys() - known
            self._unknown_fields.update(f"{name}.{printable(field, self.field_name)}" for field in unknown)

    def account(self) -> FileAccount:
        """Where every byte of the file went."""
        return FileAccount(
            self.path,
            self.format,
            self.era,
            self.size,
            _tallies(self._used | ({"layout": [0, self._layout]} if self._layout else {})),
            _tallies(self._ignored),
            _tallies(self._problem),
            dict(sorted(self._unknown_fields.items())),
        )


def printable(name: str, pattern: re.Pattern[str] = NAME) -> str:
    """The name of a kind or a field, if it looks like one: reports must not show what people wrote."""
    return name if pattern.fullmatch(name) else f"a name of {len(name)} characters"


def count(counted: dict[str, list[int]], name: str, size: int) -> None:
    """One record more; lists, because this is done for every record there is."""
    tally = counted.get(name)
    if tally is None:
        counted[name] = [1, size]
    else:
        tally[0] += 1
        tally[1] += size


def _tallies(counted: dict[str, list[int]]) -> dict[str, Tally]:
    return {str(name): Tally(records, size) for name, (records, size) in counted.items()}


def refused(
    file: FoundFile, error: OSError, file_format: str = "unknown", era: str = "unknown"
) -> tuple[FileAccount, Problem]:
    """What is known of a file that the operating system refused."""
    tally = {str(ProblemKind.UNREADABLE): Tally(1, file.size)}
    account = FileAccount(str(file.path), file_format, era, file.size, {}, {}, tally, {})
    return account, unreadable(str(file.path), error)


def given_file(path: Path) -> FoundFile:
    """A file given by hand, as if it had been found in a home. Raises OSError."""
    facts = path.stat()
    return FoundFile(path, facts.st_size, facts.st_mtime_ns, facts.st_ino)


def reading_of(
    sessions: Sequence[Session],
    accounts: Iterable[FileAccount],
    problems: Iterable[Problem],
    fates: Iterable[Fate] = (),
) -> Reading:
    """What was read of a bundle, with each problem of its files and its sessions once."""
    every = dict.fromkeys([*problems, *(problem for session in sessions for problem in session.problems)])
    return Reading(tuple(sessions), tuple(accounts), tuple(every), fates=tuple(fates))
