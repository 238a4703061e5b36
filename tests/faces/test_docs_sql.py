"""The pages about SQL: what they answer is what is answered, and they name every column."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from io import StringIO
from pathlib import Path

from geminids.faces.cli.sql_output import TYPES
from geminids.faces.drawing.answer_tables import draw_answer
from geminids.faces.drawing.page import open_page
from geminids.faces.drawing.screen import Screen
from geminids.library import open_library
from geminids.scale.places.stores import open_store
from geminids.scale.schema import TABLES
from geminids.scale.settling import statements
from geminids.scale.sql.answers import Answer
from geminids.scale.sql.database import Database
from geminids.scale.tables.run import up_to_date_tables
from tests.conftest import ROOT, Run
from tests.support.homes import write_session
from tests.support.screens import WIDTH
from tests.support.tables import file_of, write_tables

PAGE, COLUMNS, SETTLING = (ROOT / "docs" / name for name in ("sql.md", "columns.md", "settling.sql"))
QUESTION = re.compile(r"```sql\n(?P<query>.*?)```\n\n```text\n(?P<shown>.*?)```", re.DOTALL)
WHAT_SETTLES = """\
-- Settling: what stands in several sessions, or on several machines, counts once.
--
-- Register the tables as they were written by the names all_sessions, all_messages, all_requests, all_calls,
-- all_changes and all_problems, the table forgotten by the name all_forgotten (docs/tables.md says how in
-- DuckDB), and run this. Then sessions, messages, requests, calls, changes and problems
-- add up to what `geminids stats` says. DuckDB runs it as it stands. Spark and Sail have no temporary tables:
-- write what each of the first steps selects to Parquet files or a table, and use it by the name of the step,
-- as `geminids.settled(spark, …)` does; planned as one, they take too long. All else runs unchanged.
"""


def check(page: Path, text: str) -> None:
    """Compare a page with what it should say, or write it."""
    if os.environ.get("GEMINIDS_GOLDEN") == "rewrite":
        page.write_text(text, "utf-8")
    assert page.read_text("utf-8") == text


def shown(database: Database, query: str) -> str:
    """What a terminal of 80 columns shows."""
    answer = Answer(*database.ask(query))
    stream, screen = StringIO(), Screen(is_terminal=False, has_colour=False, width=WIDTH)
    left_out = draw_answer(
        open_page(screen, stream), screen, answer.names, answer.numbers, list(answer.rows())
    )
    assert not left_out
    return "".join(f"{line.rstrip()}\n" for line in stream.getvalue().splitlines())


def test_every_question_is_answered_as_the_page_says(tmp_path: Path) -> None:
    with open_library([], str(tmp_path), sample=True) as library:
        place = up_to_date_tables(library)
    with Database(open_store(place)) as database:

        def answered(question: re.Match[str]) -> str:
            told = shown(database, question["query"])
            return f"```sql\n{question['query']}```\n\n```text\n{told}```"

        text = PAGE.read_text("utf-8")
        check(PAGE, QUESTION.sub(answered, text))
    questions = list(QUESTION.finditer(PAGE.read_text("utf-8")))
    assert len(questions) == text.count("```sql") == 22
    assert all(len(line) <= WIDTH for one in questions for line in one[0].splitlines())
    assert all(len(one["shown"].splitlines()) > 1 for one in questions)


def test_the_page_of_columns_names_each_with_its_meaning() -> None:
    check(COLUMNS, columns_page())


def columns_page() -> str:
    """All tables, column by column."""
    lines = [
        "# Columns of the tables",
        "",
        "What `geminids sql` asks and `geminids tables` writes. Every column may be null: what an agent did",
        "not write down is unknown, and not 0. Columns marked with * hold words of conversations and files;",
        "tables written `--without text` do not have them. `end` is a word of SQL and needs quotes:",
        '`"end"`.',
    ]
    for table in TABLES.values():
        lines += [
            "",
            f"## {table.name}",
            "",
            table.meaning,
            "",
            "| column | type | meaning |",
            "|---|---|---|",
        ]
        lines += [
            f"| `{column.name}`{' *' if column.is_words else ''} | {TYPES[column.kind]} | "
            f"{column.meaning.replace('<', '&lt;').replace('>', '&gt;')} |"
            for column in table.columns
        ]
    lines += [
        "",
        "## forgotten",
        "",
        "A row for each session that counts nowhere ([Forgetting](tables.md#forgetting)).",
        "",
        "| column | type | meaning |",
        "|---|---|---|",
        "| `session` | text | The SHA-256 of `sessions.id`, in hexadecimal digits. |",
    ]
    return "\n".join([*lines, ""])


def test_the_script_that_settles_is_what_the_command_runs() -> None:
    check(SETTLING, "".join([WHAT_SETTLES, *(f"\n{statement};\n" for statement in statements().values())]))


def test_duckdb_reads_what_manifests_name_as_the_page_says(tmp_path: Path, geminids: Run) -> None:
    place = tmp_path / "sessions"
    for machine, day in (("laptop", 1), ("desktop", 2)):
        home = tmp_path / machine
        write_session(home)
        write_session(home, f"{day}e2e2e2e-0000-4000-8000-000000000002", slug="blog", day=day)
        write_tables(home, tmp_path / f"data-{machine}", place, machine)
    file = file_of(place, "requests", "laptop")
    shutil.copyfile(file, file.with_name(f"{file.stem} 2.parquet"))
    manifest = place / "_geminids" / f"{file.stem}.json"
    shutil.copyfile(manifest, manifest.with_name(f"{file.stem} 2.json"))
    assert geminids("tables", "forget", "1e2e2e2e", "--out", place, "--yes").code == 0

    page = (ROOT / "docs" / "tables.md").read_text()
    (program,) = re.findall(r"```python\n(import duckdb\n.*?)```", page, re.DOTALL)
    empty = (
        f"duckdb.register('all_{name}', arrow_schema(TABLES[{name!r}]).empty_table())"
        for name in ("calls", "changes", "problems")
    )
    asking = [
        "from geminids.scale.batches import arrow_schema",
        "from geminids.scale.schema import TABLES",
        *empty,
        *(f"duckdb.sql({statement!r})" for statement in statements().values()),
        "print(duckdb.sql('SELECT count(*), sum(total) FROM requests').fetchall())",
    ]
    line = [sys.executable, "-c", "\n".join([program, *asking])]
    ran = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert (ran.stdout, ran.stderr) == ("[(2, 24)]\n", "")
    found = geminids(
        "sql", "--tables", place, "--json", "select count(*) as n, sum(total) as t from requests"
    )
    assert json.loads(found.out) == [{"n": 2, "t": 24}]
