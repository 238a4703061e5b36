"""What every source must hold to, whatever the agent: the fixture folders are the cases."""

from __future__ import annotations

import json
import tomllib
from datetime import UTC
from pathlib import Path

import pytest

from geminids import sources
from geminids.model import FileAccount, Session, SessionKind
from geminids.sources.base import Source
from tests.conftest import FIXTURES
from tests.golden import check_golden
from tests.reading import digest, readings, scans
from tests.reading import sessions as read_sessions
from tests.truth import Losses, differences

CASES = sorted(path.parent for path in FIXTURES.glob("*/*/home"))
LOSSES = Losses(FIXTURES.parent / "losses.toml")
CUTS = 9
"""In how many places each file of a case is cut."""


def source_of(case: Path) -> Source:
    return sources.load(case.parent.name)


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
    assert set(found) <= LOSSES.excused(scenario, about["agent_version"]).keys(), found


def test_tells_where_each_case_comes_from(case: Path) -> None:
    about = tomllib.loads((case / "about.toml").read_text("utf-8"))
    assert {"agent", "agent_version", "recorded", "how", "anonymised", "trouble"} <= about.keys()


def test_accounts_for_every_byte(case: Path) -> None:
    source = source_of(case)
    accounts = [account for reading in readings(source, case / "home") for account in reading.accounts]
    for account in accounts:
        assert accounted(account) == account.size == Path(account.path).stat().st_size
    skipped = [file.path for scan in scans(source, case / "home") for file in scan.skipped]
    session_files = {Path(account.path) for account in accounts}
    assert session_files.isdisjoint(skipped)
    below = {path for path in (case / "home").rglob("tmp/**/*") if path.is_file()}
    assert below == session_files | below.intersection(skipped)


def accounted(account: FileAccount) -> int:
    fates = (account.used, account.ignored, account.problem)
    return sum(tally.bytes for tallies in fates for tally in tallies.values())


def test_times_are_utc_and_messages_have_places(case: Path) -> None:
    for session in read_sessions(source_of(case), case / "home"):
        check_times(session)
        sizes = {file.path: file.size for file in session.files}
        for message in session.messages:
            for place in (message.source, *message.also_at):
                assert 0 <= place.start < place.end <= sizes[place.file]
                assert place.line >= 1


def test_ids_are_told_apart(case: Path) -> None:
    found = read_sessions(source_of(case), case / "home")
    assert len({session.id for session in found}) == len(found)
    for session in found:
        assert len({message.id for message in session.messages}) == len(session.messages)
        assert session.parent_id != session.id


def check_times(session: Session) -> None:
    times = [session.started_at, session.ended_at, *(message.at for message in session.messages)]
    assert all(time.tzinfo is UTC for time in times if time)
    if session.started_at and session.ended_at:
        assert session.started_at <= session.ended_at


def test_places_hold_the_messages_they_name(case: Path) -> None:
    for session in read_sessions(source_of(case), case / "home"):
        if session.kind not in (SessionKind.MAIN, SessionKind.SUBAGENT):
            # Turns that were saved or logged have no ids of their own.
            continue
        contents = {file.path: Path(file.path).read_bytes() for file in session.files}
        for message in session.messages:
            place = message.source
            written_id = message.id.removesuffix("+").encode()
            assert written_id in contents[place.file][place.start : place.end]
            assert contents[place.file].count(b"\n", 0, place.start) + 1 == place.line


def test_a_file_cut_anywhere_still_reads(case: Path, tmp_path: Path) -> None:
    source = source_of(case)
    for reading in list(readings(source, case / "home")):
        for account in reading.accounts:
            check_cuts(source, Path(account.path), tmp_path)


def check_cuts(source: Source, path: Path, folder: Path) -> None:
    content = path.read_bytes()
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
        lost = [m.id for m in whole if m.source.end <= end and m.id not in left and not m.id.endswith("+")]
        assert not lost, f"{path.name} cut at byte {end}"
