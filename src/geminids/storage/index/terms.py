"""All words of an index in one text, to find those that hold some letters: FTS5 knows only how words begin.

    <index>.terms       how far it goes and its checksum, then the words in their order, one to a line

It is made when it is first asked for, and made anew when many messages have come since, or such as have
smaller numbers than those it covers: what it does not cover is the caller's to look through. It can be
deleted at any time. Nobody else has an index of that name.
"""

# Annotations are no strings here: compiling them would take most of the time that loading this takes.
from bisect import bisect_left
from contextlib import suppress
from zlib import crc32

from geminids.core.atomic_files import PartFile, opened_plain
from geminids.storage.index.database import TERMS, Index

FEW = 5_000
"""So many messages may have come since it was made; a twentieth of all may in any case."""


class Terms:
    """The words of an index up to some message."""

    def __init__(self, words: str, covered: int, numbered: int = 0) -> None:
        self.covered = covered
        """The number of the last message whose words are surely among them."""
        self.numbered = numbered
        """How many numbers had been given by then."""
        self._sorted = words.split("\n")
        self._lines = f"\n{words}\n"
        self.has_dotless_i = "ı" in words
        """To `re` it is an i in another case, to FTS5 another letter."""

    def holding(self, letters: str, most: int) -> list[str] | None:
        """The words that hold some letters; None if there are more than so many."""
        return self._around(letters, most)

    def ending(self, letters: str, most: int) -> list[str] | None:
        """The words that end so."""
        return self._around(f"{letters}\n", most)

    def has_beginning(self, letters: str) -> bool:
        """Whether any word begins so."""
        place = bisect_left(self._sorted, letters)
        return place < len(self._sorted) and self._sorted[place].startswith(letters)

    def __contains__(self, word: str) -> bool:
        place = bisect_left(self._sorted, word)
        return place < len(self._sorted) and self._sorted[place] == word

    def _around(self, letters: str, most: int) -> list[str] | None:
        lines, found = self._lines, list[str]()
        place = lines.find(letters)
        while place >= 0:
            if len(found) == most:
                return None
            end = lines.index("\n", place)
            found.append(lines[lines.rindex("\n", 0, place + 1) + 1 : end])
            place = lines.find(letters, end)
        return found


def terms_of(index: Index) -> Terms:
    """The words of an index; of all but some of its newest messages."""
    last, numbered = int(index.meta("last message") or 0), int(index.meta("numbered") or 0)
    known = _read(index.path) if index.path else None
    if known is not None:
        new = numbered - known.numbered
        # Else numbers were given that had been left free, for older messages.
        if new == last - known.covered and new <= max(FEW, numbered // 20):
            return known
    rows = index.connection.execute("SELECT term FROM vocabulary")
    made = "\n".join([term for (term,) in rows])
    if index.path:
        # It only saves time: where it cannot be written, it is made again.
        with suppress(OSError):
            _write(index.path, made, last, numbered)
    return Terms(made, last, numbered)


def _read(path: str) -> Terms | None:
    """What was written beside an index; None if that is missing or damaged."""
    try:
        with open(opened_plain(path + TERMS), "rb") as opened:  # noqa: PTH123
            covered, numbered, check = map(int, opened.readline(100).split())
            written = opened.read()
    except (OSError, ValueError):
        return None
    return Terms(written.decode(), covered, numbered) if crc32(written) == check else None


def _write(path: str, words: str, covered: int, numbered: int) -> None:
    written = words.encode()
    with PartFile(path + TERMS) as part:
        part.file.write(f"{covered} {numbered} {crc32(written)}\n".encode() + written)
        part.settle(replace=True)
