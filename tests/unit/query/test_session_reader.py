"""Sessions that are opened by what the index knows of their files: always what a scan would find."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from geminids.core.agents.base import Bundle
from geminids.core.errors import SessionGoneError
from geminids.core.model import Origin
from geminids.core.names import storable
from geminids.library import Library
from geminids.query.sessions.homes_reader import HomesReader
from geminids.query.sessions.known_bundles import bundle_as_known
from geminids.storage.index.bundles import SessionPlace, numbered_place
from geminids.storage.index.database import Index
from geminids.storage.index.reader import among, sessions, sessions_meant
from tests.conftest import FIXTURES
from tests.support.homes import FIRST_ID, write_session

KNOWN = {"claude": 140, "codex": 70, "gemini": 200}
"""So many sessions of an agent at least are opened without a scan."""
OTHER_ID = "2f0c9a2b-0000-4000-8000-000000000002"


def places(index: Index) -> list[SessionPlace]:
    """Where all sessions lie that are not told by what lies beside others."""
    numbers = [number for (number,) in index.connection.execute("SELECT id FROM sessions ORDER BY id")]
    found = [numbered_place(index, number) for number in numbers]
    return [place for place in found if place and place.key]


def as_known(library: Library) -> list[tuple[SessionPlace, Bundle | None]]:
    """Every session, and its files as the index knows them."""
    context = library._context
    return context.ask(
        lambda index: [(place, bundle_as_known(index, place, context.homes)) for place in places(index)]
    )


def scanned(library: Library) -> dict[str, Bundle]:
    """The bundles that a scan finds now, by their files."""
    bundles = HomesReader(library._context.homes).bundles()
    return {storable(str(file.path)): bundle for bundle in bundles for file in bundle.files}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with two sessions and what was typed in them."""
    write_session(tmp_path / "user")
    write_session(tmp_path / "user", OTHER_ID, day=2, prompt="Name the colours")
    return tmp_path / "user"


def session_file(home: Path) -> Path:
    (file,) = home.rglob(f"*{FIRST_ID[:8]}.jsonl")
    return file


def opened_as_it_is(home: Path) -> Library:
    """A library that takes the index as it was before something changed."""
    return Library([home], home.parent / "data", sync=False)


@pytest.mark.parametrize("agent", KNOWN)
def test_the_files_that_the_index_knows_are_those_that_a_scan_finds(agent: str, tmp_path: Path) -> None:
    homes = sorted(FIXTURES.glob(f"{agent}/*/home"))
    with Library(homes, tmp_path) as library:
        found = scanned(library)
        known = [(place, bundle) for place, bundle in as_known(library) if bundle]
        assert all(bundle == found[place.file or ""] for place, bundle in known)
    assert len(known) >= KNOWN[agent], "else this test proves nothing"


def test_a_session_of_kept_copies_is_opened_by_what_the_index_knows(home: Path) -> None:
    data = home.parent / "data"
    with Library([home], data) as library:
        whole = library.session(FIRST_ID)
    session_file(home).unlink()
    with Library([home], data) as library:
        ((_, bundle),) = [one for one in as_known(library) if FIRST_ID in one[0].id]
        assert bundle == scanned(library)[whole.file or ""]
        assert bundle
        assert bundle.files[0].is_kept
        again = library.session(FIRST_ID)
    assert again.kept
    assert again.messages == whole.messages


def grown(file: Path) -> None:
    more = {"id": "more", "timestamp": "2026-05-01T10:06:00.000Z", "type": "user", "content": "And now?"}
    with file.open("a") as opened:
        opened.write(json.dumps(more) + "\n")


def moved(file: Path) -> None:
    file.rename(file.with_name(file.name.replace("T10-00", "T09-00")))


def gone_on_elsewhere(file: Path) -> None:
    """The session goes on in another file, which alone is new."""
    other = file.with_name(file.name.replace("T10-00", "T11-00"))
    shutil.copy2(file, other)
    grown(other)


def led_a_subagent(file: Path) -> None:
    """A session of a subagent, in a folder that is new."""
    record = json.loads(file.read_text().partition("\n")[0])
    folder = file.parent / FIRST_ID
    folder.mkdir()
    record |= {"sessionId": "a1b2c3", "kind": "subagent"}
    said = {"id": "s", "timestamp": "2026-05-01T10:02:00.000Z", "type": "user", "content": "Look it up"}
    (folder / "a1b2c3.jsonl").write_text(f"{json.dumps(record)}\n{json.dumps(said)}\n")


@pytest.mark.usefixtures("without_copies")
@pytest.mark.parametrize("change", [grown, moved, gone_on_elsewhere, led_a_subagent])
def test_where_the_disk_is_another_by_now_a_scan_tells(change: Callable[[Path], None], home: Path) -> None:
    with Library([home], home.parent / "data") as library:
        library.sync()
    with opened_as_it_is(home) as library:
        assert all(bundle for _, bundle in as_known(library))
        change(session_file(home))
        left = [bundle for place, bundle in as_known(library) if FIRST_ID in place.id]
        assert left == [None]


@pytest.mark.usefixtures("without_copies")
@pytest.mark.parametrize("change", [grown, gone_on_elsewhere])
def test_what_was_added_since_the_index_was_made_is_shown(change: Callable[[Path], None], home: Path) -> None:
    with Library([home], home.parent / "data") as library:
        library.sync()
    change(session_file(home))
    with opened_as_it_is(home) as library:
        assert library.session(FIRST_ID).messages[-1].text(Origin.HUMAN) == "And now?"


@pytest.mark.usefixtures("without_copies")
def test_a_session_whose_file_went_since_is_said_to_be_gone(home: Path) -> None:
    with Library([home], home.parent / "data") as library:
        library.sync()
    session_file(home).unlink()
    with opened_as_it_is(home) as library, pytest.raises(SessionGoneError):
        library.session(FIRST_ID)


def test_a_bundle_that_is_to_be_read_again_is_scanned(home: Path) -> None:
    with Library([home], home.parent / "data") as library:
        library.sync()

        def unsettled(index: Index) -> list[Bundle | None]:
            index.connection.execute("UPDATE bundles SET stamp = x''")
            return [bundle_as_known(index, place, library._context.homes) for place in places(index)]

        assert library._context.ask(unsettled) == [None, None]
        assert library.session(FIRST_ID).messages


def test_what_a_file_held_before_it_was_emptied_is_shown_in_any_home(tmp_path: Path) -> None:
    home, data = tmp_path / "caf\udce9", tmp_path / "data"
    file = write_session(home)
    for content in (file.read_bytes(), b""):
        file.write_bytes(content)
        with Library([home], data) as library:
            assert library.session(FIRST_ID).messages[0].text(Origin.HUMAN) == "Fix the login redirect"
    assert file.read_bytes() == b""


@pytest.mark.parametrize(
    "wanted", [FIRST_ID, f"gemini:{FIRST_ID}", f"GEMINI:{FIRST_ID[:6]}", FIRST_ID[:6].upper()]
)
def test_an_id_means_the_session_that_has_it_before_all_that_begin_so(wanted: str, home: Path) -> None:
    write_session(home, f"{FIRST_ID}1", day=3, prompt="Longer")
    is_whole = wanted.endswith(FIRST_ID)
    with Library([home], home / "data") as library:
        found = library._context.ask(lambda index: sessions_meant(index, wanted))
        assert {row.native_id for row in found} == ({FIRST_ID} if is_whole else {FIRST_ID, f"{FIRST_ID}1"})
        if is_whole:
            assert library.session(wanted).native_id == FIRST_ID


def test_few_and_many_sessions_are_found_by_their_ids(home: Path) -> None:
    with Library([home], home / "data") as library:
        ids = [row.id for row in library._context.ask(sessions)]
        assert len(ids) == 2
        for wanted in ([ids[0]], [*ids, *(f"gemini:{number}" for number in range(1000))], [ids[0].upper()]):
            found = library._context.ask(partial(sessions, conditions=[among(wanted)]))
            assert {row.id for row in found} == set(ids).intersection(wanted)
