"""Where Codex keeps its sessions: homes, footprints, scans, names, and what another program has open."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from geminids.agents.codex import CodexSource
from geminids.agents.codex.homes import SESSIONS_VARIABLE
from geminids.agents.codex.read.rollouts import rollout_name
from geminids.core.agents.base import Home, Scan
from geminids.core.model import ProblemKind
from tests.conftest import FIXTURES
from tests.support.codex_homes import DAY, OTHER, THREAD, meta, name_of, said, write_rollout
from tests.support.reading import sessions

SOURCE = CodexSource()
ROLLOUT = [meta(), said("Hello?")]

LIGHT = """
import sys
from geminids.agents.codex import CodexSource
source = CodexSource()
(home,) = source.homes({}, sys.argv[1])
assert source.homes_below(sys.argv[1])
assert len(source.footprint(home)) == 2
print(*sys.modules)
"""


def home_below(folder: Path) -> Home:
    (home,) = SOURCE.homes_below(str(folder))
    return home


def scan(folder: Path) -> Scan:
    return SOURCE.scan(home_below(folder))


def test_a_footprint_loads_neither_the_model_nor_a_reader(tmp_path: Path) -> None:
    write_rollout(tmp_path, ROLLOUT)
    command = [sys.executable, "-c", LIGHT, str(tmp_path)]
    loaded = set(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())
    assert not {"msgspec", "pathlib", "sqlite3", "geminids.core.model", "geminids.core.agents.base"} & loaded


def test_homes_are_the_users_and_those_that_are_named(tmp_path: Path) -> None:
    variables = {"CODEX_HOME": f"{tmp_path}/work", SESSIONS_VARIABLE: f"{tmp_path}/moved"}
    found = SOURCE.homes(variables, str(tmp_path))
    assert [home.folder for home in found] == [f"{tmp_path}/{name}" for name in (".codex", "work", "moved")]
    assert len(SOURCE.homes({"CODEX_HOME": f"{tmp_path}/.codex"}, str(tmp_path))) == 1
    assert list(SOURCE.variables) == list(variables)


def test_a_folder_of_sessions_alone_is_a_home(tmp_path: Path) -> None:
    write_rollout(tmp_path, ROLLOUT)
    folder = tmp_path / ".codex" / "sessions"
    (home,) = [
        h for h in SOURCE.homes({SESSIONS_VARIABLE: str(folder)}, str(tmp_path / "x")) if h.known_by[0] == "C"
    ]
    (bundle,) = SOURCE.scan(home).bundles
    assert bundle.key == THREAD
    assert SOURCE.footprint(home)[str(folder / DAY)]


@pytest.mark.parametrize("name", ["backup", ".codex"])
def test_a_home_may_be_given_itself(tmp_path: Path, name: str) -> None:
    write_rollout(tmp_path, ROLLOUT)
    given = (tmp_path / ".codex").rename(tmp_path / name)
    assert [home.folder for home in SOURCE.homes_below(str(given))] == [str(given)]
    assert not SOURCE.homes_below(str(tmp_path / "nothing"))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (name_of(), ("2026-11-15T20-50-21", THREAD, THREAD, False)),
        (name_of(THREAD, OTHER), ("2026-11-15T20-50-21", THREAD, OTHER, False)),
        (name_of() + ".zst", ("2026-11-15T20-50-21", THREAD, THREAD, True)),
        ("rollout-today.jsonl", None),
        (name_of() + ".tmp", None),
    ],
)
def test_names_of_rollouts_say_whose_they_are(name: str, said: tuple[object, ...] | None) -> None:
    assert rollout_name(name) == said


def test_each_day_and_the_archive_are_shelves(tmp_path: Path) -> None:
    write_rollout(tmp_path, ROLLOUT)
    write_rollout(tmp_path, [meta(OTHER), said("Bye.")], folder="archived_sessions")
    found = scan(tmp_path)
    assert [beside.project.slug for beside in found.companions] == [DAY, "archived"]
    assert [(bundle.key, bundle.project.slug) for bundle in found.bundles] == [
        (THREAD, DAY),
        (OTHER, "archived"),
    ]
    texts = SOURCE.footprint(home_below(tmp_path))
    assert {str(folder) for beside in found.companions for folder in beside.folders} < texts.keys()


def test_only_the_days_that_are_asked_for_are_scanned(tmp_path: Path) -> None:
    write_rollout(tmp_path, ROLLOUT)
    other = write_rollout(tmp_path, [meta(OTHER)], folder="sessions/2026/11/16")
    found = SOURCE.scan(home_below(tmp_path), [str(other.parent)])
    assert [bundle.key for bundle in found.bundles] == [OTHER]
    assert found.bundles == tuple(b for b in scan(tmp_path).bundles if b.key == OTHER)
    assert not found.skipped


def test_a_footprint_is_another_one_when_something_changed(tmp_path: Path) -> None:
    path = write_rollout(tmp_path, ROLLOUT)
    home = home_below(tmp_path)
    before = SOURCE.footprint(home)
    (tmp_path / ".codex" / "history.jsonl").write_text('{"session_id":"x","ts":1,"text":"hello"}\n')
    (tmp_path / ".codex" / "state_5.sqlite-wal").write_bytes(b"anything")
    assert SOURCE.footprint(home) == before
    path.write_text(path.read_text() + "\n")
    assert {key for key, text in SOURCE.footprint(home).items() if before[key] != text} == {str(path.parent)}
    (tmp_path / ".codex" / "session_index.jsonl").write_text("{}\n")
    changed = {key for key, text in SOURCE.footprint(home).items() if before[key] != text}
    assert changed == {str(path.parent), home.folder}


def test_links_and_strangers_are_named_and_left_alone(tmp_path: Path) -> None:
    path = write_rollout(tmp_path, ROLLOUT)
    (path.parent / name_of(OTHER)).symlink_to(path)
    (path.parent / "notes.txt").write_text("mine")
    (tmp_path / ".codex" / "sessions" / "2026-old").mkdir()
    (tmp_path / ".codex" / "auth.json").write_text("{}")
    found = scan(tmp_path)
    assert [bundle.key for bundle in found.bundles] == [THREAD]
    reasons = {file.path.name: file.reason for file in found.skipped}
    assert reasons[name_of(OTHER)].startswith("a link")
    assert reasons["auth.json"] == "credentials: never opened"
    assert {"notes.txt", "2026-old"} < reasons.keys()
    assert found.companions[0].left_alone.keys() == {OTHER}


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is closed to root")
def test_a_closed_day_is_reported(tmp_path: Path) -> None:
    path = write_rollout(tmp_path, ROLLOUT)
    path.parent.chmod(0)
    try:
        found = scan(tmp_path)
    finally:
        path.parent.chmod(0o700)
    assert [problem.kind for problem in found.problems] == [ProblemKind.UNREADABLE]


def test_a_folder_that_is_a_file_is_reported(tmp_path: Path) -> None:
    write_rollout(tmp_path, ROLLOUT)
    (tmp_path / ".codex" / "archived_sessions").write_text("")
    found = scan(tmp_path)
    assert [problem.kind for problem in found.problems] == [ProblemKind.UNREADABLE]
    assert len(found.bundles) == 1


# Names


def test_the_last_name_in_the_index_is_the_title() -> None:
    home = FIXTURES / "codex" / "named" / "home"
    titles = {session.title for session in sessions(SOURCE, home)}
    index = (home / ".codex" / "session_index.jsonl").read_text()
    assert all(title in index for title in titles if title and "?" not in title)
    assert len(titles) == 3


def test_damaged_lines_of_the_index_are_left_out(tmp_path: Path) -> None:
    write_rollout(tmp_path, ROLLOUT)
    lines = ['{"id":3}', "nonsense", f'{{"id":"{THREAD}","thread_name":"A  shop\\nof pears"}}', '{"id":"half']
    (tmp_path / ".codex" / "session_index.jsonl").write_text("\n".join(lines))
    (bundle,) = scan(tmp_path).bundles
    assert bundle.title == "A shop of pears"


def write_database(folder: Path) -> Path:
    path = folder / ".codex" / "state_5.sqlite"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE threads (id TEXT, name TEXT)")
        database.execute("INSERT INTO threads VALUES (?, 'From the database')", (THREAD,))
    database.close()
    return path


def test_the_database_is_a_hint_and_nothing_is_written_beside_it(tmp_path: Path) -> None:
    write_rollout(tmp_path, ROLLOUT)
    path = write_database(tmp_path)
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA journal_mode=WAL")
    database.close()
    before = sorted((tmp_path / ".codex").iterdir())
    assert [bundle.title for bundle in scan(tmp_path).bundles] == ["From the database"]
    assert sorted((tmp_path / ".codex").iterdir()) == before
    (tmp_path / ".codex" / "session_index.jsonl").write_text(f'{{"id":"{THREAD}","thread_name":"By hand"}}\n')
    assert [bundle.title for bundle in scan(tmp_path).bundles] == ["By hand"]


def test_a_database_that_is_locked_keeps_nothing_from_being_read(tmp_path: Path) -> None:
    write_rollout(tmp_path, ROLLOUT)
    owner = sqlite3.connect(write_database(tmp_path), isolation_level=None)
    owner.execute("BEGIN EXCLUSIVE")
    try:
        assert len(scan(tmp_path).bundles) == 1
        assert len(sessions(SOURCE, tmp_path)) == 1
    finally:
        owner.close()


@pytest.mark.parametrize("content", [b"", b"SQLite format 3\0 but no more", b"a letter\n" * 500])
def test_a_database_that_is_none_is_at_most_a_problem(tmp_path: Path, content: bytes) -> None:
    write_rollout(tmp_path, ROLLOUT)
    (tmp_path / ".codex" / "state_5.sqlite").write_bytes(content)
    found = scan(tmp_path)
    assert len(found.bundles) == 1
    assert all(problem.kind is ProblemKind.LEFT_UNREAD for problem in found.problems)


def test_a_database_of_another_release_is_no_problem(tmp_path: Path) -> None:
    write_rollout(tmp_path, ROLLOUT)
    with sqlite3.connect(tmp_path / ".codex" / "state_5.sqlite") as database:
        database.execute("CREATE TABLE other (id TEXT)")
    database.close()
    assert not scan(tmp_path).problems


# What is whose


def test_credentials_are_known_by_name() -> None:
    secret = ["auth.json", "Auth.json", "auth.json.bak", ".credentials.json", ".env", ".env.local"]
    assert all(SOURCE.files().keeps_secrets(Path("/x") / name) for name in secret)
    assert not any(
        SOURCE.files().keeps_secrets(Path("/x") / name) for name in ["config.toml", name_of(), "authors.json"]
    )


@pytest.mark.parametrize("agent", ["gemini", "claude"])
def test_files_of_other_agents_are_not_claimed(agent: str) -> None:
    files = [path for path in (FIXTURES / agent).rglob("*.json*") if path.is_file()]
    assert files
    assert [path for path in files if SOURCE.read_alone(path) is not None] == []


@pytest.mark.parametrize(
    "text",
    [
        '{"type":"message","role":"user","content":"of another program"}',
        '{"id":"x","name":"a package","source":"here"}',
        '{"type":"init","session_id":"x"}\n{"type":"message","role":"user","content":"hi"}',
        "plain words",
        "[]",
    ],
)
def test_what_only_looks_alike_is_not_claimed(tmp_path: Path, text: str) -> None:
    (tmp_path / "given.jsonl").write_text(text)
    assert SOURCE.read_alone(tmp_path / "given.jsonl") is None


def test_things_of_codex_have_names() -> None:
    known = [
        meta(),
        {"session_id": "x", "ts": 1, "text": "hi"},
        {"id": "x", "thread_name": "y", "updated_at": "z"},
    ]
    assert all("Codex CLI" in (SOURCE.files().recognise(one) or "") for one in known)
    assert not any(map(SOURCE.files().recognise, [{}, [], "text", {"sessionId": "x"}, None]))
    own = [
        ".codex",
        "sessions",
        "2026",
        "11",
        name_of(),
        name_of(THREAD, OTHER) + ".zst",
        "session_index.jsonl",
    ]
    assert all(map(SOURCE.files().is_own_name, own))
    assert not any(
        map(
            SOURCE.files().is_own_name,
            ["shop", "notes.txt", "rollout-of-the-feature.jsonl", "secret-project"],
        )
    )


def test_a_session_and_its_backup_are_one(tmp_path: Path) -> None:
    from geminids.reading.bundles import joined

    path = write_rollout(tmp_path / "disk", [*ROLLOUT, said("More.", "assistant")])
    shutil.copytree(tmp_path / "disk", tmp_path / "backup")
    (tmp_path / "backup" / path.relative_to(tmp_path / "disk")).write_bytes(
        b"\n".join(path.read_bytes().split(b"\n")[:2])
    )
    found = [bundle for name in ("backup", "disk") for bundle in scan(tmp_path / name).bundles]
    (bundle,) = joined(found)
    reading = SOURCE.read(bundle)
    (session,) = reading.sessions
    assert len(session.messages) == 2
    assert {account.path: bool(account.ignored) for account in reading.accounts} == {
        str(path): False,
        str(tmp_path / "backup" / path.relative_to(tmp_path / "disk")): True,
    }
