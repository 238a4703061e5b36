"""Kept copies: deleting all folders of all agents loses nothing, and what is kept is what was there."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from geminids.library import Library
from geminids.storage.archive.archive import Archive
from geminids.storage.archive.transfer import export_to
from geminids.storage.archive.values import FOLDER
from geminids.storage.index import search
from tests.conftest import FIXTURES, Run
from tests.support.connections import to_be_closed
from tests.support.homes import write_session

FIXTURE_HOMES = sorted(case for case in FIXTURES.glob("*/*/home") if case.is_dir())
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


@pytest.mark.slow
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
    archive = to_be_closed(Archive(str(data / FOLDER)))
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
    versions = to_be_closed(Archive(str(data / FOLDER))).newest().values()
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
        newest = to_be_closed(Archive(str(other / FOLDER))).newest()
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


def test_who_interrupts_while_copies_begin_to_be_kept_meets_no_other_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_session(tmp_path)

    def interrupted(_: Thread) -> None:
        raise KeyboardInterrupt

    with Library([tmp_path], tmp_path / "data") as library:
        with monkeypatch.context() as while_starting:
            while_starting.setattr(Thread, "start", interrupted)
            with pytest.raises(KeyboardInterrupt):
                library.sync()
        assert len(library.sessions()) == 1


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
    assert to_be_closed(Archive(str(data / FOLDER))).newest()


def test_the_sample_is_not_kept(machine: Path, geminids: Run) -> None:
    assert geminids("list", "--sample").code == 0
    assert not list(machine.rglob("*.pack"))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ("keep = 1", "keep must be true, false or a table"),
        ('[keep]\ngemini = "no"', "'gemini' in [keep] must be true or false"),
        ("[keep]\ngemni = false", "'gemni', which is no agent; there are claude, codex, gemini"),
        (
            "[kept]\ngemini = false",
            "no section [kept]; sections are index, read, list, prices, keep",
        ),
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


WIPED: dict[str, Callable[[bytes], bytes]] = {
    "emptied": lambda content: b"",
    "cut": lambda content: content[:40],
    "garbled": lambda content: b"\x00garbage\xff" * 20,
}


@pytest.mark.parametrize("how", WIPED)
@pytest.mark.parametrize(
    "case", ["gemini/tool-calls-jsonl-2", "gemini/tool-calls-json", "claude/tools", "codex/tools"]
)
def test_a_session_whose_file_was_wiped_is_read_from_its_copy(
    geminids: Run, tmp_path: Path, case: str, how: str
) -> None:
    home, data = copied(FIXTURES / case / "home", tmp_path), tmp_path / "data"
    where = ("--home", home, "--data", data)
    (before,) = json.loads(geminids("list", "--json", *where).out)["sessions"]
    shown = json.loads(geminids("show", before["id"], "--json", *where).out)["messages"]
    file = Path(before["files"][0]["path"])
    file.write_bytes(WIPED[how](file.read_bytes()))
    for _ in range(2):
        listed = json.loads(geminids("list", "--json", *where).out)["sessions"]
        assert [(one["id"], one["kept"]) for one in listed] == [(before["id"], True)]
        assert json.loads(geminids("show", before["id"], "--json", *where).out)["messages"] == shown
        versions = json.loads(geminids("keep", "versions", before["id"], "--json", *where).out)["versions"]
        assert len(versions) == 2
        state = "damaged" if file.exists() else "gone"
        assert f"\nits file is {state}; read from a copy\n" in geminids("show", before["id"], *where).out
        assert f"its file is {state}, and it is" in geminids("resume", before["id"], *where).err
        # The same if the file goes altogether, and if the index does.
        file.unlink(missing_ok=True)
        shutil.rmtree(data / "index")
    assert geminids("restore", before["id"], "--yes", *where).code == 0
    assert not json.loads(geminids("list", "--json", *where).out)["sessions"][0]["kept"]


def test_what_lies_at_a_place_that_an_import_names_is_not_looked_at(geminids: Run, tmp_path: Path) -> None:
    other = copied(FIXTURES / "claude" / "tools" / "home", tmp_path)
    file = tmp_path / "kept.tar"
    where = ("--home", other, "--data", tmp_path / "data")
    geminids("sync", *where)
    assert geminids("keep", "export", file, *where).code == 0
    (live,) = other.rglob("projects/*/*.jsonl")
    stranger = live.with_name("b0b0b0b0-0000-4000-8000-000000000001.jsonl")
    stranger.write_bytes(live.read_bytes().replace(live.stem.encode(), stranger.stem.encode()))
    assert geminids("keep", "import", file).code == 0
    for _ in range(3):
        (session,) = json.loads(geminids("list", "--json").out)["sessions"]
        assert session["native_id"] == live.stem
        assert session["kept"]
        assert all(hit["snippet"] for hit in json.loads(geminids("search", "bread", "--json").out)["hits"])


def test_a_copy_of_another_machine_never_goes_before_our_own(
    geminids: Run, machine: Path, tmp_path: Path
) -> None:
    shutil.copytree(FIXTURES / "claude" / "tools" / "home" / ".claude", machine / ".claude")
    geminids("sync")
    (live,) = machine.rglob("projects/*/*.jsonl")
    mine = live.read_bytes()
    archive = to_be_closed(Archive(str(tmp_path / "other")))
    with archive.writing() as writer:
        content = mine.replace(b"bread", b"bombs")
        home = str(machine / ".claude")
        writer.put("claude", home, str(live), content, mtime_ns=1, mode=0o600, kept_at=4_000_000_000_000_000)
    export_to(archive, str(tmp_path / "evil.tar"))
    assert geminids("keep", "import", tmp_path / "evil.tar").code == 0
    delete_agents(machine)
    assert "bombs" not in geminids("show", "latest").out
    assert "bread" in geminids("show", "latest").out


def listed_ids(geminids: Run, *words: object) -> list[str]:
    """The ids of the sessions in a list."""
    return [session["id"] for session in json.loads(geminids("list", "--json", *words).out)["sessions"]]


def all_words(data: Path) -> bytes:
    """Everything that our folder holds, unpacked, and the words of all indexes."""
    found = [file.read_bytes() for file in data.rglob("*") if file.is_file()]
    for index in data.glob("index/*.db"):
        with closing(sqlite3.connect(index)) as database:
            found += [term.encode() for (term,) in database.execute("SELECT term FROM vocabulary")]
    archive = to_be_closed(Archive(str(data / FOLDER)))
    found += [archive.content(version) for version in archive.all_versions()]
    archive.close()
    return b"\n".join(found)


CASES_WITH_LINKS = {
    "gemini": ("gemini/tool-calls-jsonl-1", ".gemini/tmp/*"),
    "claude": ("claude/tools", ".claude/projects/*"),
    "codex": ("codex/tools", ".codex/sessions/*/*"),
}


@pytest.mark.parametrize("what", ["folder", "file", "file that is a folder now"])
@pytest.mark.parametrize("agent", CASES_WITH_LINKS)
def test_a_session_whose_place_a_link_has_taken_is_listed_shown_and_put_back(
    geminids: Run, tmp_path: Path, agent: str, what: str
) -> None:
    fixture, folders = CASES_WITH_LINKS[agent]
    home, data = tmp_path / "home", tmp_path / "data"
    shutil.copytree(FIXTURES / fixture / "home", home)
    where = ("--home", home, "--data", data)
    before = json.loads(geminids("list", "--json", *where).out)["sessions"]
    session = before[0]
    shown = geminids("show", session["id"], "--all", *where).out
    file = Path(session["files"][0]["path"])
    content = file.read_bytes()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    folder = next(path for path in home.glob(folders) if path in file.parents)
    spared = elsewhere / file.name
    match what:
        case "folder":
            shutil.copytree(folder, elsewhere / "moved")
            # What a link leads to may be anybody's.
            (elsewhere / "moved" / file.relative_to(folder)).write_bytes(content.replace(b"e", b"x"))
            shutil.rmtree(folder)
            folder.symlink_to(elsewhere / "moved")
        case "file":
            spared.write_bytes(content.replace(b"e", b"x"))
            file.unlink()
            file.symlink_to(spared)
        case _:
            file.unlink()
            file.mkdir()
    for _ in range(2):
        after = json.loads(geminids("list", "--json", *where).out)["sessions"]
        assert {one["id"] for one in after} == {one["id"] for one in before}
        assert next(one for one in after if one["id"] == session["id"])["kept"]
        told = geminids("show", session["id"], "--all", *where).out.splitlines()
        assert [line for line in told if not line.startswith("its file is ")] == shown.splitlines()
    assert geminids("restore", session["id"], "--yes", "--to", tmp_path / "back", *where).code == 0
    assert any(path.read_bytes() == content for path in (tmp_path / "back").rglob(file.name))
    restored = geminids("restore", session["id"], "--yes", *where)
    # Nothing is written over what is there, nor through it; where else it can go is said.
    assert restored.code == 0 or "--to DIR to write the copy" in restored.err, restored
    assert not any(path.read_bytes() == content for path in elsewhere.rglob(file.name))
    assert file.is_dir() or file.is_symlink() or folder.is_symlink()


def test_a_folder_right_in_a_home_may_be_a_link(geminids: Run, tmp_path: Path) -> None:
    home, data = tmp_path / "home", tmp_path / "data"
    write_session(home)
    (home / ".gemini" / "tmp").rename(tmp_path / "tmp")
    (home / ".gemini" / "tmp").symlink_to(tmp_path / "tmp")
    for _ in range(2):
        (session,) = json.loads(geminids("list", "--json", "--home", home, "--data", data).out)["sessions"]
        assert not session["kept"]
        geminids("sync", "--full", "--home", home, "--data", data)


def test_nothing_of_a_forgotten_session_is_left(geminids: Run, tmp_path: Path) -> None:
    home, data = tmp_path / "home", tmp_path / "data"
    shutil.copytree(FIXTURES / "claude" / "tools" / "home", home)
    shutil.copytree(FIXTURES / "codex" / "tools" / "home", home, dirs_exist_ok=True)
    backup = tmp_path / "backup"
    shutil.copytree(home, backup)
    where = ("--home", home, "--data", data)
    (session,) = json.loads(geminids("list", "--agent", "claude", "--json", *where).out)["sessions"]
    both = ("--home", home, "--home", backup, "--data", data)
    geminids("list", *both)
    geminids("mark", session["id"], "--name", "Zwiebelkuchen", "--note", "Quittengelee", *where)
    words = [b"sourdough", b"Zwiebelkuchen", b"Quittengelee"]
    text = b"".join(Path(file["path"]).read_bytes() for file in session["files"])
    own = [word for word in (b"rye", b"sourdough") if word in text]
    assert own
    assert all(word in all_words(data) for word in (*own, *words[1:]))
    assert geminids("forget", session["id"], "--yes", *where).code == 0
    left = all_words(data)
    for word in (session["title"].encode(), *words[1:]):
        assert word not in left, word
    others = json.loads(geminids("list", "--kind", "all", "--json", *both).out)["sessions"]
    assert session["id"] not in {one["id"] for one in others}
    assert session["title"].encode() not in all_words(data)


def test_what_was_forgotten_with_its_subagents_comes_back_with_them(geminids: Run, tmp_path: Path) -> None:
    home, data = copied(FIXTURES / "gemini" / "subagents-nested-jsonl" / "home", tmp_path), tmp_path / "data"
    where = ("--home", home, "--data", data)
    every = [
        one["id"] for one in json.loads(geminids("list", "--kind", "all", "--json", *where).out)["sessions"]
    ]
    (led,) = [one["id"] for one in json.loads(geminids("list", "--json", *where).out)["sessions"]]
    assert len(every) > 1
    assert geminids("forget", led, "--yes", *where).code == 0
    assert geminids("list", "--kind", "all", *where).code == 1
    assert geminids("forget", "--undo", led, *where).code == 0
    back = [
        one["id"] for one in json.loads(geminids("list", "--kind", "all", "--json", *where).out)["sessions"]
    ]
    assert back == every


def test_a_copy_that_is_behind_does_not_count_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, data = copied(FIXTURES / "claude" / "tools" / "home", tmp_path), tmp_path / "data"
    late = datetime(2027, 6, 1, tzinfo=UTC)
    with Library([home], data) as library:
        assert all(one.kept for one in library.kept.forecast(late).endangered)
        assert library.kept.forecast(late).endangered
    monkeypatch.setenv("GEMINIDS_KEEP", "0")
    (live,) = home.rglob("projects/*/*.jsonl")
    with live.open("ab") as opened:
        opened.write(b"{}\n")
    with Library([home], data) as library:
        assert not any(one.kept for one in library.kept.forecast(late).endangered)


@pytest.mark.parametrize("value", ["false", "no", "2"])
def test_a_variable_that_nobody_would_heed_is_refused(
    geminids: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("GEMINIDS_KEEP", value)
    outcome = geminids("list", "--home", copied(FIXTURE_HOMES[0], tmp_path), "--data", tmp_path / "data")
    assert outcome.code == 2
    assert "0 or 1" in outcome.err


@pytest.mark.parametrize("folder", [".gemini", ".claude"])
def test_a_pipe_for_settings_keeps_nobody_waiting(
    command: Callable[..., subprocess.CompletedProcess[bytes]], tmp_path: Path, folder: str
) -> None:
    home = copied(FIXTURES / folder[1:] / ("tools" if folder == ".claude" else "hooks") / "home", tmp_path)
    (home / folder / "settings.json").unlink(missing_ok=True)
    os.mkfifo(home / folder / "settings.json")
    assert command("keep", "--home", home, "--data", tmp_path / "data", timeout=20).returncode == 0


def test_all_sessions_that_are_gone_are_meant_however_many_messages_they_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "WINDOW", 5)
    home, data = tmp_path / "home", tmp_path / "data"
    for case in ("tool-calls-jsonl-2", "hooks", "log-lines", "rewind-jsonl-2"):
        shutil.copytree(FIXTURES / "gemini" / case / "home", home, dirs_exist_ok=True, symlinks=True)
    with Library([home], data) as library:
        library.sync()
    delete_agents(home)
    with Library([home], data) as library:
        every = {session.id for session in library.sessions()}
        assert len(every) > 2
        assert {row.id for row in library.found_sessions("is:kept")} == every
        assert {row.id for row in library.found_sessions("the")} <= every
