"""What is said of filters is said of all of them, and of nothing else."""

from __future__ import annotations

import pytest

from geminids.query.search.filter_notes import FILTER_NOTES, VALUE_NOTES
from geminids.query.search.filters import CHOICES, FILTERS, MOMENTS
from geminids.query.search.language import QuerySyntaxError, parse
from tests.conftest import NOW

TOLD = [(name, value) for name, values in VALUE_NOTES.items() for value in values]


def test_every_filter_has_a_note() -> None:
    assert set(FILTER_NOTES) == set(FILTERS)
    assert all(FILTER_NOTES.values())


def test_all_values_of_filters_that_take_one_of_a_few_are_told() -> None:
    told = {name: set(values) for name, values in VALUE_NOTES.items() if name not in MOMENTS}
    assert told == {name: set(values) for name, values in CHOICES.items()}


@pytest.mark.parametrize(("name", "value"), TOLD)
def test_the_language_takes_every_value_that_is_told(name: str, value: str) -> None:
    query = parse(f"cors {name}:{value}", NOW)
    if name in MOMENTS:
        assert (query.since if name == "since" else query.before) is not None
    else:
        assert [(one.name, one.value) for one in query.filters] == [(name, value)]
    with pytest.raises(QuerySyntaxError):
        parse(f"cors {name}:{value}ly", NOW)
