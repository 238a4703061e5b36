"""`geminids sql`."""

from __future__ import annotations

import csv
import json
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from geminids.scale.places.stores import open_store
from geminids.scale.schema import TABLES, VERSION
from geminids.scale.sql import database as sql_database
from geminids.scale.sql.answers import Answer
from geminids.scale.sql.database import DOING, Database
from geminids.scale.sql.errors import BadQueryError, TablesDamagedError, TooLargeError
from geminids.scale.tables.manifest import FOLDER
from tests.conftest import FIXTURES, Outcome, Run
from tests.support.homes import FIRST_ID, write_session
from tests.support.tables import write_tables
from tests.support.terminal import on_terminal

SECOND_ID = "2e2e2e2e-0000-4000-8000-000000000002"
HOSTILE = "\x1b]0;owned\x07\u202e=1+1"
SAMPLE_TOTAL = 1_192_511


@pytest.fixture(scope="module")
def of_sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory of the sample and its tables, shared by those who only ask."""
    return tmp_path_factory.mktemp("of-sample")


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tables of one small session."""
    folder = tmp_path_factory.mktemp("written")
    write_session(folder / "home")
    write_tables(folder / "home", folder / "data", folder / "out")
    return folder / "out"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data directory of its own."""
    return tmp_path / "data"


@pytest.fixture
def asked(geminids: Run, of_sample: Path) -> Callable[..., Outcome]:
    """A query of the sample."""
    return lambda *arguments: geminids("--sample", "--data", of_sample, "sql", *arguments)


@pytest.fixture
def out(tmp_path: Path, written: Path) -> Path:
    """A folder of tables of one small session, to be changed."""
    shutil.copytree(written, tmp_path / "out")
    return tmp_path / "out"


def rows(outcome: Outcome) -> list[dict[str, Any]]:
    assert outcome.code == 0, outcome.err
    found = json.loads(outcome.out)
    assert isinstance(found, list)
    return found


# What it says


def test_the_obvious_query_gives_what_stats_says(asked: Callable[..., Outcome], geminids: Run) -> None:
    told = json.loads(geminids("--sample", "stats", "--json").out)["total"]["tokens"]["total"]
    assert told == SAMPLE_TOTAL
    assert rows(asked("--json", "select sum(total) as total from requests")) == [{"total": told}]


def test_what_is_in_several_sessions_counts_once_and_every_row_is_there(geminids: Run, data: Path) -> None:
    fork = FIXTURES / "claude" / "fork"
    truth = json.loads((fork / "truth.json").read_bytes())["tokens"]["main"]
    query = "select (select sum(total) from requests) s, (select sum(total) from all_requests) e"
    (row,) = rows(geminids("--home", fork / "home", "--data", data, "sql", "--json", query))
    assert row["s"] == truth["total"] < row["e"]


def test_what_is_new_is_in_the_next_answer_and_what_is_forgotten_is_not(
    geminids: Run, data: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    ask = ("--home", home, "--data", data, "sql", "--json", "select id from sessions order by 1")
    write_session(home)
    assert rows(geminids(*ask)) == [{"id": f"gemini:{FIRST_ID}"}]
    write_session(home, SECOND_ID, slug="blog")
    assert [row["id"] for row in rows(geminids(*ask))] == [f"gemini:{FIRST_ID}", f"gemini:{SECOND_ID}"]

    assert geminids("--home", home, "--data", data, "forget", FIRST_ID, "--yes").code == 0
    assert not (data / "tables").exists()
    assert rows(geminids(*ask)) == [{"id": f"gemini:{SECOND_ID}"}]


def test_days_are_those_of_this_machine(
    asked: Callable[..., Outcome], monkeypatch: pytest.MonkeyPatch, geminids: Run
) -> None:
    monkeypatch.setenv("TZ", "America/Los_Angeles")
    time.tzset()
    told = json.loads(geminids("--sample", "stats", "--json").out)["days"]
    query = "select strftime(at, '%Y-%m-%d') as day, sum(total) as total from requests group by 1 order by 1"
    found = {row["day"]: row["total"] for row in rows(asked("--json", query))}
    assert found == {one["day"]: one["tokens"]["total"] for one in told if one["tokens"]["total"]}


# How it says it


def test_each_format_has_the_same_rows(asked: Callable[..., Outcome], tmp_path: Path) -> None:
    query = "select id, prompts, total, started_at, models from sessions order by started_at"
    as_json = rows(asked("--format", "json", query))
    lines = list(csv.DictReader(asked("--format", "csv", query).out.splitlines()))
    target = tmp_path / "answer.parquet"
    assert asked("-o", target, query).code == 0

    table = pq.read_table(target)
    assert [row["id"] for row in as_json] == [line["id"] for line in lines] == table["id"].to_pylist()
    assert [str(row["total"]) for row in as_json] == [line["total"] for line in lines]
    assert table["total"].to_pylist() == [row["total"] for row in as_json]
    assert lines[0]["started_at"] == as_json[0]["started_at"] == "2026-01-17T10:13:09.434000Z"
    assert json.loads(lines[0]["models"]) == as_json[0]["models"] == table["models"].to_pylist()[0]


def test_values_of_every_kind(asked: Callable[..., Outcome]) -> None:
    query = (
        "select null as nothing, true as yes, 1e400 as endless, 2.5 as part, date '2026-01-02' as day, "
        "interval 90 minutes as span, {'a': [1]} as nested, 'x'::blob as bytes, 170141183460469231731687303::"
        "hugeint as huge, 7 as twice, 8 as twice, timestamp '2026-01-02 03:04:05' as local, "
        "map {'k': 1} as pairs"
    )
    assert rows(asked("--json", query)) == [
        {
            "nothing": None,
            "yes": True,
            "endless": None,
            "part": 2.5,
            "day": "2026-01-02",
            "span": "PT5400S",
            "nested": {"a": [1]},
            "bytes": "78",
            "huge": 170141183460469231731687303,
            "twice": 7,
            "twice_2": 8,
            "local": "2026-01-02T03:04:05",
            "pairs": [["k", 1]],
        }
    ]


@pytest.mark.slow
def test_no_kind_of_value_breaks_a_format(prison: Prison) -> None:
    """The engine has a list of all of its kinds, with the least and the largest value of each."""
    _, batches = prison.database.ask("describe from test_all_types()")
    names = [row["column_name"] for batch in batches for row in batch.to_pylist()]
    assert len(names) > 40
    refused: list[str] = []
    for name in names:
        for form in ("json", "parquet"):
            answer = Answer(*prison.database.ask(f'select "{name}" from test_all_types()'))
            try:
                written = b"".join(getattr(answer, form)())
            except BadQueryError as error:
                refused.append(str(error))
            else:
                assert form == "parquet" or len(json.loads(written)) == 3, name
    assert len(refused) < len(names) * 0.4
    assert all("CAST(… AS VARCHAR)" in sentence for sentence in refused)


def test_numbers_have_the_digits_that_matter(asked: Callable[..., Outcome]) -> None:
    query = (
        "select 9007199254740993 as id, 0.00000015 as little, -1e-9 as less, -2.5 as half, 1.50 as price, "
        "1234567890123456789.0123456789::decimal(38, 10) as long, sum(1::hugeint) as total, 1e300 as endless"
    )
    _, row = asked("-f", "table", query).out.splitlines()
    assert row.split() == [
        *("9,007,199,254,740,993", "1.5e-7", "-1e-09", "-2.5", "1.5"),
        *("1,234,567,890,123,456,789.0123", "1", "1e+300"),
    ]
    _, row = asked("-f", "csv", query).out.splitlines()
    assert row.split(",") == [
        *("9007199254740993", "1.5E-7", "-1e-09", "-2.5", "1.50"),
        *("1234567890123456789.0123456789", "1", "1e+300"),
    ]


@pytest.mark.parametrize("zone", ["America/Los_Angeles", "Asia/Tokyo"])
def test_the_first_and_the_last_moment_are_drawn(
    asked: Callable[..., Outcome], monkeypatch: pytest.MonkeyPatch, zone: str
) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    query = "select timestamptz '0001-01-01 00:00+00' as first, timestamptz '9999-12-31 23:59+00' as last"
    shown = asked("-f", "table", query)
    assert (shown.code, "0001-01-01" in shown.out, shown.out.count(":") in (2, 4)) == (0, True, True)


def test_an_interval_is_no_list_of_three_numbers(asked: Callable[..., Outcome]) -> None:
    query = "select [1, 2, 3] as list, interval '1 month 2 days 03:04:05' as span, [interval 1 day] as some"
    _, row = asked("-f", "table", query).out.splitlines()
    assert row.split("  ") == ["[1,2,3]", "1 month 2 days 03:04:05", '["P1D"]']


def test_in_a_pipe_it_is_csv_and_on_a_terminal_a_table_that_fits(
    asked: Callable[..., Outcome], of_sample: Path
) -> None:
    query = "select month, total, title from sessions order by started_at limit 2"
    heads, first, *_ = asked(query).out.splitlines()
    assert heads == "month,total,title"
    assert first.startswith("2026-01,45146,Fix the lentil soup")
    shown = on_terminal("sql", "--sample", "--data", of_sample, query, columns=40, NO_COLOR="1")
    heads, first, *_ = shown.splitlines()
    assert heads.split() == ["month", "total", "title"]
    assert first.startswith("2026-01   45,146  Fix the ")
    assert max(map(len, shown.splitlines())) <= 40


def test_columns_without_room_are_named(of_sample: Path) -> None:
    query = "from requests limit 1"
    shown = on_terminal("sql", "--sample", "--data", of_sample, query, columns=50, NO_COLOR="1")
    assert "geminids: No room for" in shown
    assert max(map(len, shown.splitlines())) <= 50


def test_text_of_sessions_steers_nothing(geminids: Run, tmp_path: Path) -> None:
    home = tmp_path / "home"
    write_session(home, prompt=HOSTILE)
    query = "select text from messages where origin = 'human'"
    shown = on_terminal("--home", home, "--data", tmp_path / "data", "sql", query, NO_COLOR="1")
    assert "\x1b" not in shown.replace("\x1b[2K", "")
    for form in ("csv", "json"):
        printed = geminids("--home", home, "--data", tmp_path / "data", "sql", "-f", form, query).out
        assert "\x1b" not in printed
        assert "\u202e" not in printed
    formula = "select '=1+1' as cell"
    assert (
        geminids("--home", home, "--data", tmp_path / "data", "sql", "-f", "csv", formula).out
        == "cell\n'=1+1\n"
    )


def test_nothing_found_is_said_and_is_exit_code_1(asked: Callable[..., Outcome]) -> None:
    query = "select id from sessions where prompts > 1000"
    assert asked("--json", query)[:2] == (1, "[]\n")
    assert asked("--format", "csv", query)[:2] == (1, "id\n")
    assert asked("--format", "table", query) == (1, "", "geminids: No rows.\n")


def test_a_machine_without_sessions_says_where_it_looked(geminids: Run, tmp_path: Path, data: Path) -> None:
    (tmp_path / "home" / ".gemini").mkdir(parents=True)
    found = geminids("--home", tmp_path / "home", "--data", data, "sql", "select 1")
    assert (found.code, found.out) == (1, "")
    assert "No session" in found.err
    assert str(data) not in found.err


def test_a_long_table_ends_and_says_so(asked: Callable[..., Outcome]) -> None:
    found = asked("--format", "table", "select * from range(1500)")
    assert len(found.out.splitlines()) == 1_001
    assert "first 1,000 rows" in found.err
    assert len(asked("select * from range(1500)").out.splitlines()) == 1_501


def test_a_file_is_written_whole_and_no_other_is_replaced(
    asked: Callable[..., Outcome], tmp_path: Path
) -> None:
    target = tmp_path / "answer.csv"
    assert asked("-o", target, "select 1 as one").err == f"geminids: 1 row written to {target}.\n"
    again = asked("-o", target, "select 2 as two")
    assert (again.code, "--force" in again.err, target.read_bytes()) == (2, True, b"one\n1\n")
    assert asked("-o", target, "--force", "select 2 as two").code == 0
    assert target.read_bytes() == b"two\n2\n"
    failed = asked("-o", tmp_path / "other.json", "select error('no') from range(9)")
    assert failed.code == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["answer.csv"]


@pytest.mark.parametrize("of_others", [False, True])
def test_no_file_is_written_among_those_of_an_agent(
    geminids: Run, tmp_path: Path, data: Path, out: Path, of_others: bool
) -> None:
    home = tmp_path / "home"
    write_session(home)
    target = home / ".gemini" / "answer.csv"
    tables = ["--tables", out] if of_others else []
    found = geminids("--home", home, "--data", data, "sql", *tables, "-o", target, "select 1")
    assert (found.code, target.exists()) == (2, False)
    assert "folder of an agent" in found.err


def test_a_query_comes_from_a_file_or_from_stdin(
    asked: Callable[..., Outcome], tmp_path: Path, command: Any, of_sample: Path
) -> None:
    file = tmp_path / "query.sql"
    file.write_text("\ufeff-- how many\nselect count(*) as n\nfrom sessions;\n", "utf-8")
    assert rows(asked("--json", "--file", file)) == [{"n": 9}]
    done = command("--sample", "--data", of_sample, "sql", "--json", "-", input=file.read_bytes())
    assert json.loads(done.stdout) == [{"n": 9}]
    file.write_text("select 1 as n" + " " * 1_000_000 + "union all select 2")
    assert (asked("--file", file).code, "1,000,000 bytes at most" in asked("--file", file).err) == (2, True)
    missing = asked("--file", tmp_path / "missing")
    assert (missing.code, "no such file" in missing.err) == (2, True)
    assert asked("--file", file, "select 1").code == 2
    assert command("--sample", "--data", of_sample, "sql", input=b"").returncode == 2


def test_without_a_query_it_says_what_can_be_asked() -> None:
    shown = on_terminal("sql", NO_COLOR="1")
    assert all(name in shown for name in TABLES)
    assert 'geminids sql "select sum(total) from requests"' in shown


@pytest.mark.parametrize(
    "query",
    [
        "select count(at::date) as n from messages",
        "select min(at) time from messages",
        "select max(at - at) as day, min(at), time '10:00' from messages",
        "select count(*) as n from messages where at at /* there */ time zone 'UTC' > '2020-01-01'",
        "select count(*) as n from messages; -- all of them",
        "select count(*) as n from messages where text <> ';' ;; /* ; */ -- done",
    ],
)
def test_a_query_may_be_written_as_usual(prison: Prison, query: str) -> None:
    _, batches = prison.database.ask(query)
    assert [batch.num_rows for batch in batches] == [1]


def test_the_schema_lists_every_column(geminids: Run) -> None:
    listed = json.loads(geminids("sql", "--schema", "--json").out)
    assert {(one["table"], one["column"]) for one in listed} == {
        (table.name, column.name) for table in TABLES.values() for column in table.columns
    }
    one = geminids("sql", "--schema", "requests").out
    assert "request_id" in one
    assert "prompts" not in one
    assert geminids("sql", "--schema", "nope").code == 2


def test_every_column_of_the_schema_can_be_asked_for(asked: Callable[..., Outcome]) -> None:
    for table in TABLES.values():
        names = ", ".join(f'"{name}"' if name == "end" else name for name in table.names)
        for name in (table.name, f"all_{table.name}"):
            assert asked("--json", f"select {names} from {name} limit 1").code in (0, 1)


@pytest.mark.parametrize("command", [("sql", "-f", "csv", "select id from sessions"), ("stats", "--csv")])
def test_lines_of_csv_end_as_lines_do(geminids: Run, command: tuple[str, ...]) -> None:
    found = geminids("--sample", *command)
    assert found.code == 0
    assert found.out.endswith("\n")
    assert "\r" not in found.out


SLOW = {
    "many steps": "select count(*) from range(1000000000000)",
    "one long step": "select levenshtein(repeat('a', 3000000), repeat('b', 3000000))",
}


@pytest.mark.slow
@pytest.mark.parametrize("query", SLOW.values(), ids=SLOW)
def test_a_query_has_the_time_that_it_is_given(of_sample: Path, query: str) -> None:
    line = [sys.executable, "-m", "geminids", "--sample", "--data", str(of_sample), "sql", "--timeout", "1"]
    began = time.monotonic()
    ended = subprocess.run([*line, query], capture_output=True, text=True, check=False)
    assert time.monotonic() - began < 20
    assert (ended.returncode, ended.stdout) == (3, "")
    assert "The query was stopped after 1 seconds (--timeout)." in ended.stderr.replace("\n", " ")
    assert "Traceback" not in ended.stderr


def test_a_query_that_is_quick_has_time(asked: Callable[..., Outcome]) -> None:
    assert asked("--timeout", "600", "select 1").code == 0
    assert asked("--timeout", "0", "select 1").code == 2
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


@pytest.mark.slow
def test_what_a_query_writes_to_the_disk_is_bounded(monkeypatch: pytest.MonkeyPatch, written: Path) -> None:
    monkeypatch.setattr(sql_database, "SPILLED", "20MB")
    with (
        Database(open_store(str(written)), memory="100MB") as database,
        pytest.raises(TooLargeError, match="of temporary files"),
    ):
        list(database.ask("select x from range(40000000) t(x) order by hash(x)")[1])


# What it refuses


BAD = {
    "select nope from requests": "no column 'nope'",
    "select totl from requests": "Did you mean total",
    "select r.promts from sessions r": "Did you mean prompts",
    "select * from request": "Did you mean requests",
    "from nowhere": "no table 'nowhere'",
    "select * frm requests": 'syntax error at or near "requests"',
    "select 'a'::int": "Could not convert string",
    "select 1; select 2": "one query at a time",
    "/* nothing */": "it is empty",
    "select (": "syntax error",
    "select no_such_function(1)": "no_such_function",
    'select "user" from requests': "no column 'user'",
    "select user from requests": "no column 'user'",
    'select r.total, "Session_User" from requests r': "no column 'Session_User'",
    'select "current_date"': "no column 'current_date'",
    "with x as (select current_role from sessions) from x": "no column 'current_role'",
}


@pytest.mark.parametrize("query", BAD)
def test_a_bad_query_is_told_in_a_line_of_words(asked: Callable[..., Outcome], query: str) -> None:
    found = asked("--json", query)
    assert (found.code, found.out) == (2, "")
    assert found.err.startswith("geminids: Bad query: ")
    assert BAD[query] in found.err
    assert "Error:" not in found.err
    assert len(found.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ('select count(*) as "user" from sessions order by "user"', {"user": 9}),
        ('with x as (select 1 as user) select "user", x."user" as b from x', {"user": 1, "b": 1}),
        ("select {'user': 2}.user as u, 'user' as \"current_date\"", {"u": 2, "current_date": "user"}),
        ("select current_date is null or localtimestamp is null as n", {"n": False}),
    ],
)
def test_names_that_a_query_gives_are_names(
    asked: Callable[..., Outcome], query: str, wanted: dict[str, object]
) -> None:
    assert rows(asked("--json", query)) == [wanted]


def test_what_has_no_end_is_told_in_few_words(prison: Prison) -> None:
    with pytest.raises(BadQueryError, match="unterminated") as error:
        prison.database.ask("select '" + "x" * 100_000)
    assert len(str(error.value)) < 1000


CANARY = "canary-7d1f"
ATTACKS = (
    "copy (select 1) to '{folder}/made.csv'",
    "copy requests to '{folder}/made.csv'",
    "explain analyze copy (select 1) to '{table}'",
    "export database '{folder}/made'",
    "attach '{folder}/made.db'",
    "install httpfs",
    "load httpfs",
    "set memory_limit = '9GB'",
    "reset enable_external_access",
    "pragma database_list",
    "call enable_logging()",
    "create table made as select 1",
    "create or replace temp view requests as select 1",
    "drop view requests",
    "delete from copied_messages",
    "insert into copied_messages values ('a', 1)",
    "prepare made as select 1",
    "use memory",
    "checkpoint",
    "begin",
    "select * from read_csv('{secret}')",
    "select * from read_csv_auto('{secret}')",
    "select * from read_text('{secret}')",
    "select * from read_blob('{secret}')",
    "select * from read_json('{secret}')",
    "select * from read_parquet('{secret}')",
    "select * from parquet_metadata('{secret}')",
    "select * from sniff_csv('{secret}')",
    "select * from glob('{folder}/*')",
    "from '{secret}'",
    "from '{other}'",
    "select * from read_parquet('{other}')",
    "from 'https://127.0.0.1:9/x.parquet'",
    "from 's3://bucket/x.parquet'",
    "select * from query('copy (select 1) to ''{folder}/made.csv''')",
    "select * from query('from ''{secret}''')",
    "select * from query_table('{secret}')",
    "from enable_logging(storage := 'file', storage_path := '{folder}/made')",
    "select getenv('CANARY')",
    "from secret_of_python",
    "from os",
    "select * from json_execute_serialized_sql('{{\"a\": 1}}')",
    "with made as (copy (select 1) to '{table}' (format parquet, use_tmp_file false)) from made",
    "with made as (copy (select 1) to '{table}' (use_tmp_file false)) select 1; -- at the end",
    "describe with made as (copy (select 1) to '{table}' (use_tmp_file false)) from made",
    "from query('with made as (copy (select 1) to ''{table}'' (use_tmp_file false)) from made')",
    "with made as (insert into copied_messages values ('a', 1) returning *) from made",
    "with made as (update copied_messages set message_number = 1 returning *) from made",
    "with made as (delete from copied_messages returning *) from made",
    "with made as (truncate copied_messages) from made",
    "from enable_profiling(save_location := '{folder}/made')",
    "from json_execute_serialized_sql(json_serialize_sql('select 1'))",
    (
        "from json_execute_serialized_sql(json_serialize_sql("
        "'with made as (copy (select 1) to ''{table}'' (use_tmp_file false)) from made'))"
    ),
    "from query('from json_exe' || 'cute_serialized_sql(json_serialize_sql(''select 1''))')",
    "select (from system.main.\"json_execute_serialized_sql\"(json_serialize_sql('select 1')))",
    "from create_external_resource('x', params := map {{'a': 'b'}})",
    "from checkpoint()",
    "from query(if(random() < 2, 'from sessions', ''))",
    "from system.main.QUERY('from sessions')",
)


OF_THE_COMMAND = ATTACKS[:1] + ATTACKS[20:21]


class Prison(NamedTuple):
    """Tables that can be asked, beside what nobody may see or change."""

    database: Database
    folder: Path
    names: dict[str, Path]

    def state(self) -> dict[Path, bytes]:
        """All files, with what is in them."""
        return {path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def prison(tmp_path_factory: pytest.TempPathFactory, written: Path) -> Iterator[Prison]:
    """One for all attacks."""
    folder = tmp_path_factory.mktemp("prison")
    out, private = folder / "out", folder / "private"
    shutil.copytree(written, out)
    private.mkdir()
    names = {"folder": private, "secret": private / "secret.csv", "other": out / "other.parquet"}
    names["secret"].write_text(f"words\n{CANARY}\n")
    pq.write_table(pa.table({"words": [CANARY]}), names["other"])
    names["table"] = next(out.glob("sessions/*/*/*.parquet"))
    with Database(open_store(str(out))) as database:
        yield Prison(database, folder, names)


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_query_reaches_nothing_but_the_tables(
    prison: Prison, attack: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CANARY", CANARY)
    secret_of_python = pa.table({"words": [CANARY]})
    assert secret_of_python.num_rows
    before = prison.state()
    with pytest.raises(BadQueryError) as refused:
        list(prison.database.ask(attack.format(**prison.names))[1])
    assert CANARY not in str(refused.value)
    assert prison.state() == before


@pytest.mark.parametrize("attack", OF_THE_COMMAND)
def test_the_command_refuses_it_too(geminids: Run, prison: Prison, attack: str) -> None:
    query = attack.format(**prison.names)
    found = geminids("sql", "--tables", prison.folder / "out", "--json", query)
    assert (found.code, found.out) == (2, "")


@pytest.mark.slow
def test_no_function_of_the_engine_reads_a_file(prison: Prison) -> None:
    named = (
        "select distinct function_name as name, function_type as kind from duckdb_functions() "
        "where len(parameters) >= 1 and parameter_types[1] in ('VARCHAR', 'VARCHAR[]', 'ANY') "
        "and function_type in ('table', 'scalar') and regexp_matches(function_name, '^[a-z_0-9]+$')"
    )
    _, batches = prison.database.ask(named)
    functions = [row for batch in batches for row in batch.to_pylist()]
    assert len(functions) > 100
    answered = 0
    for function in functions:
        asked = "from" if function["kind"] == "table" else "select"
        try:
            _, batches = prison.database.ask(f"{asked} {function['name']}('{prison.names['secret']}')")
            told = str([batch.to_pylist() for batch in batches])
        except (BadQueryError, TablesDamagedError):
            continue
        answered += 1
        assert CANARY not in told, function
    assert answered > 20


@pytest.mark.slow
def test_functions_that_do_something_are_known(prison: Prison) -> None:
    """A release of the engine may bring new ones: what each does is to be looked at."""
    named = "select distinct function_name as name from duckdb_functions() where function_type = 'table'"
    _, batches = prison.database.ask(named)
    found = {row["name"] for batch in batches for row in batch.to_pylist()}
    telling = r"(duckdb|pragma|pg|icu|test)_\w+"
    reading = r"(read|parquet|json)_\w+|glob|sniff_csv|which_secret"
    scanning = r"(seq|arrow|pandas|python_arrow)_scan\w*|python_map_function"
    making = r"range|generate_series|repeat|repeat_row|unnest|summary|query_table"
    harmless = re.compile("|".join((telling, reading, scanning, making)))
    assert {name for name in found if not harmless.fullmatch(name)} == DOING - {"json_execute_serialized_sql"}


# Places


def test_tables_of_several_machines_count_copies_once(geminids: Run, tmp_path: Path) -> None:
    write_session(tmp_path / "home")
    for machine in ("laptop", "desktop"):
        write_tables(tmp_path / "home", tmp_path / machine, tmp_path / "out", machine)
    query = "select (select count(*) from sessions) one, (select count(*) from all_sessions) every"
    found = rows(geminids("sql", "--tables", tmp_path / "out", "--json", query))
    assert found == [{"one": 1, "every": 2}]


def test_a_folder_with_the_name_of_a_pattern(geminids: Run, tmp_path: Path) -> None:
    write_session(tmp_path / "home")
    place = tmp_path / "it's [x]*"
    write_tables(tmp_path / "home", tmp_path / "data", place)
    query = "select agent, month, total from requests"
    (row,) = rows(geminids("sql", "--tables", place, "--json", query))
    assert row == {"agent": "gemini", "month": "2026-05", "total": 12}


def test_files_of_others_among_tables(geminids: Run, out: Path) -> None:
    path = next(out.glob("sessions/*/*/*.parquet"))
    for name in ("._laptop.parquet", "_SUCCESS", "notes.txt"):
        path.with_name(name).write_bytes(b"none of ours")
    query = "select count(*) as n, min(agent) as agent from all_sessions"
    assert rows(geminids("sql", "--tables", out, "--json", query)) == [{"n": 1, "agent": "gemini"}]
    shutil.copyfile(path, path.with_name("copy of *.parquet"))
    found = geminids("sql", "--tables", out, "--json", query)
    assert rows(found) == [{"n": 1, "agent": "gemini"}]
    assert "Not read, since no machine wrote it there; remove it:" in found.err
    assert "copy of *.parquet" in found.err


def test_a_folder_below_the_home_of_the_user(
    geminids: Run, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(out.parent))
    query = "select count(*) as n from sessions"
    assert rows(geminids("sql", f"--tables=~/{out.name}/", "--json", query)) == [{"n": 1}]


def test_tables_without_words_have_all_columns(geminids: Run, tmp_path: Path) -> None:
    write_session(tmp_path / "home")
    write_tables(tmp_path / "home", tmp_path / "data", tmp_path / "out", words=False)
    query = "select text, prompts, title from messages join sessions on session_id = sessions.id"
    assert (
        rows(geminids("sql", "--tables", tmp_path / "out", "--json", query))
        == [{"text": None, "prompts": 1, "title": None}] * 2
    )


@pytest.mark.parametrize("place", ["", "missing", "it's"], ids=["empty", "not there", "a quote"])
def test_a_place_without_tables_is_exit_code_1(geminids: Run, tmp_path: Path, place: str) -> None:
    found = geminids("sql", "--tables", tmp_path / place, "select 1")
    assert (found.code, found.out) == (1, "")
    assert "No tables in" in found.err
    assert f"`geminids tables --out {shlex.quote(str(tmp_path / place))}`" in " ".join(found.err.split())


@pytest.mark.parametrize("place", ["ftp://host/x", "s3:/bucket", "s3://"])
def test_an_address_that_is_none_is_told(geminids: Run, place: str) -> None:
    found = geminids("sql", "--tables", place, "select 1")
    assert found.code in (1, 2)
    assert place in found.err


def test_a_file_is_no_folder_of_tables(geminids: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    found = geminids("sql", "--tables", tmp_path / "file", "select 1")
    assert (found.code, "it is not a folder" in found.err) == (2, True)


def rewritten(out: Path, table: str, change: Callable[[pa.Table], pa.Table]) -> None:
    for path in out.glob(f"{table}/*/*/*.parquet"):
        pq.write_table(change(pq.ParquetFile(path).read()), path)


def test_tables_of_a_newer_release_are_refused(geminids: Run, out: Path) -> None:
    (manifest,) = (out / FOLDER).glob("*.json")
    written = json.loads(manifest.read_text())
    manifest.write_text(json.dumps(written | {"schema": VERSION + 1}))
    found = geminids("sql", "--tables", out, "select 1")
    assert (found.code, "newer release" in found.err) == (2, True)

    manifest.unlink()
    found = geminids("sql", "--tables", out, "select 1")
    assert (found.code, "no manifest in _geminids names its" in found.err) == (2, True)


def test_columns_that_an_earlier_release_did_not_write_are_null(geminids: Run, out: Path) -> None:
    rewritten(out, "sessions", lambda one: one.drop_columns(["branch", "messages"]))
    query = "select branch, messages, prompts from sessions"
    assert rows(geminids("sql", "--tables", out, "--json", query)) == [
        {"branch": None, "messages": None, "prompts": 1}
    ]


@pytest.mark.parametrize("content", [b"", b"PAR1 and no more", None], ids=["empty", "no Parquet", "cut"])
def test_a_damaged_file_is_told(geminids: Run, out: Path, content: bytes | None) -> None:
    path = next(out.glob("requests/*/*/*.parquet"))
    path.write_bytes(path.read_bytes()[:-9] if content is None else content)
    found = geminids("sql", "--tables", out, "select sum(total) from requests")
    assert (found.code, found.out) == (3, "")
    assert "Cannot read the tables in" in found.err


# While it runs


@pytest.mark.slow
def test_what_does_not_fit_into_memory_goes_through_a_folder_that_is_gone_afterwards(
    out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spill = tmp_path / "spill"
    spill.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(spill))
    with Database(open_store(str(out)), memory="100MB") as database:
        query = (
            "select count(*) n from (select range r, md5(range::varchar) m from range(2000000) order by m)"
        )
        _, batches = database.ask(query)
        assert [batch.to_pylist() for batch in batches] == [[{"n": 2_000_000}]]
        (folder,) = spill.iterdir()
        assert folder.stat().st_mode & 0o077 == 0
    assert list(spill.iterdir()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells how much memory a process has")
def test_a_single_value_cannot_take_all_memory(geminids: Run, out: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_AS)
    found = geminids("sql", "--tables", out, "select length(repeat('a', 4000000000))")
    assert (found.code, found.out) == (3, "")
    assert "needs more than" in found.err
    assert resource.getrlimit(resource.RLIMIT_AS) == before


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells how much memory a process has")
@pytest.mark.parametrize("form", ["table", "csv", "json"])
@pytest.mark.parametrize(("length", "rows"), [(40_000_000, 40), (700_000_000, 1)])
def test_nor_can_some_rows(out: Path, form: str, length: int, rows: int) -> None:
    query = f"select repeat('a', {length}) as long from range({rows})"
    line = [sys.executable, "-m", "geminids", "sql", "--tables", str(out), "-f", form, query]
    done = subprocess.run(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, b"needs more than" in done.stderr) == (3, True), done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize(
    "query",
    [
        "select count(*) from range(1000000) a, range(1000000) b where (a.range * b.range) % 7 = 3",
        "select levenshtein(repeat('a', 1000000), repeat('b', 1000000))",
    ],
    ids=["many steps", "a step that takes hours"],
)
def test_a_long_query_is_stopped_at_once(
    out: Path, tmp_path: Path, query: str, number: int, code: int
) -> None:
    line = [sys.executable, "-m", "geminids", "sql", "--tables", str(out), query]
    spill = tmp_path / "spill"
    spill.mkdir()
    process = subprocess.Popen(line, stderr=subprocess.PIPE, env=os.environ | {"TMPDIR": str(spill)})
    until = time.monotonic() + 30
    while not list(spill.iterdir()):
        assert time.monotonic() < until
        time.sleep(0.05)
    time.sleep(1)
    process.send_signal(number)
    began = time.monotonic()
    _, said = process.communicate(timeout=20)
    assert (process.returncode, said) == (code, b"")
    assert time.monotonic() - began < 5
    assert list(spill.iterdir()) == []
