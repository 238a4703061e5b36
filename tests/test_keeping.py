"""Kept copies: deleting all folders of all agents loses nothing, and what is kept is what was there."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from geminids.archive import FOLDER, Archive
from geminids.library import Library
from tests.conftest import CORPUS, FIXTURES, Run

FIXTURE_HOMES = sorted(case for case in FIXTURES.glob("*/*/home") if case.is_dir())
REAL_HOMES = sorted(CORPUS.glob("real/*/*/home"))
AGENTS_FOLDERS = (".gemini", ".claude", ".codex", ".cache")


def copied(case: Path, tmp_path: Path) -> Path:
    """A home of one's own."""
    home = tmp_path / "home"
    shutil.copytree(case, home, symlinks=True)
    return home


def delete_agents(home: Path) -> None:
    """What the agents do, at their worst."""
    for name in AGENTS_FOLDERS:
        shutil.rmtree(home / name, ignore_errors=True)


def without_marks_of_copies(value: Any) -> Any:
    """A document without what says that files are gone."""
    match value:
        case dict():
            return {key: without_marks_of_copies(inner) for key, inner in value.items() if key != "kept"}
        case list():
            return [without_marks_of_copies(inner) for inner in value]
        case _:
            return value


def answers(geminids: Run, home: Path, data: Path) -> Iterator[tuple[str, Any]]:
    """What all commands say of a home that tell of sessions."""
    where = ("--home", home, "--data", data)
    listed = json.loads(geminids("list", "--kind", "all", "--limit", "1000", "--json", *where).out)
    yield "list", without_marks_of_copies(listed)
    for session in listed["sessions"]:
        shown = geminids("show", session["id"], "--json", *where)
        yield f"show {session['id']}", without_marks_of_copies(json.loads(shown.out)) if shown.out else shown
        yield (
            f"export {session['id']}",
            geminids("export", session["id"], "-f", "markdown", "-o", "-", *where).out,
        )
    for word in ("the", "file", "hello"):
        found = json.loads(geminids("search", word, "--json", *where).out)
        yield f"search {word}", without_marks_of_copies(found)
    yield (
        "stats",
        without_marks_of_copies(json.loads(geminids("stats", "--by", "session", "--json", *where).out)),
    )
    yield "projects", without_marks_of_copies(json.loads(geminids("projects", "--json", *where).out))


@pytest.mark.parametrize("case", FIXTURE_HOMES, ids=lambda case: f"{case.parts[-3]}-{case.parts[-2]}")
def test_deleting_all_folders_of_agents_loses_nothing(geminids: Run, case: Path, tmp_path: Path) -> None:
    home, data = copied(case, tmp_path), tmp_path / "data"
    geminids("sync", "--home", home, "--data", data)
    before = dict(answers(geminids, home, data))
    delete_agents(home)
    after = dict(answers(geminids, home, data))
    assert after == before
    # The index may go too: all of it is made again from the copies.
    shutil.rmtree(data / "index")
    assert dict(answers(geminids, home, data)) == before


@pytest.mark.parametrize("case", FIXTURE_HOMES, ids=lambda case: f"{case.parts[-3]}-{case.parts[-2]}")
def test_every_file_that_is_read_is_kept_byte_for_byte(case: Path, tmp_path: Path) -> None:
    home, data = copied(case, tmp_path), tmp_path / "data"
    with Library([home], data) as library:
        library.sync()
        paths = {file.path for session in library.sessions() for file in session.files}
    archive = Archive(str(data / FOLDER))
    newest = archive.newest()
    assert paths <= newest.keys()
    for path, version in newest.items():
        assert archive.content(version) == Path(path).read_bytes(), path


def test_what_is_gone_is_marked(geminids: Run, tmp_path: Path) -> None:
    case = next(case for case in FIXTURE_HOMES if case.parts[-3] == "gemini")
    home, data = copied(case, tmp_path), tmp_path / "data"
    where = ("--home", home, "--data", data)
    listed = json.loads(geminids("list", "--json", *where).out)["sessions"]
    assert listed
    assert not any(session["kept"] for session in listed)
    delete_agents(home)
    gone = json.loads(geminids("list", "--json", *where).out)["sessions"]
    assert [session["id"] for session in gone] == [session["id"] for session in listed]
    assert all(session["kept"] for session in gone)
    assert all(file["kept"] for session in gone for file in session["files"])
    found = json.loads(geminids("search", "is:kept", "--json", *where).out)
    assert {hit["session"]["id"] for hit in found["hits"]} >= {session["id"] for session in gone}


def test_nothing_is_kept_where_the_user_does_not_want_it(geminids: Run, tmp_path: Path) -> None:
    case = next(case for case in FIXTURE_HOMES if case.parts[-3] == "gemini")
    home, data = copied(case, tmp_path), tmp_path / "data"
    data.mkdir()
    (data / "settings.toml").write_text("keep = false\n")
    where = ("--home", home, "--data", data)
    assert geminids("list", *where).code == 0
    assert not (data / FOLDER).exists()
    delete_agents(home)
    assert geminids("list", *where).code == 1


@pytest.mark.parametrize(
    ("rules", "kept"),
    [
        ("gemini = false", {"claude", "codex"}),
        ('"*" = false\ncodex = true', {"codex"}),
        ('"*" = false', set()),
        ("claude = false\ncodex = false", {"gemini"}),
    ],
)
def test_keeping_can_be_turned_off_for_an_agent(tmp_path: Path, rules: str, kept: set[str]) -> None:
    home, data = tmp_path / "home", tmp_path / "data"
    for agent in ("gemini", "claude", "codex"):
        case = next(case for case in FIXTURE_HOMES if case.parts[-3] == agent)
        shutil.copytree(case, home, dirs_exist_ok=True, symlinks=True)
    data.mkdir()
    (data / "settings.toml").write_text(f"[keep]\n{rules}\n")
    with Library([home], data) as library:
        library.sync()
    versions = Archive(str(data / FOLDER)).newest().values()
    assert {version.agent for version in versions} == kept


def test_keeping_can_be_turned_off_for_a_project(tmp_path: Path) -> None:
    home, data = tmp_path / "home", tmp_path / "data"
    for agent in ("gemini", "claude", "codex"):
        case = next(case for case in FIXTURE_HOMES if case.parts[-3] == agent)
        shutil.copytree(case, home, dirs_exist_ok=True, symlinks=True)
    with Library([home], data) as library:
        folders = {session.project.path for session in library.sessions() if session.project.path}
    assert folders
    for folder in folders:
        other = tmp_path / f"data-{len(list(tmp_path.iterdir()))}"
        other.mkdir()
        (other / "settings.toml").write_text(f"[keep]\n{json.dumps(folder)} = false\n")
        with Library([home], other) as library:
            library.sync()
            every = library.sessions()
        newest = Archive(str(other / FOLDER)).newest()
        for session in every:
            is_kept = {file.path for file in session.files} <= newest.keys()
            is_below = session.project.path is not None and (session.project.path + "/").startswith(
                folder + "/"
            )
            assert is_kept != is_below, session.id


def test_a_second_sync_keeps_nothing(tmp_path: Path) -> None:
    home, data = copied(FIXTURE_HOMES[0], tmp_path), tmp_path / "data"
    with Library([home], data) as library:
        assert library.sync().kept
        assert not library.sync().kept
        assert not library.sync(full=True).kept


def test_copies_are_kept_of_what_was_read_before_there_were_any(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, data = copied(FIXTURE_HOMES[0], tmp_path), tmp_path / "data"
    monkeypatch.setenv("GEMINIDS_KEEP", "0")
    with Library([home], data) as library:
        library.sync()
    monkeypatch.delenv("GEMINIDS_KEEP")
    with Library([home], data) as library:
        assert library.sessions()
    assert Archive(str(data / FOLDER)).newest()


def test_the_sample_is_not_kept(machine: Path, geminids: Run) -> None:
    assert geminids("list", "--sample").code == 0
    assert not list(machine.rglob("*.pack"))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ("keep = 1", "keep must be true or false, or a table"),
        ('[keep]\ngemini = "no"', "'gemini' in [keep] must be true or false"),
        ("[keep]\ngemni = false", "'gemni', which is no agent; there are claude, codex, gemini"),
        ("[kept]\ngemini = false", "there is no section [kept], only index, prices, keep"),
    ],
)
def test_settings_that_nobody_would_heed_are_refused(
    geminids: Run, tmp_path: Path, settings: str, said: str
) -> None:
    home, data = copied(FIXTURE_HOMES[0], tmp_path), tmp_path / "data"
    data.mkdir()
    (data / "settings.toml").write_text(settings)
    outcome = geminids("list", "--home", home, "--data", data)
    assert outcome.code == 2
    assert said in outcome.err


def test_the_environment_goes_before_the_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, data = copied(FIXTURE_HOMES[0], tmp_path), tmp_path / "data"
    data.mkdir()
    (data / "settings.toml").write_text("keep = false")
    monkeypatch.setenv("GEMINIDS_KEEP", "1")
    with Library([home], data) as library:
        assert library.sync().kept


def test_a_session_that_was_moved_within_its_project_is_not_gone(tmp_path: Path) -> None:
    home, data = copied(FIXTURES / "gemini" / "tool-calls-jsonl-2" / "home", tmp_path), tmp_path / "data"
    with Library([home], data) as library:
        before = library.sessions()
    (file,) = home.glob(".gemini/tmp/*/chats/session-*.jsonl")
    by_hash = home / ".gemini" / "tmp" / (before[0].project.hash or "") / "chats"
    by_hash.mkdir(parents=True)
    file.rename(by_hash / file.name)
    with Library([home], data) as library:
        after = library.sessions()
    assert [session.id for session in after] == [session.id for session in before]
    assert [session.counts for session in after] == [session.counts for session in before]
    assert not any(session.kept for session in after)
    assert {file.path: file.kept for session in after for file in session.files} == {
        str(file): True,
        str(by_hash / file.name): False,
    }


@pytest.mark.parametrize("case", ["gemini/tool-calls-jsonl-2", "claude/tools", "codex/tools"])
def test_what_another_machine_kept_is_put_into_the_home_of_this_one(
    geminids: Run, machine: Path, tmp_path: Path, case: str
) -> None:
    other = tmp_path / "other" / "home"
    shutil.copytree(FIXTURES / case / "home", other)
    file = tmp_path / "kept.tar"
    geminids("sync", "--home", other, "--data", tmp_path / "data")
    assert geminids("keep", "export", file, "--home", other, "--data", tmp_path / "data").code == 0
    shutil.rmtree(tmp_path / "other")
    assert geminids("keep", "import", file).code == 0
    (session,) = json.loads(geminids("list", "--json").out)["sessions"]
    assert session["kept"]
    assert session["files"][0]["path"].startswith(str(other))
    outcome = geminids("restore", session["id"], "--yes")
    assert not (tmp_path / "other").exists(), "that place is but a word in a file"
    if outcome.code == 0:
        assert [path for path in machine.rglob("*.jsonl") if ".local" not in path.parts]
        assert not json.loads(geminids("list", "--json").out)["sessions"][0]["kept"]
    else:
        assert "--to" in outcome.err
