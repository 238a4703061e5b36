"""The forecast equals what the real programs then delete: recorded files, dated anew, in many releases."""

from __future__ import annotations

import json
import os
import shutil
import zlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from geminids.core.agents.fates import Forecast
from tests.real.cli import DAY, ClaudeDesk, GeminiDesk, as_json_lines, due, redated

pytestmark = pytest.mark.real

FIXTURES = Path(__file__).parent.parent / "fixtures" / "gemini"
RELEASES = (
    *("0.33.2", "0.36.0", "0.38.2", "0.41.2", "0.43.0"),
    *("0.45.2", "0.47.0", "0.54.4", "0.58.0", "0.61.0"),
)
READERS_OF_SETTINGS = ("0.33.2", "0.61.0")
"""In between, what reads the settings is the same as in one of these."""
THOSE_THAT_ASK_FOR_TRUST = RELEASES[3:]
"""Without a terminal, earlier ones trust every folder."""
AGES = (0.1, 2, 29.9, 30.1, 400)
"""How many days ago a recorded file was last used, by turns."""
HASH = "5d0ba2fc5ab4ff3ca9f4d0f5be0ed40c0b3a3e0b0ef1b5cba94cb46a3e5e1a11"


@pytest.fixture(params=RELEASES)
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> GeminiDesk:
    return GeminiDesk(tmp_path, request.param)


def release_of(desk: GeminiDesk) -> tuple[int, ...]:
    return tuple(map(int, desk.version.split(".")))


def days_ago(days: float) -> datetime:
    return datetime.now(UTC) - timedelta(days=days)


def compare(desk: GeminiDesk) -> Forecast:
    """Forecast, start, look. Gives the forecast for more questions; our command says the same."""
    forecast = desk.forecast()
    expected = due(forecast, datetime.now(UTC))
    assert desk.told() == expected
    assert desk.deleted_by_start() == expected
    return forecast


def causes(forecast: Forecast) -> dict[str, str]:
    """Why the files go that are due, by name."""
    now = datetime.now(UTC)
    return {Path(d.file).name: d.cause for d in forecast.deletions if d.at is None or d.at < now}


def session(
    desk: GeminiDesk,
    session_id: str,
    days: float,
    *,
    minute: str = "2026-10-01T10-00",
    kind: str | None = None,
    messages: bool = True,
    as_document: bool | None = None,
) -> Path:
    """A session as the release itself would write it, last used so many days ago."""
    release = release_of(desk)
    is_document = release < (0, 39, 0) if as_document is None else as_document
    used = f"{days_ago(days):%Y-%m-%dT%H:%M:%S}.000Z"
    header = {"sessionId": session_id, "projectHash": HASH, "startTime": used, "lastUpdated": used}
    header |= {"kind": kind} if kind else {}
    said: list[dict[str, Any]] = [
        {"id": f"{session_id}-1", "timestamp": used, "type": "user", "content": [{"text": "Count them"}]},
        {"id": f"{session_id}-2", "timestamp": used, "type": "gemini", "content": "Seven.", "model": "m"},
    ]
    said = said if messages else []
    whole = json.dumps({**header, "messages": said}, indent=2)
    file = desk.chats / f"session-{minute}-{session_id[:8]}.json{'' if is_document else 'l'}"
    file.write_text(whole if is_document else as_json_lines(header, *said))
    return file


def test_of_all_that_was_ever_recorded_those_go_that_we_said(desk: GeminiDesk) -> None:
    count = 0
    for chats in sorted(FIXTURES.glob("*/home/.gemini/tmp/*/chats")):
        for file in sorted(path for path in chats.rglob("*") if path.is_file()):
            place = desk.chats / file.relative_to(chats)
            if place.exists():
                continue
            place.parent.mkdir(exist_ok=True)
            age = AGES[zlib.crc32(str(place.name).encode()) % len(AGES)]
            content = file.read_bytes().decode(errors="surrogateescape")
            place.write_bytes(redated(content, days_ago(age)).encode(errors="surrogateescape"))
            count += 1
    assert count > 150
    forecast = compare(desk)
    assert len(causes(forecast)) > 10
    assert any(one.at and one.at > datetime.now(UTC) for one in forecast.deletions)


def test_of_what_was_resumed_all_goes_where_the_twin_takes_it_along(desk: GeminiDesk) -> None:
    for file in (FIXTURES / "startup-twin" / "home/.gemini/tmp/alpha/chats").iterdir():
        shutil.copy(file, desk.chats)
    release = release_of(desk)
    found = causes(compare(desk))
    assert ("twin" in found.values()) is (release >= (0, 47, 0))


def test_what_a_second_terminal_left_without_a_header_goes(desk: GeminiDesk) -> None:
    for file in (FIXTURES / "no-header" / "home/.gemini/tmp/alpha/chats").iterdir():
        shutil.copy(file, desk.chats)
    found = causes(compare(desk))
    assert ("unreadable" in found.values()) is (release_of(desk) >= (0, 39, 0))


def test_a_header_alone_goes_at_once(desk: GeminiDesk) -> None:
    alone = session(desk, "11111111-1111-4111-8111-111111111111", 0.1, messages=False)
    session(desk, "22222222-1111-4111-8111-111111111111", 0.1)
    assert causes(compare(desk)) == {alone.name: "nothing-to-resume"}


def test_the_file_of_a_subagent_takes_its_parent_along_since_0_36(desk: GeminiDesk) -> None:
    session_id = "33333333-1111-4111-8111-111111111111"
    own = session(desk, session_id, 0.1, minute="2026-10-01T10-01", kind="subagent", as_document=True)
    parent = session(desk, session_id, 0.1, minute="2026-10-01T10-00", as_document=True)
    release = release_of(desk)
    taken = {parent.name: "same-suffix"} if release >= (0, 36, 0) else {}
    assert causes(compare(desk)) == {own.name: "subagent", **taken}


def test_an_old_document_takes_the_new_log_of_the_session_along_since_0_42(desk: GeminiDesk) -> None:
    session_id = "44444444-1111-4111-8111-111111111111"
    old = session(desk, session_id, 31, as_document=True)
    new = session(desk, session_id, 0.1, as_document=False)
    subagent = desk.chats / session_id / "agent1.jsonl"
    subagent.parent.mkdir()
    subagent.write_text(new.read_text())
    release = release_of(desk)
    expected = {old.name: "age"}
    if release >= (0, 37, 0):
        expected[subagent.name] = "with-parent"
    if release >= (0, 42, 0):
        expected[new.name] = "same-suffix"
    assert causes(compare(desk)) == expected


@pytest.mark.parametrize("desk", READERS_OF_SETTINGS, indirect=True)
@pytest.mark.parametrize(
    "retention",
    [
        {"enabled": False},
        {"maxAge": "7d"},
        {"maxAge": "012h", "minRetention": "1h"},
        {"maxAge": "12h"},
        {"maxAge": "12h", "minRetention": "soon"},
        {"maxAge": "0d"},
        {"maxAge": 7},
        {"maxAge": ""},
        {"maxAge": None, "maxCount": 2},
        {"maxCount": 2},
        {"maxCount": 2.5},
        {"maxCount": "2"},
        {"maxCount": 0},
        {"maxCount": None},
        {"enabled": "false"},
        None,
        "off",
    ],
    ids=str,
)
def test_settings_mean_to_us_what_they_mean_to_the_cli(desk: GeminiDesk, retention: object) -> None:
    desk.settle(desk.data, retention)
    for number, days in enumerate((0.1, 0.6, 2, 8, 31)):
        session(desk, f"5{number}555555-1111-4111-8111-111111111111", days)
    session(desk, "66666666-1111-4111-8111-111111111111", 0.1, messages=False)
    compare(desk)


def test_what_the_project_settles_goes_before_what_the_user_does(desk: GeminiDesk) -> None:
    desk.settle(desk.data, {"maxAge": "60d"})
    (desk.project / ".gemini").mkdir()
    own = desk.project / ".gemini" / "settings.json"
    own.write_text('{"general": {"sessionRetention": {"maxAge": "7d"}}} // ours')
    old = session(desk, "77777777-1111-4111-8111-111111111111", 8)
    session(desk, "88888888-1111-4111-8111-111111111111", 6)
    forecast = compare(desk)
    assert causes(forecast) == {old.name: "age"}
    assert [one.told_by for one in forecast.retentions] == [str(desk.data / "settings.json"), str(own)]


@pytest.mark.parametrize("desk", THOSE_THAT_ASK_FOR_TRUST, indirect=True)
def test_what_a_project_settles_that_is_not_trusted_does_not_count(desk: GeminiDesk) -> None:
    (desk.data / "trustedFolders.json").write_text(json.dumps({str(desk.project): "DO_NOT_TRUST"}))
    (desk.project / ".gemini").mkdir()
    (desk.project / ".gemini" / "settings.json").write_text(
        '{"general": {"sessionRetention": {"enabled": false}}}'
    )
    session(desk, "77777777-1111-4111-8111-111111111111", 31)
    forecast = desk.forecast()
    assert len(due(forecast, datetime.now(UTC))) == 1
    assert desk.starts()
    assert not list(desk.chats.iterdir())


@pytest.mark.parametrize("desk", READERS_OF_SETTINGS, indirect=True)
@pytest.mark.parametrize("written", ["", "[1]", "{", '{"general": }'])
def test_with_settings_that_are_no_json_nothing_starts_and_nothing_goes(
    desk: GeminiDesk, written: str
) -> None:
    (desk.data / "settings.json").write_text(written)
    file = session(desk, "77777777-1111-4111-8111-111111111111", 31)
    assert not due(desk.forecast(), datetime.now(UTC))
    assert not desk.starts()
    assert file.exists()


def test_what_is_demanded_of_all_users_goes_before_everything(desk: GeminiDesk) -> None:
    system = Path(desk.environment["GEMINI_CLI_SYSTEM_SETTINGS_PATH"])
    system.parent.mkdir()
    desk.settle(desk.data, {"maxAge": "60d"})
    for name, age in (("settings.json", "7d"), ("system-defaults.json", "2d")):
        (system.parent / name).write_text(json.dumps({"general": {"sessionRetention": {"maxAge": age}}}))
    session(desk, "77777777-1111-4111-8111-111111111111", 8)
    session(desk, "88888888-1111-4111-8111-111111111111", 6)
    compare(desk)


def test_a_start_in_another_project_deletes_nothing_here(desk: GeminiDesk, tmp_path: Path) -> None:
    session(desk, "77777777-1111-4111-8111-111111111111", 31)
    elsewhere = tmp_path / "work" / "elsewhere"
    elsewhere.mkdir()
    trusted = {str(folder): "TRUST_FOLDER" for folder in (desk.project, elsewhere)}
    (desk.data / "trustedFolders.json").write_text(json.dumps(trusted))
    assert len(due(desk.forecast(), datetime.now(UTC))) == 1
    assert desk.deleted_by_start(elsewhere) == set()


def test_what_lies_in_a_folder_named_by_a_hash_is_left_alone(desk: GeminiDesk) -> None:
    hashed = desk.data / "tmp" / HASH / "chats"
    hashed.mkdir(parents=True)
    shutil.copy(session(desk, "77777777-1111-4111-8111-111111111111", 31), hashed)
    assert len(compare(desk).deletions) == 1


# -- Claude Code -----------------------------------------------------------------

LINE = {"type": "user", "uuid": "u", "sessionId": "s", "message": {"role": "user", "content": "hi"}}
SESSION_SECONDS = 12


@pytest.fixture
def claude(tmp_path: Path) -> ClaudeDesk:
    return ClaudeDesk(tmp_path)


def filled(desk: ClaudeDesk) -> None:
    """Sessions of all kinds and ages."""
    other = desk.data / "projects" / "-other"
    here = {**LINE, "cwd": str(desk.project)}
    at_desktop = {**LINE, "entrypoint": "claude-desktop"}

    def put(inside: str, days: float, *records: dict[str, Any]) -> None:
        file = other / inside
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(as_json_lines(*records))
        os.utime(file, (days_ago(days).timestamp(),) * 2)

    ids = [f"{number:08d}-1111-4111-8111-111111111111" for number in range(9)]
    put(f"{ids[1]}.jsonl", 31, here)
    put(f"{ids[1]}/subagents/agent-new.jsonl", 1, here)
    put(f"{ids[2]}.jsonl", 29, here)
    put(f"{ids[2]}/subagents/agent-old.jsonl", 40, here)
    put(f"{ids[3]}.jsonl", 8, here)
    put(f"{ids[4]}/subagents/agent-orphan-old.jsonl", 40, here)
    put(f"{ids[4]}/subagents/agent-orphan-new.jsonl", 4, here)
    put(f"{ids[5]}.jsonl", 40)
    put(f"{ids[6]}.jsonl", 40, at_desktop)
    put(f"{ids[7]}.jsonl", 40)
    put(f"{ids[7]}/subagents/agent-of-empty.jsonl", 1, here)
    put(f"{ids[8]}.jsonl", 4000, here)
    put("agent-beside.jsonl", 40, here)
    put("not-a-uuid.jsonl", 40, here)
    put("not-a-uuid/subagents/agent-x.jsonl", 2, here)


def settled(name: str, written: str) -> Callable[[ClaudeDesk], None]:
    def write(desk: ClaudeDesk) -> None:
        folder = desk.data if name == "user" else desk.project / ".claude"
        folder.mkdir(exist_ok=True)
        (folder / ("settings.local.json" if name == "local" else "settings.json")).write_text(written)

    return write


def cleaned(days: float) -> Callable[[ClaudeDesk], None]:
    def write(desk: ClaudeDesk) -> None:
        mark = desk.data / ".last-cleanup"
        mark.write_text("")
        os.utime(mark, (days_ago(days).timestamp(),) * 2)

    return write


@pytest.mark.parametrize(
    ("prepare", "goes"),
    [
        pytest.param(lambda desk: None, True, id="nothing settled"),
        pytest.param(settled("user", '{"cleanupPeriodDays": 7}'), True, id="user"),
        pytest.param(settled("user", '{"cleanupPeriodDays": 0}'), False, id="zero"),
        pytest.param(settled("user", '{"cleanupPeriodDays": "7"}'), False, id="text"),
        pytest.param(settled("user", '{"cleanup'), False, id="torn"),
        pytest.param(settled("project", '{"cleanupPeriodDays": 7}'), True, id="project"),
        pytest.param(settled("local", '{"cleanupPeriodDays": 7}'), True, id="local"),
        pytest.param(cleaned(0.5), False, id="cleaned today"),
        pytest.param(cleaned(1.1), True, id="cleaned yesterday"),
    ],
)
def test_claude_deletes_what_we_said(
    claude: ClaudeDesk, prepare: Callable[[ClaudeDesk], None], goes: bool
) -> None:
    filled(claude)
    prepare(claude)
    expected = due(claude.forecast(), datetime.now(UTC))
    assert bool(expected) is goes
    assert claude.deleted_in_session(SESSION_SECONDS) == expected


def test_claude_in_a_project_that_keeps_longer_spares_what_others_would_delete(claude: ClaudeDesk) -> None:
    filled(claude)
    settled("project", '{"cleanupPeriodDays": 3650}')(claude)
    forecast = claude.forecast()
    assert [one.rest for one in forecast.retentions] == [30 * DAY, 3650 * DAY]
    deleted = claude.deleted_in_session(SESSION_SECONDS)
    assert deleted < due(forecast, datetime.now(UTC))
    assert len(deleted) == 1
