"""What Claude Code is going to delete. tests/real compares it with the program itself."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from geminids.core import agents
from geminids.core.agents.fates import Forecast
from geminids.core.agents.homes import Home
from geminids.core.agents.resume import Circumstances
from tests.support.reading import custodian_of

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
ONE, TWO, THREE = (f"{number * 8}-aaaa-4aaa-8aaa-aaaaaaaaaaaa" for number in "123")


class Desk:
    """A home of Claude Code, and the folder of a project."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.project = folder / "a shop"
        self.project.mkdir()
        self.data = folder / "home" / ".claude"
        self.sessions = self.data / "projects" / "-a-shop"
        self.sessions.mkdir(parents=True)
        self.variables: dict[str, str] = {}

    def put(self, inside: str, days: float, **more: Any) -> Path:
        """A file that was last written to so many days ago."""
        file = self.sessions / inside
        file.parent.mkdir(parents=True, exist_ok=True)
        line = {"type": "user", "uuid": "u", "cwd": str(self.project), "message": {"content": "hi"}, **more}
        file.write_text(json.dumps(line) + "\n")
        self.touch(file, days)
        return file

    def touch(self, file: Path, days: float) -> None:
        os.utime(file, ((NOW - timedelta(days=days)).timestamp(),) * 2)

    def settle(self, written: object, folder: Path | None = None, name: str = "settings.json") -> Path:
        file = (folder or self.data) / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(written if isinstance(written, str) else json.dumps(written))
        return file

    def forecast(self) -> Forecast:
        source, home = agents.load("claude"), Home("claude", str(self.data), "given")
        readings = map(source.read_with_fates, source.scan(home).bundles)
        fates = [fate for reading in readings for fate in reading.fates]
        circumstances = Circumstances(
            environment=self.variables, user_home=str(self.folder / "home"), here="/", now=NOW
        )
        return custodian_of(source).forecast(home, fates, circumstances)

    def due(self) -> dict[str, str]:
        """Why files go that are due now, by name."""
        gone = [one for one in self.forecast().deletions if one.at and one.at < NOW]
        return {Path(one.file).name: one.cause for one in gone}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_what_was_not_written_to_for_thirty_days_goes_with_its_subagents(desk: Desk) -> None:
    old, new = desk.put(f"{ONE}.jsonl", 31), desk.put(f"{TWO}.jsonl", 29)
    desk.put(f"{ONE}/subagents/agent-new.jsonl", 1)
    desk.put(f"{TWO}/subagents/agent-old.jsonl", 40)
    assert desk.due() == {old.name: "age", "agent-new.jsonl": "with-parent"}
    first, *_, last = desk.forecast().deletions
    assert first.reason == (
        "Deleted in the background by a session of Claude Code: it was last written to on 2026-10-15, and is "
        "kept for 30 days."
    )
    assert Path(last.file).parent.parent == new.with_suffix("")
    assert last.at == NOW + timedelta(days=1)


def test_subagents_without_a_parent_go_by_themselves(desk: Desk) -> None:
    desk.put(f"{ONE}/subagents/agent-old.jsonl", 40)
    desk.put(f"{ONE}/subagents/agent-new.jsonl", 4)
    desk.put("agent-beside.jsonl", 40)
    assert desk.due() == {"agent-old.jsonl": "age", "agent-beside.jsonl": "age"}


def test_what_the_desktop_app_led_and_what_is_empty_is_spared(desk: Desk) -> None:
    desk.put(f"{ONE}.jsonl", 40, entrypoint="claude-desktop")
    empty = desk.put(f"{TWO}.jsonl", 40)
    empty.write_text("")
    desk.touch(empty, 40)
    assert desk.due() == {}
    desk.put(f"{TWO}/subagents/agent-new.jsonl", 1)
    assert desk.due() == {empty.name: "age", "agent-new.jsonl": "with-parent"}


@pytest.mark.parametrize("written", ['{"cleanupPeriodDays": 0}', '{"cleanupPeriodDays": "7"}', "{", "[]"])
@pytest.mark.parametrize("where", ["user", "project"])
def test_where_it_does_not_understand_its_settings_it_deletes_nothing(
    desk: Desk, written: str, where: str
) -> None:
    desk.put(f"{ONE}.jsonl", 31)
    file = desk.settle(written, desk.data if where == "user" else desk.project / ".claude")
    told = desk.forecast().retentions[-1]
    assert (told.rest, told.told_by) == (None, str(file))
    assert "cannot read" in (told.remedy or "")
    # A session in another project goes by the user's settings.
    assert bool(desk.due()) is (where == "project")


def test_what_a_project_settles_counts_for_all_projects(desk: Desk) -> None:
    file = desk.put(f"{ONE}.jsonl", 8)
    desk.settle({"cleanupPeriodDays": 60})
    assert desk.due() == {}
    local = desk.settle({"cleanupPeriodDays": 7}, desk.project / ".claude", "settings.local.json")
    assert desk.due() == {file.name: "age"}
    (deletion,) = desk.forecast().deletions
    assert f"in {str(desk.project)!r}:" in deletion.reason
    assert deletion.setting == str(local)
    assert [one.rest for one in desk.forecast().retentions] == [timedelta(days=60), timedelta(days=7)]


@pytest.mark.parametrize(("days", "is_due"), [(0.5, False), (1.5, True)])
def test_it_looks_for_what_is_old_once_a_day(desk: Desk, days: float, is_due: bool) -> None:
    desk.put(f"{ONE}.jsonl", 31)
    mark = desk.data / ".last-cleanup"
    mark.write_text("")
    desk.touch(mark, days)
    assert bool(desk.due()) is is_due
    (deletion,) = desk.forecast().deletions
    assert deletion.at == NOW + (timedelta(days=0.5) if not is_due else timedelta(days=-0.5))


def test_how_to_prevent_it_is_said(desk: Desk) -> None:
    (told,) = desk.forecast().retentions
    file = str(desk.data / "settings.json")
    expected = f'To stop this, add {{"cleanupPeriodDays": 3650}} to {file!r}.'
    assert (told.program, told.remedy) == (None, expected)
    program = desk.folder / "versions" / "2.1.325"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    (desk.folder / "claude").symlink_to(program)
    desk.variables["PATH"] = str(desk.folder)
    assert desk.forecast().retentions[0].program == "Claude Code 2.1.325"


def test_other_homes_are_none_of_its_business(desk: Desk) -> None:
    desk.put(f"{ONE}.jsonl", 31)
    source, other = agents.load("claude"), Home("claude", str(desk.folder / "other"), "given")
    fates = source.read_with_fates(source.scan(Home("claude", str(desk.data), "given")).bundles[0]).fates
    circumstances = Circumstances(environment={}, user_home="/nowhere", here="/", now=NOW)
    assert custodian_of(source).forecast(other, fates, circumstances).deletions == ()
