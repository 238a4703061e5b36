"""Whose the lines of a file are, change by change, as far as the changes tell.

A file is known whole, or only in those lines that diffs have shown, each at its place. A change that does not
fit what is known shows that somebody else was at the file: what stood there before is forgotten, since nobody
knows where it is now.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

_NUMBERS = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
MOST_COMPARED = 4_000_000
"""Pairs of lines; where two texts differ in more, all from the first to the last that differs are new."""
LAST_LINE = 1_000_000
"""Numbers of lines that are larger are no evidence of anything."""


class Owner(NamedTuple):
    """Who wrote a line."""

    kind: str
    """ai, human or mixed."""
    model: str | None = None


class Line(NamedTuple):
    """A line, and who wrote it in this session; None if nobody did."""

    text: str
    owner: Owner | None


class Hunk(NamedTuple):
    """A piece of a diff: lines with a sign before them."""

    first: int | None
    """The number of its first line after the change, from 1; None if the diff does not say it."""
    lines: tuple[str, ...]

    @property
    def before(self) -> list[str]:
        """The lines as they were."""
        return [line[1:] for line in self.lines if line[:1] != "+"]


class KnownFile:
    """A file as far as it is known."""

    def __init__(self) -> None:
        self._lines: list[Line | None] = []
        self._is_whole = False
        self.is_uncertain = False
        """Whether something was written that cannot be told from other lines, or may no longer be there."""

    @property
    def owned(self) -> Iterator[tuple[int, Line]]:
        """The lines that were written in this session, by their numbers from 1."""
        return ((number, line) for number, line in enumerate(self._lines, 1) if line and line.owner)

    @property
    def text(self) -> list[str] | None:
        """All lines; None if some are not known."""
        return [line.text for line in self._lines if line] if self._is_whole else None

    def begin(self) -> None:
        """Note that the file is new."""
        self._lines = []
        self._is_whole = True

    def lose(self) -> None:
        """Note that nobody can say any more which lines were written."""
        self._forget()
        self.is_uncertain = True

    def was(self, lines: Sequence[str]) -> None:
        """Note what the whole file was just before a change."""
        known = self._lines
        if self._is_whole:
            self._lines = [*_aligned([line for line in known if line], lines, None)]
            return
        fits = len(known) <= len(lines) and all(
            line is None or line.text == text for line, text in zip(known, lines, strict=False)
        )
        if not fits:
            self._forget()
        owners = [line.owner if line else None for line in self._lines]
        owners += [None] * (len(lines) - len(owners))
        self._lines = [Line(text, owner) for text, owner in zip(lines, owners, strict=True)]
        self._is_whole = True

    def becomes(self, lines: Sequence[str], hunks: Sequence[Hunk], owner: Owner | None) -> None:
        """Note what the whole file is after a change: lines that were not there before are the owner's."""
        if self._is_whole:
            self._lines = [*_aligned([line for line in self._lines if line], lines, owner)]
            return
        added = _added_numbers(lines, hunks)
        self._forget()
        self._lines = [
            Line(text, owner if added is None or number in added else None)
            for number, text in enumerate(lines, 1)
        ]
        self._is_whole = True

    def changed_by(self, hunks: Sequence[Hunk], owner: Owner | None) -> None:
        """Note a change of which only the lines around it are known."""
        for hunk in hunks:
            first = self._place_of(hunk)
            if first is None:
                self.lose()
                return
            self._put(first, hunk, owner)

    def _forget(self) -> None:
        self.is_uncertain |= any(line and line.owner for line in self._lines)
        self._lines = []
        self._is_whole = False

    def _place_of(self, hunk: Hunk) -> int | None:
        """Where a piece of a diff goes, from 0; None if that cannot be told."""
        if hunk.first is not None:
            return hunk.first - 1 if hunk.first <= LAST_LINE else None
        if self.text is None:
            return None
        before, text = hunk.before, self.text
        if not before:
            return 0 if not text else None
        places = [
            place
            for place in range(len(text) - len(before) + 1)
            if text[place] == before[0] and text[place : place + len(before)] == before
        ]
        return places[0] if len(places) == 1 else None

    def _put(self, first: int, hunk: Hunk, owner: Owner | None) -> None:
        end = first + len(hunk.before)
        if not self._fits(first, hunk.before):
            self._forget()
        self._lines += [None] * (end - len(self._lines))
        was = iter(self._lines[first:end])
        lines: list[Line] = []
        for line in hunk.lines:
            text = line[1:]
            if line[:1] == "+":
                lines.append(Line(text, owner))
            else:
                known = next(was) or Line(text, None)
                if line[:1] != "-":
                    lines.append(known)
        self._lines[first:end] = lines

    def _fits(self, first: int, before: list[str]) -> bool:
        known = self._lines[first : first + len(before)]
        if self._is_whole and (len(known) < len(before) or first > len(self._lines)):
            return False
        return all(line is None or line.text == text for line, text in zip(known, before, strict=False))


def hunks_of(diff: str) -> list[Hunk]:
    """The pieces of a diff of one file."""
    hunks: list[Hunk] = []
    heading: str | None = None
    lines: list[str] = []
    for line in (*diff.removesuffix("\n").split("\n"), "@@"):
        if line.startswith("@@"):
            if heading is not None:
                hunks.append(_hunk(heading, lines))
            heading, lines = line, []
        elif not line.startswith("\\"):
            lines.append(line or " ")
    return hunks


def _hunk(heading: str, lines: list[str]) -> Hunk:
    numbers = _NUMBERS.match(heading)
    if numbers is None:
        return Hunk(None, tuple(lines))
    old = int(numbers[2] or 1)
    first, new = int(numbers[3]), int(numbers[4] or 1)
    counts = sum(line[0] != "+" for line in lines), sum(line[0] != "-" for line in lines)
    # A piece without any line after the change is named by the line before it.
    first += new == 0
    return Hunk(first if counts == (old, new) and first else None, tuple(lines))


def _added_numbers(lines: Sequence[str], hunks: Sequence[Hunk]) -> set[int] | None:
    """The numbers of the lines that a diff added to a text; None if it is no diff of this text."""
    added: set[int] = set()
    for hunk in hunks:
        if hunk.first is None:
            return None
        for number, line in enumerate((line for line in hunk.lines if line[0] != "-"), hunk.first):
            if number > len(lines) or lines[number - 1] != line[1:]:
                return None
            if line[0] == "+":
                added.add(number)
    return added if hunks else None


def _aligned(old: Sequence[Line], new: Sequence[str], owner: Owner | None) -> Iterator[Line]:
    """The lines of a new text: those that were there before as they were, all others of this owner."""
    most = min(len(old), len(new))
    head = next((n for n in range(most) if old[n].text != new[n]), most)
    tail = next((n for n in range(most - head) if old[-1 - n].text != new[-1 - n]), most - head)
    yield from old[:head]
    yield from _aligned_middle(old[head : len(old) - tail], new[head : len(new) - tail], owner)
    yield from old[len(old) - tail :]


def _aligned_middle(old: Sequence[Line], new: Sequence[str], owner: Owner | None) -> Iterator[Line]:
    if len(old) * len(new) > MOST_COMPARED:
        yield from (Line(text, owner) for text in new)
        return
    matcher = SequenceMatcher(None, [line.text for line in old], new, autojunk=False)
    for tag, start, end, new_start, new_end in matcher.get_opcodes():
        if tag == "equal":
            yield from old[start:end]
        else:
            yield from (Line(text, owner) for text in new[new_start:new_end])
