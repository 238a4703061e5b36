"""Finding homes, files and projects."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path

import pytest

from geminids.agents.gemini import GeminiSource
from geminids.core.agents.base import Home, Scan
from geminids.core.model import KnownBy, ProblemKind, SessionKind
from geminids.reading.scanner import LINK
from tests.conftest import FIXTURES, Rights
from tests.support.reading import sessions

SOURCE = GeminiSource()
HELLO = FIXTURES / "gemini" / "tool-calls-jsonl-2" / "home" / ".gemini" / "tmp" / "alpha"
HEADER = {"sessionId": "abcdefgh-1", "projectHash": "h", "startTime": "2026-01-01T00:00:00.000Z"}


def write_session(
    project: Path, name: str = "session-2026-01-01T00-00-abcdefgh.jsonl", **changes: object
) -> Path:
    """A small session file in a project's folder."""
    file = project / "chats" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    prompt = {"id": "m1", "type": "user", "content": "hi", "timestamp": "2026-01-01T00:00:01.000Z"}
    file.write_text(json.dumps({**HEADER, **changes}) + "\n" + json.dumps(prompt) + "\n", "utf-8")
    return file


def scan(home: Path) -> Scan:
    return SOURCE.scan(Home("gemini", str(home), "test"))


def test_the_users_home_and_the_sandbox_home_are_found(tmp_path: Path) -> None:
    (tmp_path / ".gemini").mkdir()
    (tmp_path / ".cache" / ".gemini").mkdir(parents=True)
    found = SOURCE.homes({}, str(tmp_path))
    assert [home.path for home in found] == [tmp_path / ".gemini", tmp_path / ".cache" / ".gemini"]


@pytest.mark.parametrize("value", ["", ".gemini"])
def test_the_variable_names_a_home_or_the_folder_in_it(tmp_path: Path, value: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / ".gemini").mkdir(parents=True)
    found = SOURCE.homes({"GEMINI_CLI_HOME": str(elsewhere / value)}, str(tmp_path / "nobody"))
    assert [(home.path, home.known_by) for home in found] == [
        (tmp_path / "nobody" / ".gemini", "the user's home"),
        (elsewhere / ".gemini", "GEMINI_CLI_HOME"),
    ]


def test_a_sessions_folder_can_be_named(tmp_path: Path) -> None:
    write_session(tmp_path / "my-sessions" / "proj")
    named = SOURCE.homes({"GEMINI_SESSIONS_DIR": str(tmp_path / "my-sessions")}, str(tmp_path))
    assert [len(SOURCE.scan(home).bundles) for home in named] == [0, 1]
    write_session(tmp_path / ".gemini" / "tmp" / "proj")
    named = SOURCE.homes({"GEMINI_SESSIONS_DIR": str(tmp_path / ".gemini" / "tmp")}, str(tmp_path))
    assert len(named) == 1, "the same folder is one home, however it is named"


def test_several_homes_at_once(tmp_path: Path) -> None:
    for name in ("one", "two", "three"):
        write_session(tmp_path / name / ".gemini" / "tmp" / "proj")
    both = os.pathsep.join(str(tmp_path / name) for name in ("two", "three"))
    assert len(SOURCE.homes({"GEMINI_CLI_HOME": both}, str(tmp_path / "one"))) == 3


def test_a_home_without_sessions_is_complete_and_empty(tmp_path: Path) -> None:
    found = scan(tmp_path)
    assert (found.bundles, found.complete) == ((), True)


def test_an_unreadable_folder_makes_the_scan_incomplete(tmp_path: Path, without_privileges: Rights) -> None:
    write_session(tmp_path / "tmp" / "open")
    closed = write_session(tmp_path / "tmp" / "closed").parent
    closed.chmod(0)
    with without_privileges():
        found = scan(tmp_path)
    closed.chmod(0o755)
    assert not found.complete
    assert [(Path(p.file), p.kind) for p in found.problems] == [(closed, ProblemKind.UNREADABLE)]
    assert len(found.bundles) == 1


def test_links_are_not_followed(tmp_path: Path) -> None:
    outside = write_session(tmp_path / "outside" / "proj")
    home = tmp_path / "home"
    (home / "tmp" / "real" / "chats").mkdir(parents=True)
    (home / "tmp" / "linked-project").symlink_to(outside.parent.parent)
    (home / "tmp" / "real" / "chats" / "session-2026-01-01T00-00-ffffffff.jsonl").symlink_to(outside)
    (home / "tmp" / "real" / "chats" / "linked-folder").symlink_to(outside.parent)
    (home / "tmp" / "real" / "other").symlink_to(outside.parent)
    found = scan(home)
    assert found.bundles == ()
    assert [file.reason for file in found.skipped] == [LINK] * 4


def test_pipes_are_not_waited_for(tmp_path: Path) -> None:
    project = tmp_path / ".gemini" / "tmp" / "proj"
    write_session(project)
    for name in ("chats/session-2026-01-01T00-00-ffffffff.jsonl", ".project_root", "logs.json"):
        os.mkfifo(project / name)
    os.mkfifo(tmp_path / ".gemini" / "projects.json")
    (session,) = sessions(SOURCE, tmp_path)
    assert session.native_id == "abcdefgh-1"


def test_names_of_every_kind_are_found(tmp_path: Path) -> None:
    project = tmp_path / "tmp" / "proj"
    names = [
        "session-2026-01-01T00-00-abcdefgh.json",
        "session-2026-01-01T00-00-abcdefgh.jsonl",
        "session-2026-01-01T00-00-abcdefgh.jsonl.unreadable-1767225600000",
        "session-2026-01-01T00-00-abcdefgh.jsonl.tmp-4711",
        "session-1767225600000-abcdefgh.jsonl",
        "abcdefgh-1/k3j5h2.jsonl",
        "skill-extraction-0a1b2c3d/run1.jsonl",
    ]
    for name in names:
        write_session(project, name)
    for name in ("notes.txt", "session-2026-01-01T00-00-abcdefgh.json.bak"):
        (project / "chats" / name).write_text("x", "utf-8")
    found = scan(tmp_path)
    assert sum(len(bundle.files) for bundle in found.bundles) == len(names)
    assert len(found.skipped) == 2


def test_an_agent_that_runs_on_its_own_has_no_parent(tmp_path: Path) -> None:
    write_session(
        tmp_path / ".gemini" / "tmp" / "proj", "skill-extraction-0a1b2c3d/run1.jsonl", sessionId="run1"
    )
    (session,) = sessions(SOURCE, tmp_path)
    assert (session.kind, session.parent_id) == (SessionKind.SUBAGENT, None)


def test_hash_and_slug_folder_of_one_project_are_one(tmp_path: Path) -> None:
    path = "/home/me/app"
    written = hashlib.sha256(path.encode()).hexdigest()
    for folder in (written, "app"):
        write_session(tmp_path / ".gemini" / "tmp" / folder, projectHash=written)
    (tmp_path / ".gemini" / "tmp" / "app" / ".project_root").write_text(path, "utf-8")
    (session,) = sessions(SOURCE, tmp_path)
    project = session.project
    assert (project.path, project.hash, project.slug) == (path, written, "app")
    assert project.known_by is KnownBy.MARKER
    assert len(session.files) == 2
    assert session.counts.prompts == 1


def test_the_registry_names_a_project_without_a_marker(tmp_path: Path) -> None:
    home = tmp_path / ".gemini"
    write_session(home / "tmp" / "app-1")
    (home / "projects.json").write_text('{"projects": {"/home/me/app": "app-1"}}', "utf-8")
    (session,) = sessions(SOURCE, tmp_path)
    assert (session.project.path, session.project.known_by) == ("/home/me/app", KnownBy.REGISTRY)


def test_folders_of_one_project_that_nothing_names_are_joined_by_the_hash_in_their_files(
    tmp_path: Path,
) -> None:
    written = "ab" * 32
    for folder in (written, "app"):
        write_session(tmp_path / ".gemini" / "tmp" / folder, projectHash=written)
    (session,) = sessions(SOURCE, tmp_path)
    assert (session.project.path, session.project.hash, session.project.slug) == (None, written, "app")


@pytest.mark.parametrize("registry", ["[1, 2]", '{"projects": ["a"]}', '{"projects": {"a', ""])
def test_a_damaged_registry_is_a_problem_and_no_obstacle(tmp_path: Path, registry: str) -> None:
    home = tmp_path / ".gemini"
    write_session(home / "tmp" / "app")
    (home / "projects.json").write_text(registry, "utf-8")
    found = scan(home)
    assert len(found.bundles) == 1
    assert len(found.problems) == 1


def test_a_marker_that_is_no_path_tells_nothing(tmp_path: Path) -> None:
    write_session(tmp_path / ".gemini" / "tmp" / "app")
    (tmp_path / ".gemini" / "tmp" / "app" / ".project_root").write_text("not a path\nat all", "utf-8")
    (session,) = sessions(SOURCE, tmp_path)
    assert session.project.path is None


def test_a_file_given_by_hand_knows_its_project(tmp_path: Path) -> None:
    project = tmp_path / ".gemini" / "tmp" / "alpha"
    shutil.copytree(HELLO, project)
    file = next((project / "chats").glob("session-*"))
    reading = SOURCE.read_alone(file)
    assert reading is not None
    assert reading.sessions[0].project.path == "/tmp/demo/alpha"


def test_a_home_that_may_not_be_entered_is_reported(tmp_path: Path, without_privileges: Rights) -> None:
    write_session(tmp_path / ".gemini" / "tmp" / "proj")
    (tmp_path / ".gemini").chmod(0)
    with without_privileges():
        found = [SOURCE.scan(home) for home in SOURCE.homes_below(str(tmp_path))]
    (tmp_path / ".gemini").chmod(0o755)
    assert [scan.complete for scan in found] == [False]


def test_a_project_called_chats_hides_no_other(tmp_path: Path) -> None:
    for slug in ("alpha", "chats"):
        write_session(tmp_path / ".gemini" / "tmp" / slug, sessionId=f"{slug}-1234")
    assert {session.project.slug for session in sessions(SOURCE, tmp_path)} == {"alpha", "chats"}


def test_a_marker_in_lower_case_belongs_to_the_hash_in_the_files(tmp_path: Path) -> None:
    """On Windows the marker is in lower case, but the hash is that of the path as it is."""
    written = hashlib.sha256(rb"C:\Users\Me\App").hexdigest()
    for folder in (written, "app"):
        write_session(tmp_path / ".gemini" / "tmp" / folder, projectHash=written)
    (tmp_path / ".gemini" / "tmp" / "app" / ".project_root").write_text(r"c:\users\me\app", "utf-8")
    (session,) = sessions(SOURCE, tmp_path)
    assert (session.project.path, session.project.hash) == (r"C:\Users\Me\App", written)
