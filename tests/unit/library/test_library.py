"""The door of all faces."""

import os
import tracemalloc
from importlib.metadata import entry_points
from pathlib import Path

import pytest

import geminids
from geminids import library
from geminids.core import agents
from geminids.core.model import SessionKind
from geminids.library import Library, open_library
from tests.conftest import FIXTURES
from tests.support.connections import to_be_closed
from tests.support.homes import FIRST_ID, write_session


def test_agents_are_found_where_installers_register_them() -> None:
    assert agents.available() == sorted({point.name for point in entry_points(group=agents.GROUP)})
    assert agents.load("gemini").title == "Gemini CLI"


@pytest.mark.parametrize("name", ["Filter", "Library", "MarkChange", "Question", "StatsQuestion"])
def test_every_name_the_package_promises_is_there(name: str) -> None:
    assert getattr(geminids, name).__name__ == name


def test_a_name_that_the_package_does_not_promise_is_told_so() -> None:
    with pytest.raises(AttributeError, match="'geminids' has no attribute 'Nothing'"):
        getattr(geminids, "Nothing")  # noqa: B009 - the checkers know that there is none


def test_summaries_have_no_messages(tmp_path: Path) -> None:
    write_session(tmp_path)
    (summary,) = to_be_closed(open_library([str(tmp_path)])).sessions()
    assert not hasattr(summary, "messages")
    assert to_be_closed(open_library([str(tmp_path)])).session(summary.id).messages


@pytest.mark.slow
def test_listing_does_not_keep_what_was_said(tmp_path: Path) -> None:
    for number in range(100):
        write_session(tmp_path, f"{number:08}-a", slug=f"p{number}", answer="word " * 100_000)
    tracemalloc.start()
    found = to_be_closed(open_library([str(tmp_path)])).sessions()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(found) == 100
    assert peak < 25_000_000, "50 MB of words were read, and are given to the index 8 MB at a time"


def test_reading_a_session_by_id_reads_only_its_files(tmp_path: Path) -> None:
    write_session(tmp_path)
    damaged = write_session(tmp_path, "99999999-z", slug="other")
    opened = to_be_closed(open_library([str(tmp_path)]))
    opened.session("9999")
    damaged.unlink()
    assert opened.session(FIRST_ID).native_id == FIRST_ID


def test_an_id_that_is_in_no_file_name_is_found_all_the_same(tmp_path: Path) -> None:
    path = write_session(tmp_path)
    path.rename(path.with_name("session-2026-05-01T10-00-imported.jsonl"))
    assert to_be_closed(open_library([str(tmp_path)])).session("1f0c").native_id == FIRST_ID


def test_nothing_is_written_into_an_agents_home(tmp_path: Path) -> None:
    write_session(tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    opened = to_be_closed(open_library([str(tmp_path)]))
    opened.overview()
    opened.doctor()
    opened.session("latest")
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_the_sample_has_main_sessions_and_a_subagent() -> None:
    kinds = {summary.kind for summary in to_be_closed(open_library(sample=True)).sessions()}
    assert kinds == {SessionKind.MAIN, SessionKind.SUBAGENT}


def test_a_home_that_is_named_but_not_there_is_reported_so(tmp_path: Path) -> None:
    write_session(tmp_path)
    homes = f"{tmp_path}{os.pathsep}{tmp_path / 'nowhere'}"
    opened = to_be_closed(Library(environment={"HOME": str(tmp_path), "GEMINI_CLI_HOME": homes}))
    homes_of_gemini = [home for home in opened.doctor(with_names=True).homes if home.agent == "gemini"]
    assert [home.exists for home in homes_of_gemini] == [False, True, False]
    assert opened.places == (str(tmp_path / ".gemini"),)


def test_a_backup_that_stopped_early_changes_nothing(tmp_path: Path) -> None:
    write_session(tmp_path / "live")
    backup = write_session(tmp_path / "backup")
    backup.write_bytes(b"".join(backup.read_bytes().splitlines(keepends=True)[:2]))
    alone = to_be_closed(open_library([str(tmp_path / "live")])).session(FIRST_ID)
    both = to_be_closed(open_library([str(tmp_path / "live"), str(tmp_path / "backup")])).session(FIRST_ID)
    assert [message.parts for message in both.messages] == [message.parts for message in alone.messages]
    assert (both.counts, both.usage, both.status) == (alone.counts, alone.usage, alone.status)


def test_a_file_that_two_homes_lead_to_is_read_once(tmp_path: Path) -> None:
    path = write_session(tmp_path)
    report = to_be_closed(open_library([str(tmp_path), str(tmp_path / ".gemini")])).doctor(with_names=True)
    assert [file.path for file in report.files].count(str(path)) == 1
    assert len({file.path for file in report.files}) == len(report.files)


def test_the_door_is_divided_into_files_that_one_can_read() -> None:
    folder = Path(library.__file__).parent
    lines = {str(path.relative_to(folder)): path.read_bytes().count(b"\n") for path in folder.rglob("*.py")}
    assert len(lines) > 20
    assert {name: count for name, count in lines.items() if count > 300} == {}


def test_the_door_hands_on_no_name_of_another_floor() -> None:
    defined = {
        name for name, value in vars(library).items() if getattr(value, "__module__", "") == library.__name__
    }
    assert {"Library", "open_library", "are_chosen"} <= defined
    assert not hasattr(library, "__getattr__")
    assert not hasattr(library, "__all__")


def test_no_face_parses_what_agents_wrote() -> None:
    faces = Path(library.__file__).parent.parent / "faces"
    python = [path for path in faces.rglob("*.py") if "frontend" not in path.parts]
    assert len(python) > 100
    # wire.py reads what clients write.
    assert [path.name for path in python if "json.loads" in path.read_text("utf-8")] == ["wire.py"]


def test_pictures_of_a_page_that_could_not_be_written_are_taken_back(tmp_path: Path) -> None:
    target = tmp_path / "out" / "page.md"
    target.mkdir(parents=True)
    with Library([FIXTURES / "gemini" / "images" / "home"], data=tmp_path / "data") as library:
        exporting, items = library.exporting("markdown", files_folder=""), library.items(["latest"])
        with pytest.raises(OSError, match=r"page\.md"):
            exporting.to_file(items, target, force=True)
        assert list(target.parent.iterdir()) == [target]
        exporting.to_file(items, target.with_name("other.md"))
        assert {path.name for path in target.parent.iterdir()} == {"page.md", "other.md", "other-files"}


def test_a_file_is_called_in_any_folder_as_in_one_of_exports(tmp_path: Path) -> None:
    write_session(tmp_path / "home", prompt="Fix the login redirect")
    with Library([tmp_path / "home"], data=tmp_path / "data") as library:
        exporting, items = library.exporting("markdown"), library.items(["latest"])
        exporting.to_folder(items, tmp_path / "out")
        name = exporting.name_in(tmp_path / "elsewhere", items[0])
        assert (tmp_path / "out" / name).is_file()
        (tmp_path / name.upper()).write_text("something else")
        assert exporting.name_in(tmp_path, items[0]) == name.replace(".md", "-2.md")


def test_it_is_known_which_agents_are_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_session(tmp_path / "home")
    programs = {name: agents.load(name).program for name in agents.available()}
    first = next(iter(programs))
    monkeypatch.setenv("PATH", str(tmp_path))
    with Library([tmp_path / "home"], data=tmp_path / "data") as library:
        assert library.missing_programs() == programs
        program = tmp_path / str(programs[first])
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        assert library.missing_programs().keys() == programs.keys() - {first}
