"""Finding homes, files and projects of Claude Code, and telling whether they changed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from geminids.agents.claude import ClaudeSource
from geminids.core.agents.base import Home, Scan
from geminids.core.model import CompanionKind, ProblemKind
from geminids.reading.scanner import LINK, NO_SESSION
from tests.conftest import Rights
from tests.support.claude_lines import SESSION, SLUG, read_home, reply, user, words, write

SOURCE = ClaudeSource()
LINES = (user("u", None, "Hi"), reply("a", "u", words("Ho"), reply_id="m"))


def folders(environment: dict[str, str], user_home: Path) -> list[str]:
    return [home.folder for home in SOURCE.homes(environment, str(user_home))]


def scan(home: Path, only: list[str] | None = None) -> Scan:
    return SOURCE.scan(Home("claude", str(home / ".claude"), "test"), only)


def test_homes_are_found_by_variables_and_in_the_users_home(tmp_path: Path) -> None:
    usual = str(tmp_path / ".claude")
    assert folders({}, tmp_path) == [usual]
    (tmp_path / ".config" / "claude" / "projects").mkdir(parents=True)
    assert folders({}, tmp_path) == [usual, str(tmp_path / ".config" / "claude")]
    named = folders({"CLAUDE_CONFIG_DIR": f"{tmp_path}/a, {tmp_path}/b"}, tmp_path / "elsewhere")
    assert named[1:] == [f"{tmp_path}/a", f"{tmp_path}/b"]
    assert folders({"CLAUDE_CONFIG_DIR": usual}, tmp_path)[0] == usual
    assert folders({"CLAUDE_PROJECTS_DIR": f"{usual}/projects"}, tmp_path).count(usual) == 1


def test_a_folder_given_by_hand_stands_for_a_users_home_or_is_one(tmp_path: Path) -> None:
    write(tmp_path, *LINES)
    home = str(tmp_path / ".claude")
    assert [found.folder for found in SOURCE.homes_below(str(tmp_path))] == [home]
    assert [found.folder for found in SOURCE.homes_below(home)] == [home]
    (tmp_path / ".claude").rename(tmp_path / "saved")
    assert [found.folder for found in SOURCE.homes_below(str(tmp_path / "saved"))] == [
        str(tmp_path / "saved")
    ]
    assert list(SOURCE.homes_below(str(tmp_path / "none"))) == []


def test_the_folder_of_the_projects_can_be_named_alone(tmp_path: Path) -> None:
    write(tmp_path, *LINES)
    (home,) = [
        one
        for one in SOURCE.homes({"CLAUDE_PROJECTS_DIR": f"{tmp_path}/.claude/projects"}, "/nowhere")
        if one.known_by == "CLAUDE_PROJECTS_DIR"
    ]
    assert [bundle.key for bundle in SOURCE.scan(home).bundles] == [SESSION]


def test_a_session_is_a_bundle_with_all_that_lies_in_its_folder(tmp_path: Path) -> None:
    file = write(tmp_path, *LINES)
    folder = file.with_suffix("")
    (folder / "subagents" / "workflows").mkdir(parents=True)
    (folder / "tool-results").mkdir()
    for name in (
        "subagents/agent-a.jsonl",
        "subagents/agent-a.meta.json",
        "subagents/workflows/agent-b.jsonl",
    ):
        (folder / name).write_text("{}", "utf-8")
    (folder / "tool-results" / "b1.txt").write_text("long", "utf-8")
    (file.parent / "memory").mkdir()
    (file.parent / "memory" / "MEMORY.md").write_text("tea", "utf-8")
    (file.parent / "sessions-index.json").write_text("{}", "utf-8")
    (file.parent / f"{SESSION}.jsonl.bak").write_text("{}", "utf-8")
    write(tmp_path, *LINES, name="agent-beside.jsonl")
    found = scan(tmp_path)
    assert {bundle.key: len(bundle.files) for bundle in found.bundles} == {SESSION: 4, "agent-beside": 1}
    assert [one.kind for one in found.bundles[0].beside] == [CompanionKind.TOOL_OUTPUT]
    (companions,) = found.companions
    assert {one.kind for one in companions.files} == {CompanionKind.TOOL_OUTPUT, CompanionKind.MEMORY}
    assert companions.left_alone == {SESSION: NO_SESSION}
    assert {skipped.path.name for skipped in found.skipped} == {
        "sessions-index.json",
        f"{SESSION}.jsonl.bak",
    }
    assert found.bundles[0].project.slug == SLUG
    accounts = SOURCE.companions().read_beside(companions, [], None).accounts
    assert {account.size for account in accounts} == {4, 3}
    assert SOURCE.companions().read_beside(companions, [], 10).accounts == ()


def test_scanning_some_folders_finds_the_same_in_them(tmp_path: Path) -> None:
    write(tmp_path, *LINES)
    write(tmp_path, *LINES, slug="-other")
    whole = scan(tmp_path)
    only = scan(tmp_path, [str(tmp_path / ".claude" / "projects" / SLUG)])
    assert only.bundles == tuple(one for one in whole.bundles if one.project.slug == SLUG)
    assert len(only.companions) == 1


def test_a_scan_opens_nothing_and_follows_no_link(tmp_path: Path) -> None:
    file = write(tmp_path, *LINES)
    outside = tmp_path / "outside.jsonl"
    file.rename(outside)
    file.symlink_to(outside)
    os.mkfifo(file.parent / "pipe.jsonl")
    found = scan(tmp_path)
    assert found.bundles == ()
    assert {skipped.reason for skipped in found.skipped} >= {LINK}
    assert not found.companions[0].complete


def test_a_closed_folder_is_a_problem(tmp_path: Path, without_privileges: Rights) -> None:
    file = write(tmp_path, *LINES)
    file.parent.chmod(0)
    with without_privileges():
        found = scan(tmp_path)
    file.parent.chmod(0o700)
    assert [problem.kind for problem in found.problems] == [ProblemKind.UNREADABLE]
    assert not found.complete


def test_a_file_that_cannot_be_read_is_a_problem(tmp_path: Path, without_privileges: Rights) -> None:
    file = write(tmp_path, *LINES)
    file.chmod(0)
    with without_privileges():
        reading = read_home(tmp_path)
    assert [problem.kind for problem in reading.problems] == [ProblemKind.UNREADABLE]
    assert reading.accounts[0].problem["unreadable"].bytes == file.stat().st_size


@pytest.mark.parametrize(
    ("name", "is_secret"),
    [
        (".credentials.json", True),
        (".claude.json", True),
        (".claude.json.backup", True),
        (".claude/api-token.json", True),
        (".claude/settings.json", False),
        (f".claude/projects/{SLUG}/{SESSION}.jsonl", False),
        (".claude/projects/-my-secret-shop/x.jsonl", False),
        ("notes.txt", False),
    ],
)
def test_credentials_are_told_by_name(tmp_path: Path, name: str, *, is_secret: bool) -> None:
    assert SOURCE.files().keeps_secrets(tmp_path / name) is is_secret


def test_what_else_a_home_holds_is_named(tmp_path: Path) -> None:
    write(tmp_path, *LINES)
    for name in (".credentials.json", "history.jsonl", "settings.json", "strange.bin"):
        (tmp_path / ".claude" / name).write_text("x", "utf-8")
    (tmp_path / ".claude" / "todos").mkdir()
    reasons = {skipped.path.name: skipped.reason for skipped in scan(tmp_path).skipped}
    assert reasons[".credentials.json"] == "credentials: never opened"
    assert reasons["strange.bin"] == "not known to geminids"
    assert reasons.keys() == {".credentials.json", "history.jsonl", "settings.json", "strange.bin", "todos"}


@pytest.mark.parametrize(
    ("name", "is_own"),
    [
        (f"{SESSION}.jsonl", True),
        ("agent-a75be19394e79c529.meta.json", True),
        ("tool-results", True),
        (SLUG, False),
        ("secret-client.jsonl", False),
    ],
)
def test_names_of_its_own_are_told_from_those_of_projects(name: str, *, is_own: bool) -> None:
    assert SOURCE.files().is_own_name(name) is is_own


def test_what_a_file_without_a_session_is(tmp_path: Path) -> None:
    told = "a session of Claude Code that holds nothing to show"
    assert SOURCE.files().recognise({"type": "mode", "mode": "normal", "sessionId": "x"}) == told
    assert SOURCE.files().recognise({"type": "summary", "summary": "x", "leafUuid": "y"}) == told
    assert SOURCE.files().recognise({"uuid": "x", "sessionId": "y", "message": {"parts": []}}) is None
    assert SOURCE.files().recognise({"type": "session_meta"}) is None
    assert SOURCE.files().recognise([]) is None
    assert SOURCE.files().unpacked(tmp_path) is None


def test_a_footprint_changes_with_what_it_stands_for(tmp_path: Path) -> None:
    file = write(tmp_path, *LINES)
    write(tmp_path, *LINES, slug="-other")
    home = Home("claude", str(tmp_path / ".claude"), "test")
    folder, other = str(file.parent), str(file.parent.parent / "-other")
    before = SOURCE.footprint(home)
    assert before.keys() == {folder, other, home.folder}
    assert SOURCE.footprint(home) == before
    with file.open("a") as opened:
        opened.write("\n")
    after = SOURCE.footprint(home)
    assert {path for path in before if before[path] != after[path]} == {folder}
    (file.with_suffix("") / "tool-results").mkdir(parents=True)
    (file.with_suffix("") / "tool-results" / "b.txt").write_text("x", "utf-8")
    assert SOURCE.footprint(home)[folder] != after[folder]
    (file.parent.parent / "loose.txt").write_text("x", "utf-8")
    assert SOURCE.footprint(home)[home.folder] != before[home.folder]
    file.unlink()
    assert SOURCE.footprint(Home("claude", str(tmp_path / "gone"), "test")).keys() == {str(tmp_path / "gone")}


def test_homes_and_footprints_load_no_model(tmp_path: Path) -> None:
    write(tmp_path, *LINES)
    code = (
        "import sys\n"
        "from geminids.agents.claude import ClaudeSource\n"
        "source = ClaudeSource()\n"
        "for home in source.homes({}, sys.argv[1]): assert len(source.footprint(home)) == 2\n"
        "heavy = {'msgspec', 'pathlib', 'geminids.core.model', 'geminids.core.agents.base'}\n"
        "loaded = heavy & sys.modules.keys()\n"
        "assert not loaded, loaded\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
