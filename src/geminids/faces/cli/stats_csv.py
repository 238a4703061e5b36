"""`stats --csv`: one row a group, every digit, empty where nothing is known.

A spreadsheet runs a cell that begins like a formula, and a title may be one to harm its reader. Such a cell
gets an apostrophe in front, which spreadsheets take for "this is text". Numbers stay numbers.
"""

# Annotations are no strings here: compiling them would take most of the time that loading this takes.
import csv
import io
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from geminids.faces.drawing.stats_tables import shown_groups
from geminids.sharing.transcript import safe

if TYPE_CHECKING:
    from geminids.query.usage.blocks import Blocks
    from geminids.query.usage.figures import Tokens
    from geminids.query.usage.stats import Statistics, StatsGroup

    Value = str | int | float | None

_OF_TOKENS = (
    "requests",
    "unmeasured_replies",
    "input_tokens",
    "fresh_tokens",
    "cached_tokens",
    "cache_write_tokens",
    "cache_write_hour_tokens",
    "output_tokens",
    "thoughts_tokens",
    "tool_tokens",
    "total_tokens",
    "list_price_usd",
    "unpriced_requests",
)
HEADER = (
    "sessions",
    "subagents",
    "prompts",
    "replies",
    "active_seconds",
    "tool_calls",
    "tool_errors",
    "tool_cancelled",
    "files",
    "lines_added",
    "lines_removed",
    *_OF_TOKENS,
    "estimated_requests",
    "estimated_tokens",
    "estimated_list_price_usd",
    "incomplete_sessions",
)
_NAMES = ("by", "key", "name", "agent")
"""The first columns, once for each grouping."""
BLOCKS_HEADER = (
    *("agent", "start", "end", "first_request", "last_request", "models"),
    *_OF_TOKENS,
    "incomplete_sessions",
)
"""The last column is the same in all rows: which window an unread request was in is not known."""
_FORMULA_STARTS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
_NO_TEXT_STARTS = ("\t", "\r", "\n")


def csv_lines(found: "Statistics", limit: int | None) -> Iterator[str]:
    """The header, then a line each group."""
    groups, _ = shown_groups(found, limit)
    further = [f"{name}_{number}" for number in range(2, len(found.groupings) + 1) for name in _NAMES]
    yield csv_line((*_NAMES, *further, *HEADER))
    for group in groups:
        yield csv_line(_row(found, group))


def block_lines(found: "Blocks", limit: int | None, incomplete: int) -> Iterator[str]:
    """The header, then a line each window of five hours."""
    yield csv_line(BLOCKS_HEADER)
    for block in found.newest(limit):
        moments = (block.start, block.end, block.first, block.last)
        when = [f"{at:%Y-%m-%dT%H:%M:%SZ}" for at in moments]
        yield csv_line((block.agent, *when, " ".join(block.models), *_tokens(block.tokens), incomplete))


def _row(found: "Statistics", group: "StatsGroup") -> "tuple[Value, ...]":
    # What is not told of such a group is empty, and not none.
    figures = group.figures.by_name(found.by)
    used, guess = figures["tokens"], figures["estimated"]
    named = zip(found.groupings, group.names, strict=True)
    return (
        *(cell for by, name in named for cell in (by, name.key, name.name, name.agent)),
        figures["sessions"],
        figures["subagents"],
        figures["prompts"],
        figures["replies"],
        None if figures["active"] is None else figures["active"] / 1_000_000,
        figures["calls"],
        figures["errors"],
        figures["cancelled"],
        figures["files"],
        figures["added"],
        figures["removed"],
        *(_tokens(used) if used else [None] * 13),
        guess.requests if guess else None,
        guess.total if guess else None,
        _plain(guess) if guess else None,
        figures["incomplete"],
    )


def _tokens(used: "Tokens") -> "list[Value]":
    return [
        used.requests,
        used.unmeasured,
        used.input,
        used.fresh,
        used.cached,
        used.cache_write,
        used.cache_write_hour,
        used.output,
        used.thoughts,
        used.tool,
        used.total,
        _plain(used),
        used.unpriced,
    ]


def _plain(used: "Tokens") -> str | None:
    """A cost with all of its digits, which a float might not have."""
    return None if used.cost is None else f"{used.cost:f}"


def csv_line(row: "Iterable[Value]") -> str:
    """Return a row as a line of CSV; it ends as lines of other commands in a pipe do."""
    line = io.StringIO(newline="")
    csv.writer(line, lineterminator="\n").writerow([_cell(value) for value in row])
    return line.getvalue()


def _cell(value: "Value") -> "Value":
    """A value that no spreadsheet runs and no terminal obeys."""
    if not isinstance(value, str):
        return value
    harmless = safe.text(value)
    # Some spreadsheets trim cells before they look at them.
    is_formula = harmless.lstrip().startswith(_FORMULA_STARTS) or harmless.startswith(_NO_TEXT_STARTS)
    return f"'{harmless}" if is_formula else harmless
