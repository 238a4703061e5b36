"""The pages of the formats are generated: `make golden` writes them anew."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from geminids.sharing import export
from tests.support.exporting import fixture_sessions
from tests.support.format_pages import ABOUT, FOLDER, overview, page
from tests.support.probed_sessions import facts, probed_sessions


@pytest.mark.parametrize("name", export.available())
def test_the_page_of_a_format_shows_what_it_writes_and_loses(name: str) -> None:
    _check(FOLDER / f"{name}.md", page(name))


def test_the_overview_shows_what_each_format_can_carry() -> None:
    _check(FOLDER / "README.md", overview())


def test_every_format_has_a_page_and_every_page_a_format() -> None:
    pages = {path.stem for path in FOLDER.glob("*.md")} - {"README"}
    assert pages == set(export.available()) == ABOUT.keys()


def test_the_tables_tell_of_every_fact_that_the_fixtures_hold() -> None:
    assert facts(probed_sessions()) == facts(fixture_sessions().values())


def _check(path: Path, text: str) -> None:
    if os.environ.get("GEMINIDS_GOLDEN") == "rewrite":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    assert path.exists(), f"no page {path}: run `make golden` and read what it wrote"
    assert path.read_text("utf-8") == text
