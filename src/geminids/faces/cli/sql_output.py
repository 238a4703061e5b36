"""What `geminids sql` prints and writes: answers in each format, and what can be asked."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from io import StringIO
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from geminids.core.errors import NOTHING_FOUND
from geminids.faces.cli.choices import WrongUsageError
from geminids.faces.cli.options import absolute
from geminids.faces.cli.progress import waiting
from geminids.faces.cli.stats_csv import csv_line
from geminids.faces.cli.talk import say
from geminids.faces.drawing.page import Page, open_page
from geminids.faces.drawing.screen import Screen, find_screen
from geminids.scale.schema import TABLES, Table
from geminids.sharing.transcript import words

if TYPE_CHECKING:
    from geminids.faces.cli.choices import Choices
    from geminids.scale.sql.answers import Answer
    from geminids.scale.sql.database import Database

MOST_ROWS = 1_000
"""Of a table that is drawn: nobody reads more, and all have to be known before the first is drawn."""
TYPES = {
    "text": "text",
    "texts": "list of text",
    "int": "integer",
    "bool": "yes/no",
    "time": "time",
    "dollars": "decimal(18, 6)",
    "files": "list of files",
}
_COST = re.compile(r"\b(?:cost|priced_on)\b", re.IGNORECASE)
EXAMPLES = (
    "select sum(total) from requests",
    "select project, sum(total) from requests group by 1 order by 2 desc",
    "select tool, count(*) from calls where status = 'error' group by 1",
)


class Wish(NamedTuple):
    """How an answer is to be given."""

    form: str
    output: str | None
    force: bool


def give(choices: Choices, answer: Answer, wish: Wish) -> int:
    """Print an answer or write it; the exit code."""
    if wish.form == "table" and wish.output is None:
        return _draw(open_page, find_screen(no_color=choices.no_color), answer)
    count = [0]
    answer = answer._replace(batches=_counting(answer.batches, count))
    pieces: dict[str, Callable[[Answer], Iterator[bytes]]] = {
        "csv": _csv,
        "json": lambda answer: answer.json(),
        "parquet": lambda answer: answer.parquet(),
        "table": _plain_table,
    }
    _write(pieces[wish.form](answer), wish)
    if wish.output:
        say(f"{words.count(count[0], 'row')} written to {wish.output}.")
    return 0 if count[0] else NOTHING_FOUND


def _counting(batches: Iterable[Any], count: list[int]) -> Iterator[Any]:
    for batch in batches:
        count[0] += batch.num_rows
        yield batch


def _write(pieces: Iterable[bytes], wish: Wish) -> None:
    if wish.output is not None:
        from geminids.scale.sql.answers import write_answer

        write_answer(absolute(wish.output), pieces, force=wish.force)
        return
    for piece in pieces:
        sys.stdout.buffer.write(piece)


def _csv(answer: Answer) -> Iterator[bytes]:
    yield csv_line(answer.names).encode("utf-8", "replace")
    for row in answer.rows():
        yield csv_line(map(_cell, row)).encode("utf-8", "replace")


def _cell(value: Any) -> Any:
    """A value as a cell: lists and structures as JSON, numbers with all of their digits."""
    from geminids.scale.sql.answers import plain

    if isinstance(value, Decimal):
        return value
    told = plain(value)
    if isinstance(told, bool):
        return "true" if told else "false"
    if not isinstance(told, list | dict):
        return told
    from geminids.sharing.export.data import encode

    return encode(told).decode()


def _plain_table(answer: Answer) -> Iterator[bytes]:
    stream = StringIO()
    _draw(lambda screen: open_page(screen, stream), Screen(False, False, None), answer)
    yield stream.getvalue().encode("utf-8", "replace")


def _draw(opened: Callable[[Screen], Page], screen: Screen, answer: Answer) -> int:
    from geminids.faces.drawing.answer_tables import draw_answer

    with waiting("Asking"):
        rows = list(islice(answer.rows(), MOST_ROWS + 1))
    if not rows:
        say("No rows.")
        return NOTHING_FOUND
    missing = draw_answer(opened(screen), screen, answer.names, answer.numbers, rows[:MOST_ROWS])
    if missing:
        say(f"No room for {', '.join(missing)}; --format csv prints all columns.")
    if len(rows) > MOST_ROWS:
        say(f"These are the first {MOST_ROWS:,} rows; --format csv prints all.")
    return 0


# What can be asked


def introduce(choices: Choices) -> None:
    """Tell somebody who asks nothing what can be asked."""
    page = open_page(find_screen(no_color=choices.no_color))
    for table in TABLES.values():
        page.line((f"{table.name:<10}", "title"), table.meaning)
    page.line()
    page.sentence("Everything counts once in them, as in `stats`; all_requests and others have every row.")
    page.line()
    for example in EXAMPLES:
        page.command("", f'geminids sql "{example}"')
    page.line()
    page.sentence("`geminids sql --schema` lists all columns.")


def print_schema(choices: Choices, wanted: str | None, form: str | None) -> int:
    """List tables and their columns."""
    if wanted is not None and wanted not in TABLES:
        raise WrongUsageError("sql", f"No table {wanted!r}. Tables: {', '.join(TABLES)}.")
    tables = [TABLES[wanted]] if wanted else list(TABLES.values())
    if choices.json or form == "json":
        _print_columns(tables)
        return 0
    page = open_page(find_screen(no_color=choices.no_color))
    for number, table in enumerate(tables):
        if number:
            page.line()
        _draw_columns(page, table)
    return 0


def _print_columns(tables: Iterable[Table]) -> None:
    from geminids.faces.cli.json_output import print_json
    from geminids.sharing.export.data import encode

    columns = [
        {"table": table.name, "column": column.name, "type": column.kind, "meaning": column.meaning}
        for table in tables
        for column in table.columns
    ]
    print_json(encode(columns))


def _draw_columns(page: Page, table: Table) -> None:
    from geminids.faces.drawing.number_tables import Cell, Field, Row, draw, fit

    screen = find_screen()
    page.line((table.name, "title"), "  ", (table.meaning, "quiet"))
    fields = (
        Field("column", is_number=False),
        Field("type", is_number=False),
        Field("meaning", is_number=False, least=20, is_free=True),
    )
    rows = [
        Row([Cell(column.name), Cell(TYPES[column.kind], style="quiet"), Cell(column.meaning)])
        for column in table.columns
    ]
    draw(page, fit(fields, rows, screen.width), is_drawn=screen.is_drawn)


# What is to be known of the numbers


def notes(database: Database, query: str, *, is_own: bool) -> list[str]:
    """Return why sums of a query may be too low, from tables that need no further fetching.

    `is_own` says that the tables are of this machine.
    """
    available = database.available_tables(query)
    found: list[str] = []
    if "all_sessions" in available:
        found += _incomplete(database)
    if _COST.search(query) and "all_requests" in available:
        table = "requests" if "requests" in available else "all_requests"
        found += _without_cost(database, table, is_own=is_own)
    return found


def _incomplete(database: Database) -> Iterator[str]:
    ((sessions,),) = _rows(database, "SELECT count(DISTINCT id) FROM all_sessions WHERE incomplete")
    if sessions:
        yield (
            f"Sums may be too low: {words.count(sessions, 'session')} could not be read completely; "
            "`select id from sessions where incomplete` lists them."
        )


def _without_cost(database: Database, table: str, *, is_own: bool) -> Iterator[str]:
    ((recorded, priced),) = _rows(
        database, f"SELECT count(*), count(cost) FROM {table} WHERE total IS NOT NULL"
    )
    if not recorded or recorded == priced:
        return
    many = "all requests" if not priced else f"{recorded - priced:,} of {words.count(recorded, 'request')}"
    yield f"`cost` is null for {many}: {_why_no_price(has_any=priced > 0, is_own=is_own)}."


def _why_no_price(*, has_any: bool, is_own: bool) -> str:
    from geminids.query.usage.prices import no_library
    from geminids.query.usage.prices.listed import look_up

    if has_any:
        return "no price is known; `geminids stats --by model` says why"
    if is_own and look_up((), "") is None:
        return no_library()
    return "the tables were written without prices, or no price is known; `geminids tables` adds them"


def _rows(database: Database, query: str) -> list[tuple[int, ...]]:
    _, batches = database.ask(query)
    return [tuple(row.values()) for batch in batches for row in batch.to_pylist()]
