"""What may be asked of the data source, and what is said where it may not."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest
from pyspark.sql.datasource import (
    EqualTo,
    Filter,
    GreaterThan,
    In,
    IsNotNull,
    LessThan,
    LessThanOrEqual,
    Not,
    StringStartsWith,
)

from geminids.core.errors import BadTimeError, GeminidsError
from geminids.scale.only import ANYTHING, Only
from geminids.scale.schema import TABLES
from geminids.scale.spark import register
from geminids.scale.spark.filters import heeded
from geminids.scale.spark.options import MEANINGS, asked
from geminids.sharing.redact import Redactor

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MAY = datetime(2026, 5, 1, tzinfo=UTC)
LAST = datetime.max.replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "Nothing to load: load(…) names a folder of homes, exported copies or tables."),
        ({"tabel": "calls"}, f"No option 'tabel'. There are: {', '.join(MEANINGS)}."),
        ({"table": "call"}, f"The option table cannot be 'call'. There are: {', '.join(TABLES)}."),
        (
            {"agents": "gemini,copilot"},
            "The option agents cannot be 'copilot'. There are: claude, codex, gemini.",
        ),
        ({"bytes": "many"}, "The option bytes cannot be 'many': it is a whole number from 100000."),
        ({"bytes": "5"}, "The option bytes cannot be 5: it is a whole number from 100000."),
        ({"words": "no"}, "The option words cannot be 'no': it is true or false."),
        ({"columns": " ,"}, "The option columns cannot be ' ,': it names nothing."),
        ({"agents": ","}, "The option agents cannot be ',': it names nothing."),
        ({"redact": "off"}, "The option redact cannot be 'off': it is true or false."),
    ],
)
def test_what_cannot_be_asked_is_said_with_what_can(options: dict[str, str], said: str) -> None:
    with pytest.raises(GeminidsError) as error:
        asked(options if not options else {"path": "/homes"} | options)
    assert str(error.value) == said


def test_a_column_that_a_table_lacks_is_said_with_those_it_has() -> None:
    with pytest.raises(GeminidsError, match=r"columns cannot be 'texts'. There are: agent, month, .*text,"):
        asked({"path": "/homes", "table": "messages", "columns": "texts"})
    with pytest.raises(GeminidsError, match=r"columns cannot be 'text'. There are"):
        asked({"path": "/homes", "table": "messages", "columns": "text", "words": "false"})


def test_a_moment_that_is_none_is_said() -> None:
    with pytest.raises(BadTimeError):
        asked({"path": "/homes", "since": "soon"})


def test_names_of_options_have_no_case_and_columns_stand_in_the_order_of_the_table() -> None:
    found = asked({"path": "/homes", "TABLE": "calls", "Columns": "tool, id ,agent".replace("id", "call_id")})
    assert (found.table, found.columns) == ("calls", ("agent", "call_id", "tool"))


def test_without_words_there_are_no_columns_of_words() -> None:
    found = asked({"path": "/homes", "table": "calls", "words": "false"})
    assert not {"argument", "arguments", "output", "error"} & set(found.columns)
    assert {"tool", "status"} < set(found.columns)


def test_secrets_are_hidden_unless_it_is_said_otherwise(machine: Path) -> None:
    assert isinstance(asked({"path": "/homes"}).redactor(), Redactor)
    assert asked({"path": "/homes", "redact": "false"}).redactor() is None


@pytest.mark.slow
def test_a_key_in_a_file_hides_alike_wherever_it_is(tmp_path: Path, machine: Path) -> None:
    key = tmp_path / "key"
    key.write_bytes(bytes(range(32)))
    hiding = [
        redactor.fingerprint
        for options in ({"keyFile": str(key)}, {"keyfile": str(key)}, {})
        if (redactor := asked({"path": "/homes"} | options).redactor())
    ]
    assert hiding[0] == hiding[1] != hiding[2]


def test_a_key_that_is_none_is_said(tmp_path: Path) -> None:
    (tmp_path / "key").write_bytes(b"short")
    with pytest.raises(GeminidsError, match="has 5 bytes instead of 32"):
        asked({"path": "/homes", "keyFile": str(tmp_path / "key")}).redactor()


@pytest.mark.parametrize(
    ("filters", "only"),
    [
        ([], ANYTHING),
        ([EqualTo(("agent",), "gemini")], Only(agents=frozenset({"gemini"}))),
        ([In(("machine",), ("a", "b", None))], Only(machines=frozenset({"a", "b"}))),
        ([EqualTo(("project",), "/x"), IsNotNull(("project",))], Only(projects=frozenset({"/x"}))),
        ([GreaterThan(("at",), MAY)], Only(since=MAY)),
        ([GreaterThan(("started_at",), MAY.replace(tzinfo=None))], Only(since=MAY)),
        ([LessThan(("ended_at",), MAY)], Only(until=MAY)),
        ([LessThanOrEqual(("at",), MAY)], Only(until=MAY.replace(microsecond=1))),
        ([EqualTo(("at",), MAY)], Only(since=MAY, until=MAY.replace(microsecond=1))),
        ([LessThanOrEqual(("at",), LAST)], ANYTHING),
        ([EqualTo(("at",), LAST)], Only(since=LAST)),
        ([EqualTo(("agent",), "a"), EqualTo(("agent",), "b")], Only(agents=frozenset())),
        ([Not(EqualTo(("agent",), "gemini"))], ANYTHING),
        ([Not(GreaterThan(("at",), MAY))], ANYTHING),
        ([StringStartsWith(("project",), "/x")], ANYTHING),
        ([EqualTo(("title",), "x"), EqualTo(("requests",), 1)], ANYTHING),
        ([GreaterThan(("files", "size"), 1)], ANYTHING),
    ],
)
def test_conditions_narrow_what_is_read_and_never_more(filters: list[Filter], only: Only) -> None:
    assert heeded(filters) == only


def test_a_spark_that_knows_no_data_sources_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("geminids.scale.spark.source", "geminids.scale.spark.partition"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "pyspark.sql.datasource", None)
    with pytest.raises(GeminidsError, match=r"No Spark here that knows Python Data Sources\. Use that of"):
        register(cast("SparkSession", object()))
