"""The tables of README.md name every test and case that there is, and the releases it is tried with.

This starts no agent, so it runs with all other tests.
"""

from __future__ import annotations

import re
from pathlib import Path

from tests.real import test_rescuing, test_restoring
from tests.real.stranding import CASES

ROW = re.compile(r"^\| .* \| (?P<releases>[^|]*) \| `(?P<name>\w+)` \|$", re.MULTILINE)
RELEASE = re.compile(r"\d+\.\d+\.\d+")
NOT_IN_TABLE = {"test_shows_again_what_it_did_not_show", "test_nothing_is_said_of_what_the_cli_shows"}
"""The one that goes through all cases, and one without a trouble."""


def in_table() -> dict[str, list[str]]:
    """The releases of each test and case, as the table says."""
    written = Path(__file__).with_name("README.md").read_text()
    return {row["name"]: RELEASE.findall(row["releases"]) for row in ROW.finditer(written)}


def test_nothing_is_missing_in_the_table() -> None:
    tests = {
        name for part in (test_restoring, test_rescuing) for name in vars(part) if name.startswith("test_")
    }
    cases = {strand.__name__ for strand, _ in CASES}
    assert in_table().keys() == (tests | cases) - NOT_IN_TABLE


def test_cases_are_tried_with_the_releases_that_the_table_says() -> None:
    table = in_table()
    for strand, versions in CASES:
        assert table[strand.__name__][: len(versions)] == list(versions)


def test_tests_are_tried_with_the_releases_that_the_table_says() -> None:
    for name, releases in in_table().items():
        test = vars(test_restoring).get(name)
        marks = getattr(test, "pytestmark", [])
        for mark in marks:
            if mark.name == "parametrize" and mark.args[0] == "version":
                assert list(mark.args[1]) == releases
