"""What every source must hold to, whatever the agent: the fixture folders are the cases."""

from __future__ import annotations

import json
import re
import tomllib
from datetime import UTC
from pathlib import Path

import pytest
from msgspec.structs import replace

from geminids.core import agents
from geminids.core.agents.source import Source
from geminids.core.model import Origin, Role, Session, SessionKind, State
from tests.conftest import FIXTURES
from tests.support.accounts import accounted
from tests.support.golden import check_golden
from tests.support.reading import digest, readings, scans
from tests.support.reading import sessions as read_sessions
from tests.support.truth import Losses, differences, once

CASES = sorted(path.parent for path in FIXTURES.glob("*/*/home"))
LOSSES = Losses(FIXTURES.parent / "losses.toml")
CUTS = 9
"""In how many places each file of a case is cut."""


def source_of(case: Path) -> Source:
    return agents.load(case.parent.name)


@pytest.fixture(params=CASES, ids=lambda case: f"{case.parent.name}-{case.name}")
def case(request: pytest.FixtureRequest) -> Path:
    found: Path = request.param
    return found


def test_reads_what_the_agent_wrote(case: Path) -> None:
    found = read_sessions(source_of(case), case / "home")
    check_golden(case / "expected.json", [digest(session, case / "home") for session in found])


def test_agrees_with_what_really_happened(case: Path) -> None:
    if not (case / "truth.json").exists():
        pytest.skip("this case was recorded without a truth")
    truth = json.loads((case / "truth.json").read_bytes())
    about = tomllib.loads((case / "about.toml").read_text("utf-8"))
    scenario = about["how"].removeprefix("scenario ").partition(":")[0]
    found = differences(read_sessions(source_of(case), case / "home"), truth)
    excused = LOSSES.excused(scenario, about["agent_version"], case.parent.name)
    assert set(found) <= excused.keys(), found


def test_what_a_fork_holds_once_more_counts_once() -> None:
    (first, *_) = read_sessions(agents.load("gemini"), FIXTURES / "gemini" / "errors" / "home")
    prompt = next(message for message in first.messages if message.origin is Origin.HUMAN)
    reply = replace(prompt, id="r1", origin=Origin.MODEL, request_id="req-1")
    session = replace(first, messages=(prompt, reply))
    more = (replace(prompt, id="p3"), replace(reply, id="r3", request_id="req-2"))
    fork = replace(first, id="gemini:fork", messages=(prompt, replace(reply, id="r2"), *more))
    written_anew = replace(first, id="gemini:again", messages=(replace(prompt, id="p4"), *fork.messages[1:]))
    counted = [message.id for message in once([session, session, fork, written_anew])]
    assert counted == [prompt.id, "r1", "p3", "r3"]


def test_tells_where_each_case_comes_from(case: Path) -> None:
    about = tomllib.loads((case / "about.toml").read_text("utf-8"))
    assert {"agent", "agent_version", "recorded", "how", "anonymised", "trouble"} <= about.keys()


def test_accounts_for_every_byte(case: Path) -> None:
    source = source_of(case)
    for reading in readings(source, case / "home"):
        for account in reading.accounts:
            assert accounted(account) == account.size == len(content_of(source, account.path))


def test_every_file_of_a_home_is_read_or_left_alone_for_a_reason(case: Path) -> None:
    """What lies in an agent's folder has an account, or it or a folder above it is skipped by name."""
    source = source_of(case)
    homes = source.homes_below(str(case / "home"))
    read = [Path(account.path) for got in readings(source, case / "home") for account in got.accounts]
    skipped = {file.path: file.reason for scan in scans(source, case / "home") for file in scan.skipped}
    assert homes
    assert all(skipped.values())
    assert len(set(read)) == len(read)
    assert [path for path in read if not skipped.keys().isdisjoint((path, *path.parents))] == []
    there = {path for home in homes for path in home.path.rglob("*") if path.is_file()}
    unnamed = (path for path in there - set(read) if skipped.keys().isdisjoint((path, *path.parents)))
    assert sorted(unnamed) == []


def content_of(source: Source, path: str) -> bytes:
    """What is in a file: places in it and its account count these bytes."""
    unpacked = source.files().unpacked(Path(path))
    return Path(path).read_bytes() if unpacked is None else unpacked


def test_times_are_utc_and_messages_have_places(case: Path) -> None:
    source = source_of(case)
    bundles = [bundle for scan in scans(source, case / "home") for bundle in scan.bundles]
    logs = {log.path for bundle in bundles for log in bundle.logs}
    for session in read_sessions(source, case / "home"):
        check_times(session)
        # What was typed may stand in the agent's log alone.
        own = {file.path for file in session.files} | logs
        for message in session.messages:
            for place in (message.source, *message.also_at):
                # What was taken over from another session may stand in that session's file.
                assert place.file in own or message.imported
                assert 0 <= place.start < place.end <= len(content_of(source, place.file))
                assert place.line >= 1


def test_ids_are_told_apart(case: Path) -> None:
    found = read_sessions(source_of(case), case / "home")
    assert len({session.id for session in found}) == len(found)
    for session in found:
        assert len({message.id for message in session.messages}) == len(session.messages)
        assert session.parent_id != session.id


def test_what_the_human_typed_is_on_the_side_of_the_user(case: Path) -> None:
    for session in read_sessions(source_of(case), case / "home"):
        for message in session.messages:
            if message.origin is Origin.HUMAN:
                assert message.role is Role.USER
            if message.tool_calls:
                assert message.role is Role.ASSISTANT


def check_times(session: Session) -> None:
    times = [session.started_at, session.ended_at, *(message.at for message in session.messages)]
    assert all(time.tzinfo is UTC for time in times if time)
    if session.started_at and session.ended_at:
        assert session.started_at <= session.ended_at


def test_places_hold_the_messages_they_name(case: Path) -> None:
    source = source_of(case)
    for session in read_sessions(source, case / "home"):
        if session.kind not in (SessionKind.MAIN, SessionKind.SUBAGENT):
            # Turns that were saved or logged have no ids of their own.
            continue
        for message in session.messages:
            place = message.source
            content = content_of(source, place.file)
            assert content.count(b"\n", 0, place.start) + 1 == place.line
            if message.state is State.UNRECORDED:
                # A line of a log or of a queue, which has no id either.
                line = json.loads(content[place.start : place.end])
                assert line.get("message", line.get("content")) == message.text(Origin.HUMAN)
                continue
            # Where the agent writes no id, the line is a part of the one we give.
            written_id = re.sub(r"(?:\+|~v?\d+)*\Z", "", message.id)
            is_written = written_id.encode() in content[place.start : place.end]
            assert is_written or str(place.line) in re.findall(r"\d+", written_id)


@pytest.mark.slow
def test_a_file_cut_anywhere_still_reads(case: Path, tmp_path: Path) -> None:
    source = source_of(case)
    for reading in list(readings(source, case / "home")):
        for account in reading.accounts:
            check_cuts(source, Path(account.path), tmp_path)


def check_cuts(source: Source, path: Path, folder: Path) -> None:
    content = path.read_bytes()
    is_packed = source.files().unpacked(path) is not None
    reading = source.read_alone(path)
    if reading is None:
        return
    whole = [message for session in reading.sessions for message in session.messages]
    cut = folder / path.name
    for step in range(1, CUTS + 1):
        end = len(content) * step // (CUTS + 1)
        cut.write_bytes(content[:end])
        reading = source.read_alone(cut)
        sessions = reading.sessions if reading else ()
        left = {message.id for session in sessions for message in session.messages}
        if is_packed:
            # How much can be unpacked of it is not ours to say.
            continue
        known = [m.id.partition("~v")[0] for m in whole if m.source.end <= end and not m.id.endswith("+")]
        lost = [name for name in known if name not in left]
        assert not lost, f"{path.name} cut at byte {end}"
