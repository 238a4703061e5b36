"""A connection to a database that nobody closes fails the test in which it is found."""

from __future__ import annotations

import gc
import sqlite3

import pytest

from tests.support.connections import watching_connections


def leave_one_open() -> None:
    sqlite3.connect(":memory:")


def work(*, is_closed: bool) -> None:
    with watching_connections():
        if is_closed:
            sqlite3.connect(":memory:").close()
        else:
            leave_one_open()
        gc.collect()


def test_where_one_was_opened_that_nobody_closed_is_told() -> None:
    with pytest.raises(AssertionError, match=r"test_connections\.py:\d+: in leave_one_open: sqlite3\.conn"):
        work(is_closed=False)


def test_one_that_is_closed_is_none_of_them() -> None:
    work(is_closed=True)
