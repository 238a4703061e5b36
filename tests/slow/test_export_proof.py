"""The tables of what formats carry are what trying shows, for every kind of value, option and level."""

from __future__ import annotations

import os

import pytest

from geminids.sharing import export
from geminids.sharing.export.kinds import message_kind
from tests.support.carried_tables import table_file, table_of
from tests.support.model_kinds import held_values, model_kinds
from tests.support.probed_sessions import proving_sessions


@pytest.mark.parametrize("name", export.available())
def test_the_table_of_a_format_says_what_trying_shows(name: str) -> None:
    path, text = table_file(name), table_of(name)
    if os.environ.get("GEMINIDS_GOLDEN") == "rewrite":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    assert path.exists(), f"no table {path}: run `make golden` and read what it wrote"
    assert path.read_text("utf-8") == text


def test_every_kind_of_value_in_the_model_is_tried() -> None:
    held = {held.kind for session in proving_sessions() for held in held_values(session)}
    states = {message.state for session in proving_sessions() for message in session.messages}
    assert held | {message_kind(state) for state in states} == model_kinds()
