"""The report of what a format cannot carry. `slow/test_export_proof.py` proves the tables it is made of."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from geminids.core.errors import NoTableError
from geminids.core.model import Origin, Session, State, Text
from geminids.library.export import Exporter
from geminids.sharing import export
from geminids.sharing.export.base import Format, Manner
from geminids.sharing.export.format_tables import Share, carried_by, level_of
from geminids.sharing.export.json_document import JsonDocument
from geminids.sharing.export.losses import Loss, LossReport, Verdict, losses
from geminids.sharing.transcript.entries import LEVELS, Detail
from tests.support.carried_tables import manners
from tests.support.exporting import fixture_sessions, hostile_session, looked_at_sessions, manner
from tests.support.probed_sessions import call, proving_sessions, session_of_parts
from tests.support.tried_losses import tried_losses

replace = msgspec.structs.replace

EVERYTHING_CARRIED = ("json", "vac", "vac-cbor", "vcon")
APART = 23
"""Of all sessions of fixtures, each format is tried with one of so many, each with others."""


@pytest.mark.slow
@pytest.mark.parametrize("name", export.available())
def test_what_the_report_says_of_other_sessions_is_what_trying_shows(name: str) -> None:
    chosen, place = export.load(name), export.available().index(name)
    others = [*fixture_sessions().values()][place::APART]
    assert len(others) > 10
    for session in others:
        said = losses(session, chosen, manner(chosen.level))
        tried = {loss.fact: loss for loss in tried_losses(session, chosen, manner(chosen.level)).losses}
        assert {loss.fact for loss in said.losses} == tried.keys()
        for loss in said.losses:
            _agrees(loss, tried[loss.fact])


def _agrees(said: Loss, tried: Loss) -> None:
    """Whether the report promises no value that is not there, and calls none lost that is.

    What a level leaves out may show all the same: the words of a result stand in its call as well.
    """
    assert said.values == said.tried == tried.values, said.fact
    if tried.tried == tried.values:
        assert said.carried <= tried.carried, said.fact
        # A message that is left out shows by that that it was not recorded; the report does not count this.
        if said.fact != "message: state":
            assert said.lost <= tried.values - tried.carried, said.fact


@pytest.mark.parametrize("name", EVERYTHING_CARRIED)
def test_a_format_that_reads_back_carries_everything(name: str) -> None:
    for session in proving_sessions():
        report = losses(session, export.load(name), manner("everything"))
        assert not [loss.fact for loss in report.losses if loss.verdict is not Verdict.CARRIED]
        assert report.session_id == session.id


def test_what_a_level_leaves_out_is_counted_and_not_called_lost() -> None:
    parts = [Text("asked", Origin.HUMAN), Text("said", Origin.MODEL), Text("put in", Origin.INJECTED)]
    report = losses(session_of_parts(*parts), export.load("json"), manner("conversation"))
    assert _loss(report, "text: the model") == _counts("text: the model", carried=1)
    assert _loss(report, "text: context added by the agent").verdict is Verdict.LEFT_OUT
    assert _loss(report, "messages") == _counts("messages", carried=2, left_out=1)
    assert all(loss.lost == 0 for loss in report.losses)


def test_what_no_level_tells_is_lost_at_every_level() -> None:
    session = looked_at_sessions()["tool-calls-jsonl-2"]
    for level in LEVELS:
        loss = _loss(losses(session, export.load("markdown"), manner(level)), "tool call: id")
        assert (loss.verdict, loss.lost) == (Verdict.LOST, loss.values)


def test_what_a_format_carries_of_some_values_is_in_part_there() -> None:
    session = looked_at_sessions()["tool-calls-jsonl-2"]
    loss = _loss(losses(session, export.load("markdown"), manner("everything")), "message: time")
    assert (loss.verdict, loss.cut) == (Verdict.PARTLY, loss.values)


def test_values_are_lost_with_the_messages_that_they_stand_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = 'whole = ["text.text (human)", "messages (current)"]'
    asked = session_of_parts(*(Text(words, Origin.HUMAN) for words in ("stays", "goes", "goes too")))
    first, *others = asked.messages
    rewound = replace(asked, messages=(first, *(replace(m, state=State.REWOUND) for m in others)))
    report = losses(rewound, _of_another_package(tmp_path, monkeypatch, table), manner("everything"))
    assert _loss(report, "messages: rewound").lost == 2
    assert _loss(report, "text: your prompts") == _counts("text: your prompts", carried=1, lost=2)


def test_options_have_tables_of_their_own() -> None:
    session = session_of_parts(Text("look", Origin.HUMAN), call(call_id="c1", arguments={"path": "a.py"}))
    said = {
        table: _loss(losses(session, export.load("csv"), manner("everything", table=table)), "tool call: id")
        for table in ("messages", "calls")
    }
    assert {table: loss.verdict for table, loss in said.items()} == {
        "messages": Verdict.LOST,
        "calls": Verdict.CARRIED,
    }


@pytest.mark.parametrize("name", export.available())
def test_every_format_reports_at_every_level_with_every_option(name: str) -> None:
    chosen = export.load(name)
    for chosen_manner in (one for level in LEVELS for one in manners(chosen, level)):
        report = losses(hostile_session(), chosen, chosen_manner)
        assert report.format == name
        assert all(0 <= loss.lost <= loss.tried == loss.values for loss in report.losses)


def test_a_level_without_a_name_is_taken_for_the_fullest_that_it_tells() -> None:
    assert {name: level_of(detail) for name, detail in LEVELS.items()} == {name: name for name in LEVELS}
    assert level_of(Detail(thoughts=True)) == "conversation"
    assert level_of(Detail(replies=False, notices=True)) == "prompts"
    session = looked_at_sessions()["images"]
    assert losses(session, export.load("text"), Manner(detail=Detail(thoughts=True))).losses


def test_a_report_writes_nothing() -> None:
    class Unwritten(JsonDocument):
        __module__ = JsonDocument.__module__

        def write(self, sessions: Iterable[Session], manner: Manner) -> Iterator[bytes]:
            pytest.fail("a report tries nothing")

    assert losses(looked_at_sessions()["images"], Unwritten(), manner("everything")).losses


def test_the_lost_come_first_and_reports_add_up() -> None:
    chosen = export.load("chat")
    one, other = (
        losses(looked_at_sessions()[case], chosen, manner("tools")) for case in ("images", "errors")
    )
    both = one + other
    assert (both.sessions, both.session_id, both.format) == (2, None, "chat")
    for report in (one, other, both):
        verdicts = [list(Verdict).index(loss.verdict) for loss in report.losses]
        assert verdicts == sorted(verdicts)
    for name in ("values", "tried", "carried", "cut", "left_out"):
        counts = [sum(getattr(loss, name) for loss in report.losses) for report in (one, other, both)]
        assert counts[0] + counts[1] == counts[2]


def test_a_format_of_another_package_brings_its_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = 'whole = ["message.id", "messages (current)"]\npart = ["message.at"]'
    chosen = _of_another_package(tmp_path, monkeypatch, table)
    carried = carried_by(chosen, manner("everything"))
    assert carried.at_everything("message.at") is Share.PART
    assert carried.at_everything("message.of_tomorrow") is Share.LOST, "nothing is promised"
    report = losses(session_of_parts(Text("look", Origin.HUMAN)), chosen, manner("conversation"))
    assert {loss.fact for loss in report.having(Verdict.CARRIED)} == {"message: id", "messages"}


def test_a_format_without_a_table_is_refused_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = _of_another_package(tmp_path, monkeypatch)
    assert Exporter(chosen, manner("everything")).losses is None
    with pytest.raises(NoTableError, match=r"carried/foreign\.toml"):
        Exporter(chosen, manner("everything"), report=True)


def _of_another_package(folder: Path, monkeypatch: pytest.MonkeyPatch, table: str | None = None) -> Format:
    """A format that writes JSON, and what is said to be carried by it."""
    if table is not None:
        (folder / "carried").mkdir()
        (folder / "carried" / "foreign.toml").write_text(f"[usual.everything]\n{table}\n", "utf-8")
    source = "from geminids.sharing.export.json_document import JsonDocument\n"
    source += "class Foreign(JsonDocument):\n    name = 'foreign'\n"
    module = f"foreign_format_{folder.name.replace('-', '_')}"
    (folder / f"{module}.py").write_text(source, "utf-8")
    monkeypatch.syspath_prepend(folder)
    chosen: Format = importlib.import_module(module).Foreign()
    return chosen


def _loss(report: LossReport, fact: str) -> Loss:
    return next(loss for loss in report.losses if loss.fact == fact)


def _counts(fact: str, *, lost: int = 0, **counts: int) -> Loss:
    """A loss of which all other counts are none."""
    values = lost + sum(counts.values())
    named: Mapping[str, Any] = {"carried": 0, "cut": 0, "left_out": 0} | counts
    return Loss(fact=fact, values=values, tried=values, **named)
