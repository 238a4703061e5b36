"""JSON that SQLite reads is what Python would have read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from geminids.storage.small_json import read_json

PLAIN = (
    some.none()
    | some.booleans()
    | some.integers(-(2**63), 2**63 - 1)
    | some.text(some.characters(exclude_categories=["Cs"], exclude_characters="\x00"))
)
VALUES = some.recursive(
    PLAIN,
    lambda inner: some.lists(inner) | some.dictionaries(some.text("ab ☃\"\\'.[]$"), inner),
)


@given(VALUES)
def test_what_was_written_is_read(value: Any) -> None:
    found = read_json(json.dumps(value))
    assert found == value
    assert repr(found) == repr(value)


@pytest.mark.parametrize("text", ["", "{", '{"a": [1, 2}', "[1] [2]", "nothing", '"a', "\ud800"])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_json(text)
