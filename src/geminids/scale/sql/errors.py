"""What is said where a query cannot be answered: in words, and what to do."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from difflib import get_close_matches
from shlex import quote

from geminids.core.errors import NOTHING_FOUND, PARTLY_DONE, GeminidsError
from geminids.scale.sql.memory import SPILLED

_LIST = "`geminids sql --schema` lists tables and columns."
_LONGEST = 500
_KIND = re.compile(r"[A-Z][\w ]*? ?(?:Error|Exception): ")
_UNKNOWN_COLUMN = re.compile(
    r'Referenced (?:table )?column "(?P<one>.*?)" .*?not found'
    r'|does not have a column named "(?P<other>.*?)"',
    re.DOTALL,
)
_UNKNOWN_TABLE = re.compile(r"Table with name (.*?) does not exist!", re.DOTALL)
_CANDIDATES = re.compile(r"Candidate bindings: ([^\n]*)")


class BadQueryError(GeminidsError):
    """A query that cannot be answered as it was written."""

    def __init__(self, sentence: str) -> None:
        super().__init__(f"Bad query: {sentence}")


class NoTablesError(GeminidsError):
    """A place without tables."""

    exit_code = NOTHING_FOUND

    def __init__(self, uri: str) -> None:
        super().__init__(f"No tables in {uri!r}. `geminids tables --out {quote(uri)}` writes some.")


class TablesDamagedError(GeminidsError):
    """A file of the tables that cannot be read, or vanished."""

    exit_code = PARTLY_DONE

    def __init__(self, uri: str, reason: str) -> None:
        super().__init__(
            f"Cannot read the tables in {uri!r}: {reason} "
            "If they are being written, try again; `geminids tables --full` writes them anew."
        )


class TooLargeError(GeminidsError):
    """A query that needs more than it is given."""

    exit_code = PARTLY_DONE

    def __init__(self, memory: str) -> None:
        super().__init__(
            f"The query needs more than {memory} of memory and {SPILLED} of temporary files, or than the "
            "disk has. Ask for fewer rows or columns, or use another engine on the same tables: "
            "`geminids tables` writes them."
        )


class TooSlowError(GeminidsError):
    """A query that did not end in the time that it was given."""

    exit_code = PARTLY_DONE

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"The query was stopped after {seconds:g} seconds (--timeout). Ask for less, or allow more time."
        )


def bad_query(message: str, tables: Sequence[str], columns: Collection[str]) -> BadQueryError:
    """What the engine says of a query, in the words of people who do not know it."""
    if unknown := _UNKNOWN_TABLE.search(message):
        return BadQueryError(f"no table {unknown[1]!r}.{_near(unknown[1], tables)} {_LIST}")
    if unknown := _UNKNOWN_COLUMN.search(message):
        candidates = _CANDIDATES.search(message)
        known = re.findall(r'"(?:\w+\.)?(\w+)"', candidates[1]) if candidates else []
        name = unknown["one"] or unknown["other"] or ""
        return BadQueryError(f"no column {name!r}.{_near(name, known or columns)} {_LIST}")
    said = _KIND.sub("", message, count=1).split("\n\nLINE ")[0].partition("Candidate functions:")[0]
    sentence = " ".join(said.split())
    if len(sentence) > _LONGEST:
        # All that follows a quote or a comment without its end.
        sentence = f"{sentence[:_LONGEST]}…"
    return BadQueryError(sentence if sentence.endswith((".", "!", "?")) else f"{sentence}.")


def _near(wanted: str, known: Collection[str]) -> str:
    near = get_close_matches(wanted.rpartition(".")[2].casefold(), sorted(set(known)), n=3)
    return f" Did you mean {' or '.join(near)}?" if near else ""
