"""The index, the pool of processes and DuckDB over Parquet say the same of the same homes; so do engines like
Spark, which other tests ask.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from random import Random

import pytest

from geminids.library import Library
from tests.conftest import FIXTURES
from tests.support.engines import (
    asked_figures,
    checksums,
    database_of,
    pool_tables,
    settled_in_duckdb,
    stats_figures,
    written_tables,
)
from tests.support.redacting import redactor
from tests.support.spark_homes import AGENTS, damage, write_generated
from tests.support.tables import write_tables

pytestmark = pytest.mark.usefixtures("without_copies")

HOMES = sorted(FIXTURES.glob("*/*/home"))
OFTEN = {"fork", "subagents", "saved-chats", "torn-jsonl", "nested-agents", "legacy-fork"}
SOME = [home for home in HOMES if home.parent.name in OFTEN]


def check(home: Path, folder: Path, processes: int = 0) -> None:
    """Ask all engines of a home."""
    with Library([home], folder / "data") as library:
        truth = stats_figures(library)
    write_tables(home, folder / "data", folder / "out", "laptop")
    with database_of(folder / "out") as ask:
        assert asked_figures(ask) == truth, home
    pool = pool_tables([("laptop", home)], processes)
    # What has the same rows has the same figures.
    assert checksums(written_tables(folder / "out")) == checksums(pool), home


def named(home: Path) -> str:
    return f"{home.parent.parent.name}-{home.parent.name}"


@pytest.mark.parametrize("home", SOME, ids=named)
def test_all_engines_say_the_same(home: Path, tmp_path: Path) -> None:
    check(home, tmp_path)


def test_so_do_processes_of_a_pool(tmp_path: Path) -> None:
    homes = [(named(home), home) for home in SOME]
    alone, pool = pool_tables(homes), pool_tables(homes, 2)
    assert checksums(alone) == checksums(pool)
    assert asked_figures(settled_in_duckdb(pool)) == asked_figures(settled_in_duckdb(alone))


@pytest.mark.parametrize("home", SOME, ids=named)
def test_they_say_the_same_of_damaged_files(home: Path, tmp_path: Path) -> None:
    damage(shutil.copytree(home, tmp_path / "home", symlinks=True), Random(3))
    check(tmp_path / "home", tmp_path)


def test_what_is_hidden_changes_no_figure(tmp_path: Path) -> None:
    home = FIXTURES / "claude" / "fork" / "home"
    with Library([home], tmp_path / "data") as library:
        truth = stats_figures(library)
    write_tables(home, tmp_path / "data", tmp_path / "out", redactor=redactor("reduced"))
    with database_of(tmp_path / "out") as ask:
        assert asked_figures(ask) == truth


@pytest.mark.slow
@pytest.mark.parametrize("agent", AGENTS)
def test_they_say_the_same_of_every_recorded_home(agent: str, tmp_path: Path) -> None:
    for home in HOMES:
        if home.parent.parent.name == agent:
            check(home, tmp_path / named(home))


@pytest.mark.slow
def test_they_say_the_same_of_damaged_homes(tmp_path: Path) -> None:
    # Some of each kind of trouble; the others are damaged for the engines like Spark.
    for home in HOMES[::6]:
        folder = tmp_path / named(home)
        damage(shutil.copytree(home, folder / "home", symlinks=True), Random(named(home)))
        check(folder / "home", folder)


@pytest.mark.slow
def test_they_say_the_same_of_generated_homes_of_all_agents(tmp_path: Path) -> None:
    check(write_generated(tmp_path / "home", 40), tmp_path, 2)
