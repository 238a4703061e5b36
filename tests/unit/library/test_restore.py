"""Kept sessions are put back so that their agents find them, never over anything, whole or not at all."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from geminids.core import agents
from geminids.core.agents.homes import Home
from geminids.core.agents.restore import Copy, Placement
from geminids.core.agents.resume import Circumstances
from geminids.core.errors import FileExistsAlreadyError, GeminidsError, LedAwayError
from geminids.core.model import folder_hash
from geminids.library.custody.restore import RestorePlan, pieces_below, plan_in_home, plan_to_folder, write
from tests.conftest import FIXTURES, ROOT
from tests.support.fake_agents import install, path_with
from tests.support.homes import FIRST_ID, write_session
from tests.support.reading import custodian_of
from tests.support.reading import sessions as read_sessions

SOON = datetime(2026, 5, 2, 12, tzinfo=UTC)
"""A day after what `write_session` writes."""
MUCH_LATER = SOON + timedelta(days=200)
RECORDED = datetime(2026, 11, 16, tzinfo=UTC)
"""A day after the fixtures were recorded."""
SESSION = "gemini:it"

AskGemini = Callable[..., RestorePlan]


def copies_of(*files: Path) -> list[Copy]:
    """Kept copies of files as they are now."""
    return [
        Copy(
            path=str(file),
            size=file.stat().st_size,
            mtime_ns=file.stat().st_mtime_ns,
            read=partial(bytes, file.read_bytes()),
        )
        for file in files
    ]


def taken_away(*files: Path) -> list[Copy]:
    """Kept copies of files that are gone."""
    copies = copies_of(*files)
    for file in files:
        file.unlink()
    return copies


def home_of(agent: str, folder: Path) -> Home:
    return Home(agent, str(folder), "given")


@pytest.fixture
def plan(tmp_path: Path) -> AskGemini:
    """Asks how sessions of the home in `tmp_path` would be put back, with some Gemini CLI installed."""

    def ask(copies: Sequence[Copy], now: datetime = SOON, version: str | None = "0.61.0") -> RestorePlan:
        programs = tmp_path / "programs" / str(version)
        path = path_with(programs / "bin" if programs.exists() else install(programs, version))
        circumstances = Circumstances(
            environment={"PATH": path}, user_home=str(tmp_path), here=str(tmp_path), now=now
        )
        return plan_in_home(SESSION, home_of("gemini", tmp_path / ".gemini"), copies, circumstances)

    return ask


def recorded(case: str, tmp_path: Path) -> list[Path]:
    """The session files of a recorded home, which is now in `tmp_path`."""
    shutil.copytree(FIXTURES / "gemini" / case / "home" / ".gemini", tmp_path / ".gemini")
    return sorted(file for file in (tmp_path / ".gemini").glob("tmp/*/chats/**/*") if file.is_file())


def ending(path: str) -> str:
    """The characters by which Gemini CLI tells what to delete together; none if it does not."""
    found = re.search(r"-([a-zA-Z0-9]{8})\.jsonl?$", path)
    return found[1] if found else ""


# Names


@pytest.mark.parametrize("version", ["0.28.2", "0.36.0", "0.43.0", "0.61.0", None])
def test_a_session_gets_an_ending_of_its_own(plan: AskGemini, tmp_path: Path, version: str | None) -> None:
    file = write_session(tmp_path)
    copies = taken_away(file)
    (placement, *_) = plan(copies, version=version).placements
    name = Path(placement.path).name
    assert name.startswith(file.stem + "-")
    assert name.endswith(".jsonl")
    assert ending(name) not in ("", FIRST_ID[:8])
    assert any(change.startswith("Its name changes,") for change in placement.changes)
    assert placement.read() == copies[0].read()
    assert placement.origin == str(file)


def test_our_reader_finds_it_again_under_the_new_name(plan: AskGemini, tmp_path: Path) -> None:
    copies = taken_away(write_session(tmp_path))
    write(plan(copies))
    (session,) = read_sessions(agents.load("gemini"), tmp_path)
    assert session.native_id == FIRST_ID
    assert session.project.path == "/home/ada/dev/shop"


def test_a_document_ends_in_too_few_characters_to_be_deleted_with_its_log(
    plan: AskGemini, tmp_path: Path
) -> None:
    log = write_session(tmp_path)
    document = log.with_suffix(".json")
    messages = [json.loads(line) for line in log.read_text().splitlines()]
    document.write_text(json.dumps(messages[0] | {"messages": messages[1:]}, indent=2))
    names = {one.origin: one.path for one in plan(taken_away(log, document)).placements}
    assert ending(names[str(log)])
    assert not ending(names[str(document)])


def test_putting_back_twice_changes_nothing(plan: AskGemini, tmp_path: Path) -> None:
    copies = taken_away(write_session(tmp_path))
    (path, *_) = write(plan(copies))
    assert plan(copies).refusal is not None
    with Path(path).open("ab") as grown:
        grown.write(b'{"$set":{"lastUpdated":"2026-05-03T00:00:00.000Z"}}\n')
    assert plan(copies).refusal is not None


def test_what_was_put_back_once_keeps_its_name(plan: AskGemini, tmp_path: Path) -> None:
    (path, *_) = write(plan(taken_away(write_session(tmp_path))))
    (placement, *_) = plan(taken_away(Path(path))).placements
    assert placement.path == path
    assert placement.changes == ()


@pytest.mark.parametrize("is_document", [False, True])
def test_a_session_restored_again_and_again_is_dated_once(
    plan: AskGemini, tmp_path: Path, is_document: bool
) -> None:
    log = write_session(tmp_path)
    if is_document:
        messages = [json.loads(line) for line in log.read_text().splitlines()]
        document = log.with_suffix(".json")
        document.write_text(json.dumps(messages[0] | {"messages": messages[1:]}, indent=2))
        log.unlink()
        log = document
    copies = taken_away(log)
    (restored, *_) = write(plan(copies, now=MUCH_LATER))
    content = Path(restored).read_bytes()
    for days in range(1, 4):
        copies = [copies[0], *taken_away(Path(restored))]
        (placement,) = plan(copies, now=MUCH_LATER + timedelta(days=days)).placements
        assert placement.path == restored
        assert placement.read() == content
        write(plan(copies, now=MUCH_LATER + timedelta(days=days)))


def test_nothing_is_put_over_a_file_that_was_made_meanwhile(plan: AskGemini, tmp_path: Path) -> None:
    file = write_session(tmp_path)
    copies = taken_away(file)
    first = plan(copies).placements[0].path
    for taken in (file, Path(first)):
        taken.write_bytes(b"something else\n")
    paths = write(plan(copies))
    assert str(file) not in paths
    assert first not in paths
    assert file.read_bytes() == Path(first).read_bytes() == b"something else\n"
    assert Path(paths[0]).read_bytes() == copies[0].read()


def test_what_is_there_with_more_behind_it_is_not_put_back(plan: AskGemini, tmp_path: Path) -> None:
    file = write_session(tmp_path)
    copies = copies_of(file)
    with file.open("ab") as grown:
        grown.write(b"{}\n")
    refusal = plan(copies).refusal
    assert refusal is not None
    assert refusal == "Nothing to restore: its agent has it. Use --to DIR to write a copy elsewhere."


def test_says_that_another_file_of_the_same_id_was_used_later(plan: AskGemini, tmp_path: Path) -> None:
    copies = taken_away(write_session(tmp_path))
    later = write_session(tmp_path, day=2)
    assert any(str(later) in warning for warning in plan(copies).warnings)


# Dates


@pytest.mark.parametrize(("days", "allowed"), [(1, None), (14, None), (80, "180d")])
def test_a_session_with_half_of_its_time_left_keeps_its_bytes(
    plan: AskGemini, tmp_path: Path, days: int, allowed: str | None
) -> None:
    copies = taken_away(write_session(tmp_path))
    _allow(tmp_path, allowed)
    (placement, *_) = plan(copies, SOON + timedelta(days=days - 1)).placements
    assert placement.read() == copies[0].read()
    assert placement.size == copies[0].size
    assert not any("today's date" in change for change in placement.changes)


@pytest.mark.parametrize(
    ("days", "allowed", "spoken"), [(16, None, "30 days"), (29, None, "30 days"), (100, "180d", "180 days")]
)
def test_a_session_that_would_be_deleted_soon_counts_as_used_now(
    plan: AskGemini, tmp_path: Path, days: int, allowed: str | None, spoken: str
) -> None:
    copies = taken_away(write_session(tmp_path))
    _allow(tmp_path, allowed)
    now = SOON + timedelta(days=days - 1)
    (placement, *_) = plan(copies, now).placements
    content, before = placement.read(), copies[0].read()
    assert content.startswith(before)
    said = json.loads(content.removeprefix(before))["$set"]
    assert datetime.fromisoformat(said["lastUpdated"]) == now
    (change,) = [change for change in placement.changes if "today's date" in change]
    assert change.endswith(f"not been used for {spoken}.")


def _allow(tmp_path: Path, rest: str | None) -> None:
    """Let sessions lie unused for so long, instead of 30 days."""
    if rest is not None:
        settings = {"general": {"sessionRetention": {"enabled": True, "maxAge": rest}}}
        (tmp_path / ".gemini" / "settings.json").write_text(json.dumps(settings))


def test_an_expired_log_gets_one_more_line(plan: AskGemini, tmp_path: Path) -> None:
    copies = taken_away(write_session(tmp_path))
    (placement, *_) = plan(copies, MUCH_LATER).placements
    content, before = placement.read(), copies[0].read()
    assert content.startswith(before)
    assert json.loads(content.removeprefix(before)) == {"$set": {"lastUpdated": "2026-11-18T12:00:00.000Z"}}
    assert placement.size == len(content)
    assert any("30 days" in change for change in placement.changes)


def test_a_cut_last_line_does_not_swallow_the_date(plan: AskGemini, tmp_path: Path) -> None:
    file = write_session(tmp_path)
    file.write_bytes(file.read_bytes() + b'{"id": "x", "type": "us')
    copies = taken_away(file)
    (placement, *_) = plan(copies, MUCH_LATER).placements
    assert placement.read().startswith(copies[0].read() + b'\n{"$set"')


@pytest.mark.parametrize("case", ["tool-calls-json", "rewind-json", "shell-mode-json"])
def test_an_expired_document_has_only_its_date_replaced(plan: AskGemini, tmp_path: Path, case: str) -> None:
    copies = taken_away(*recorded(case, tmp_path))
    now = RECORDED + timedelta(days=100)
    for placement in plan(copies, now).placements:
        before = next(copy.read() for copy in copies if copy.path == placement.origin)
        old = json.loads(before)
        written = json.loads(placement.read())
        assert written == old | {"lastUpdated": written["lastUpdated"]}
        assert datetime.fromisoformat(written["lastUpdated"]) == now
        value = json.dumps(written["lastUpdated"]).encode()
        same = placement.read().replace(value, json.dumps(old["lastUpdated"]).encode())
        assert same == before


def test_a_date_inside_a_message_is_not_the_date_of_the_session(plan: AskGemini, tmp_path: Path) -> None:
    file = write_session(tmp_path).with_suffix(".json")
    text = (
        '{"messages": [{"id": "a", "type": "user", "lastUpdated": "x", "content": "{\\"lastUpdated\\": 1}"}],'
        f' "sessionId": "{FIRST_ID}", "projectHash": "{folder_hash("/home/ada/dev/shop")}",'
        ' "startTime": "2026-05-01T10:00:00.000Z" ,\n "lastUpdated" :  "2026-05-01T10:00:00.000Z"\n}'
    )
    file.write_text(text)
    (placement, *_) = plan(taken_away(file), MUCH_LATER).placements
    before, after = text.rsplit('"2026-05-01T10:00:00.000Z"', 1)
    assert placement.read().decode() == f'{before}"2026-11-18T12:00:00.000Z"{after}'


def test_all_files_of_a_session_are_dated_anew_in_their_order(plan: AskGemini, tmp_path: Path) -> None:
    files = recorded("resume-json", tmp_path)
    before = {str(file): _last_used(file.read_bytes()) for file in files}
    placements = plan(taken_away(*files), RECORDED + timedelta(days=100)).placements
    dated = {one.origin: _last_used(one.read()) for one in placements if "session-" in one.origin}
    assert len(dated) > 1
    assert sorted(dated, key=dated.__getitem__) == sorted(dated, key=before.__getitem__)
    assert min(dated.values()) > "2027-02"


def _last_used(content: bytes) -> str:
    return str(re.findall(rb'"lastUpdated":\s*"([^"]+)"', content)[-1], "utf-8")


def test_nothing_is_dated_anew_where_nothing_is_deleted(plan: AskGemini, tmp_path: Path) -> None:
    copies = taken_away(write_session(tmp_path))
    settings = {"general": {"sessionRetention": {"enabled": False}}}
    (tmp_path / ".gemini" / "settings.json").write_text(json.dumps(settings))
    assert plan(copies, MUCH_LATER).placements[0].read() == copies[0].read()
    assert plan(copies, MUCH_LATER, "0.28.2").placements[0].read() == copies[0].read()


def test_where_only_some_sessions_are_kept_it_counts_as_the_newest(plan: AskGemini, tmp_path: Path) -> None:
    copies = taken_away(write_session(tmp_path))
    write_session(tmp_path, "99999999-0000-4000-8000-000000000002", day=2)
    for most, is_dated in ((2, True), (9, False)):
        settings = {"general": {"sessionRetention": {"enabled": True, "maxCount": most}}}
        (tmp_path / ".gemini" / "settings.json").write_text(json.dumps(settings))
        found = plan(copies)
        assert (found.placements[0].read() != copies[0].read()) == is_dated
        assert any(f"keep {most} sessions" in warning for warning in found.warnings) == is_dated


# What the CLI takes for rubbish


def test_a_startup_twin_is_not_put_back(plan: AskGemini, tmp_path: Path) -> None:
    files = recorded("startup-twin", tmp_path)
    copies = taken_away(*files)
    found = plan(copies, RECORDED)
    origins = {one.origin for one in found.placements}
    left = [str(file) for file in files if str(file) not in origins]
    assert origins
    assert left
    for path in left:
        (warning,) = [warning for warning in found.warnings if Path(path).name in warning]
        assert warning.endswith("it is not restored. Use --to DIR to write the copy elsewhere.")


def test_a_log_without_its_first_line_gets_one(plan: AskGemini, tmp_path: Path) -> None:
    files = recorded("no-header", tmp_path)
    headless = [file for file in files if b'"projectHash"' not in file.read_bytes()]
    assert headless
    for file in headless:
        copies = taken_away(file)
        (placement, *_) = plan(copies, RECORDED).placements
        header, rest = placement.read().split(b"\n", 1)
        assert rest == copies[0].read()
        assert json.loads(header)["sessionId"].startswith(file.stem[-8:])
        assert json.loads(header)["kind"] == "main"
        assert any("first line" in change for change in placement.changes)


def test_the_log_of_prompts_knows_the_whole_id(plan: AskGemini, tmp_path: Path) -> None:
    file = write_session(tmp_path)
    file.write_text("".join(file.read_text().splitlines(keepends=True)[1:]))
    prompts = [{"sessionId": FIRST_ID, "messageId": 0, "type": "user", "message": "Fix the login redirect"}]
    (file.parent.parent / "logs.json").write_text(json.dumps(prompts, indent=2))
    (placement, *_) = plan(taken_away(file)).placements
    assert json.loads(placement.read().splitlines()[0])["sessionId"] == FIRST_ID


def test_a_subagent_beside_its_parent_goes_into_the_folder_of_its_own(
    plan: AskGemini, tmp_path: Path
) -> None:
    parent = write_session(tmp_path)
    header, *messages = parent.read_text().splitlines()
    beside = parent.with_name(parent.name.replace("T10-00", "T10-01"))
    beside.write_text("\n".join([json.dumps(json.loads(header) | {"kind": "subagent"}), *messages]))
    found = plan(taken_away(parent, beside))
    (placement,) = [one for one in found.placements if one.origin == str(beside)]
    assert Path(placement.path) == parent.parent / FIRST_ID / beside.name


@pytest.mark.parametrize("parent_id", ["..", "../../../x", ""])
def test_the_id_of_a_parent_leads_nowhere_else(plan: AskGemini, tmp_path: Path, parent_id: str) -> None:
    parent = write_session(tmp_path)
    header, *messages = parent.read_text().splitlines()
    beside = parent.with_name(parent.name.replace("T10-00", "T10-01"))
    changed = json.loads(header) | {"kind": "subagent", "sessionId": parent_id}
    beside.write_text("\n".join([json.dumps(changed), *messages]))
    for one in plan(taken_away(parent, beside)).placements:
        assert ".." not in one.path
        assert Path(one.path).is_relative_to(parent.parent)


def test_says_why_it_is_not_put_back(plan: AskGemini, tmp_path: Path) -> None:
    file = write_session(tmp_path, prompt="/help")
    header, prompt, _ = file.read_text().splitlines()
    file.write_text(f"{header}\n{prompt}\n")
    output = tmp_path / ".gemini" / "tmp" / "shop" / "tool-outputs" / f"session-{FIRST_ID}" / "a.txt"
    output.parent.mkdir(parents=True)
    output.write_text("out")
    found = plan(taken_away(file, output))
    assert found.placements == ()
    assert found.refusal is not None
    assert file.name in found.refusal


# Two sessions in one file


@pytest.mark.parametrize(
    ("case", "start", "shown", "hidden"),
    [
        (
            "two-sessions-one-file",
            "11111111",
            "11111111-2222-4333-8444-666666666666",
            "11111111-2222-4333-8444-555555555555",
        ),
        ("odd-ids", "my-sessi", "my-session-2", "my-session-1"),
    ],
)
def test_says_that_only_one_of_two_sessions_in_a_file_is_shown_and_how_to_get_the_other(
    plan: AskGemini, tmp_path: Path, case: str, start: str, shown: str, hidden: str
) -> None:
    (file,) = [file for file in recorded(case, tmp_path) if file.stem.endswith(f"-{start}")]
    found = plan(taken_away(file), RECORDED)
    (warning,) = [warning for warning in found.warnings if "geminids rescue" in warning]
    assert "2 sessions" in warning
    assert f"only {shown!r}" in warning
    write(found)
    home = home_of("gemini", tmp_path / ".gemini")
    stranded = {
        one.session.native_id
        for one in custodian_of(agents.load("gemini")).stranded(home, _nowhere(tmp_path))
    }
    assert hidden in stranded
    assert shown not in stranded


def test_nothing_is_said_of_rescue_where_a_file_holds_one_session(plan: AskGemini, tmp_path: Path) -> None:
    assert not any("rescue" in warning for warning in plan(taken_away(write_session(tmp_path))).warnings)


# Folders


def test_what_lies_beside_goes_where_it_lay(plan: AskGemini, tmp_path: Path) -> None:
    file = write_session(tmp_path)
    folder = tmp_path / ".gemini" / "tmp" / "shop"
    beside = [
        folder / "chats" / FIRST_ID / "agent-1.jsonl",
        folder / "tool-outputs" / f"session-{FIRST_ID}" / "ls_1.txt",
        folder / FIRST_ID / "plans" / "plan.md",
    ]
    for one in beside:
        one.parent.mkdir(parents=True)
        one.write_text(one.name)
    copies = taken_away(file, *beside)
    beside[2].write_text("another plan")
    found = plan(copies)
    assert [one.path for one in found.placements[1:]] == [str(one) for one in beside[:2]]
    assert any(str(beside[2]) in warning for warning in found.warnings)


def test_a_folder_that_is_gone_is_made_again_with_its_marker(plan: AskGemini, tmp_path: Path) -> None:
    file = write_session(tmp_path)
    home = tmp_path / ".gemini"
    (home / "projects.json").write_text(json.dumps({"projects": {"/home/ada/dev/shop": "shop"}}))
    copies = taken_away(file)
    shutil.rmtree(home / "tmp")
    written = write(plan(copies))
    assert Path(written[0]).parent == file.parent
    assert (home / "tmp" / "shop" / ".project_root").read_text() == "/home/ada/dev/shop"


def test_a_session_goes_to_the_folder_that_is_used_now(plan: AskGemini, tmp_path: Path) -> None:
    project = "/home/ada/dev/shop"
    old = write_session(tmp_path, slug=folder_hash(project), project=project)
    (old.parent.parent / ".project_root").unlink()
    used = write_session(tmp_path, "99999999-0000-4000-8000-000000000002", project=project)
    home = tmp_path / ".gemini"
    (home / "projects.json").write_text(json.dumps({"projects": {project: "shop"}}))
    (placement, *_) = plan(taken_away(old)).placements
    assert Path(placement.path).parent == used.parent
    assert any(str(old.parent.parent) in change for change in placement.changes)


def test_what_an_upgrade_copied_is_put_back_once(plan: AskGemini, tmp_path: Path) -> None:
    project = "/home/ada/dev/shop"
    old = write_session(tmp_path, slug=folder_hash(project), project=project)
    (old.parent.parent / ".project_root").unlink()
    new = write_session(tmp_path, project=project)
    (new.parent.parent / "logs.json").write_text("[]")
    for file in (old, new):
        (file.parent.parent / "tool_output").mkdir()
        (file.parent.parent / "tool_output" / "a.txt").write_text("out")
    outputs = [file.parent.parent / "tool_output" / "a.txt" for file in (old, new)]
    found = plan(taken_away(old, new, *outputs))
    assert len({one.path for one in found.placements}) == len(found.placements) == 2
    assert all("/shop/" in one.path for one in found.placements)


def test_older_releases_look_into_the_folder_of_the_hash(plan: AskGemini, tmp_path: Path) -> None:
    file = write_session(tmp_path)
    (placement, *_) = plan(taken_away(file), version="0.28.2").placements
    assert Path(placement.path).parts[-3] == folder_hash("/home/ada/dev/shop")


def test_a_folder_of_another_project_is_not_taken(plan: AskGemini, tmp_path: Path) -> None:
    file = write_session(tmp_path, project="/home/ada/dev/shop")
    home = tmp_path / ".gemini"
    (home / "projects.json").write_text(json.dumps({"projects": {"/home/ada/dev/shop": "shop"}}))
    copies = taken_away(file)
    (file.parent.parent / ".project_root").write_text("/home/ada/old/shop")
    (placement, *_) = plan(copies).placements
    assert Path(placement.path).parts[-3] == "shop-1"


def test_says_that_the_project_is_not_there(plan: AskGemini, tmp_path: Path) -> None:
    assert any("/home/ada/dev/shop" in one for one in plan(taken_away(write_session(tmp_path))).warnings)


# Claude Code and Codex CLI


@pytest.mark.parametrize(
    ("agent", "case", "pattern"),
    [("claude", "subagent", "projects/**/*"), ("codex", "plain", "sessions/**/*")],
)
def test_other_agents_find_every_file_where_it_lay(
    agent: str, case: str, pattern: str, tmp_path: Path
) -> None:
    home = tmp_path / f".{agent}"
    shutil.copytree(FIXTURES / agent / case / "home" / f".{agent}", home)
    files = [file for file in sorted(home.glob(pattern)) if file.is_file()]
    for file in files:
        os.utime(file, (1, 1))
    copies = taken_away(*files)
    plan = plan_in_home("it", home_of(agent, home), copies, _nowhere(tmp_path))
    assert plan.size == sum(copy.size for copy in copies)
    assert sorted(write(plan)) == sorted(map(str, files))
    for copy in copies:
        assert Path(copy.path).read_bytes() == copy.read()
        # What agents delete by the date of the disk has its whole time again.
        assert abs(Path(copy.path).stat().st_mtime - time.time()) < 600


def _nowhere(folder: Path) -> Circumstances:
    return Circumstances(environment={}, user_home=str(folder), here=str(folder), now=SOON)


def test_claude_code_gets_a_session_under_another_id_where_its_name_is_taken(tmp_path: Path) -> None:
    home = tmp_path / ".claude"
    shutil.copytree(FIXTURES / "claude" / "subagent" / "home" / ".claude", home)
    files = [file for file in sorted(home.glob("projects/**/*")) if file.is_file()]
    (main,) = [file for file in files if file.parent.parent.name == "projects" and file.suffix == ".jsonl"]
    copies = taken_away(*files)
    main.write_text("{}\n")
    plan = plan_in_home("it", home_of("claude", home), copies, _nowhere(tmp_path))
    written = write(plan)
    assert str(main) not in written
    assert main.read_text() == "{}\n"
    (again,) = [Path(one.path) for one in plan.placements if one.origin == str(main)]
    assert again.parent == main.parent
    assert all(Path(path).is_relative_to(again.with_suffix("")) for path in written if path != str(again))
    assert any(again.stem in change for one in plan.placements for change in one.changes)
    assert plan_in_home("it", home_of("claude", home), copies, _nowhere(tmp_path)).refusal is not None


def test_a_rollout_that_codex_archived_or_packed_is_not_gone(tmp_path: Path) -> None:
    home = tmp_path / ".codex"
    shutil.copytree(FIXTURES / "codex" / "plain" / "home" / ".codex", home)
    (file, *_) = sorted(home.glob("sessions/**/rollout-*"))
    copies = taken_away(file)
    archived = home / "archived_sessions" / f"{file.name}.zst"
    archived.parent.mkdir(exist_ok=True)
    archived.write_bytes(b"packed")
    refusal = plan_in_home("it", home_of("codex", home), copies, _nowhere(tmp_path)).refusal
    assert refusal is not None
    assert str(archived) in refusal


# Elsewhere


def test_elsewhere_every_byte_and_date_is_as_it_was(tmp_path: Path) -> None:
    file = write_session(tmp_path)
    os.utime(file, ns=(10**18, 10**18))
    home, elsewhere = tmp_path / ".gemini", tmp_path / "elsewhere"
    copies = copies_of(file)
    (path,) = write(plan_to_folder(SESSION, str(home), copies, str(elsewhere)))
    assert Path(path) == elsewhere / file.relative_to(home)
    assert Path(path).read_bytes() == file.read_bytes()
    assert Path(path).stat().st_mtime_ns == 10**18
    assert Path(path).stat().st_mode & 0o777 == 0o600
    assert elsewhere.stat().st_mode & 0o777 == 0o700
    assert plan_to_folder(SESSION, str(home), copies, str(elsewhere)).refusal is not None
    Path(path).write_text("other")
    again = plan_to_folder(SESSION, str(home), copies, str(elsewhere))
    assert again.placements == ()
    assert again.refusal is not None
    assert path in again.refusal


@pytest.mark.parametrize(
    "path",
    [
        "/home/ada/.gemini/../.ssh/keys",
        "/home/ada/.gemini/tmp/../../../etc",
        "/home/ada/.gemini/tmp/a\0b",
        "/home/ada/.gemini//tmp",
        "/home/ada/.gemini/./tmp",
        "/home/ada/.gemini",
        "/home/ada/.gemini/",
        "/home/ada/.geminis/tmp",
        "/etc/passwd",
        "tmp/x",
        "",
    ],
)
def test_no_path_leads_out_of_the_folder(path: str, tmp_path: Path) -> None:
    assert pieces_below(path, "/home/ada/.gemini") is None
    copy = Copy(path=path, size=1, mtime_ns=0, read=lambda: b"x")
    plan = plan_to_folder(SESSION, "/home/ada/.gemini", [copy], str(tmp_path / "elsewhere"))
    assert plan.placements == ()
    assert plan.refusal is not None


@pytest.mark.parametrize(
    "name", ["con", "NUL.jsonl", "com1.txt", "a:b", "C:", "x\\..\\..\\y", "dot.", "sp ", "a?"]
)
def test_on_windows_no_name_means_something_else(name: str) -> None:
    assert pieces_below(f"C:/home/.gemini/{name}", "C:/home/.gemini", on_windows=True) is None
    assert pieces_below("C:\\home\\.gemini\\tmp\\x", "C:\\home\\.gemini", on_windows=True) == ["tmp", "x"]


def test_a_link_does_not_lead_out_of_the_folder(tmp_path: Path) -> None:
    file = write_session(tmp_path)
    elsewhere, outside = tmp_path / "elsewhere", tmp_path / "outside"
    elsewhere.mkdir()
    outside.mkdir()
    (elsewhere / "tmp").symlink_to(outside)
    plan = plan_to_folder(SESSION, str(tmp_path / ".gemini"), copies_of(file), str(elsewhere))
    assert plan.placements == ()
    assert plan.refusal is not None
    assert "link" in plan.refusal


def test_a_link_that_is_put_there_after_the_question_leads_nowhere(tmp_path: Path) -> None:
    """Between the plan and the writing somebody may be asked, and somebody else has time."""
    home, target, outside = tmp_path / "home", tmp_path / "target", tmp_path / "outside"
    outside.mkdir()
    copies = taken_away(write_session(home))
    plan = plan_to_folder(SESSION, str(home), copies, str(target))
    (target / ".gemini").mkdir(parents=True)
    (target / ".gemini" / "tmp").symlink_to(outside)
    with pytest.raises(LedAwayError, match="leads out of"):
        write(plan)
    assert list(outside.rglob("*")) == []


def test_a_file_that_has_another_name_elsewhere_keeps_its_content(tmp_path: Path) -> None:
    """A hard link in the place of what is restored is a file that is there, and stays what it is."""
    home, target, other = tmp_path / "home", tmp_path / "target", tmp_path / "other"
    copies = taken_away(write_session(home))
    plan = plan_to_folder(SESSION, str(home), copies, str(target))
    other.write_bytes(b"mine")
    (place,) = plan.placements
    Path(place.path).parent.mkdir(parents=True)
    Path(place.path).hardlink_to(other)
    with pytest.raises(FileExistsAlreadyError):
        write(plan)
    assert other.read_bytes() == b"mine"


@pytest.mark.parametrize(
    ("agent", "case", "pattern", "link"),
    [
        ("gemini", "tool-calls-json", "tmp/*/chats/*", "tmp"),
        ("gemini", "tool-calls-json", "tmp/*/chats/*", "chats"),
        ("claude", "plain", "projects/*/*", "projects"),
        ("codex", "plain", "sessions/**/rollout-*", "sessions"),
    ],
)
def test_a_link_does_not_lead_out_of_the_home_either(
    agent: str, case: str, pattern: str, link: str, tmp_path: Path
) -> None:
    home, outside = tmp_path / f".{agent}", tmp_path / "outside"
    shutil.copytree(FIXTURES / agent / case / "home" / f".{agent}", home)
    files = [file for file in home.glob(pattern) if file.is_file()]
    copies = taken_away(*files)
    (linked, *_) = [folder for folder in files[0].parents if folder.name == link]
    linked.rename(outside)
    linked.symlink_to(outside)
    plan = plan_in_home("it", home_of(agent, home), copies, _nowhere(tmp_path))
    assert plan.placements == ()
    assert plan.refusal is not None
    assert "leads out of" in plan.refusal
    assert "--to DIR" in plan.refusal


def test_a_home_may_be_reached_by_a_link_and_have_links_inside(plan: AskGemini, tmp_path: Path) -> None:
    file = write_session(tmp_path)
    copies = taken_away(file)
    real = (tmp_path / ".gemini").rename(tmp_path / "real")
    (tmp_path / ".gemini").symlink_to(real)
    (real / "tmp").rename(real / "sessions")
    (real / "tmp").symlink_to("sessions")
    (path, *_) = write(plan(copies))
    assert Path(path).read_bytes() == copies[0].read()


@pytest.mark.parametrize("path", ["../../../escaped.txt", "shop/chats/../../../../escaped.txt"])
def test_no_copy_is_put_back_outside_of_the_home(plan: AskGemini, tmp_path: Path, path: str) -> None:
    copy = Copy(path=f"{tmp_path}/.gemini/tmp/{path}", size=1, mtime_ns=0, read=lambda: b"x")
    for agent in ("claude", "codex", "gemini"):
        home = home_of(agent, tmp_path / ".gemini")
        assert plan_in_home("it", home, [copy], _nowhere(tmp_path)).placements == ()


# Writing


def placed(path: Path, content: bytes = b"content") -> Placement:
    return Placement(path=str(path), read=lambda: content, size=len(content), origin=str(path))


def test_what_was_put_there_meanwhile_stays_and_nothing_else_is_left(tmp_path: Path) -> None:
    first, second = tmp_path / "new" / "a.jsonl", tmp_path / "b.jsonl"
    plan = RestorePlan(SESSION, (placed(first), placed(second)))
    second.write_text("theirs")
    with pytest.raises(FileExistsAlreadyError):
        write(plan)
    assert list(tmp_path.iterdir()) == [second]
    assert second.read_text() == "theirs"


def test_a_damaged_copy_leaves_nothing(tmp_path: Path) -> None:
    def damaged() -> bytes:
        raise GeminidsError("The copy is damaged.")

    bad = Placement(path=str(tmp_path / "new" / "b"), read=damaged, size=1, origin="b")
    with pytest.raises(GeminidsError):
        write(RestorePlan(SESSION, (placed(tmp_path / "new" / "a"), bad)))
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_nothing_and_is_named(tmp_path: Path) -> None:
    """A limit on the size of files stands for a disk that is full."""
    code = """
import resource, signal, sys
from geminids.library.custody.restore import RestorePlan, write
from geminids.core.agents.restore import Placement
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
small, large = (
    Placement(path=f"{sys.argv[1]}/new/{name}", read=lambda size=size: bytes(size), size=size, origin=name)
    for name, size in (("small", 10), ("large", 1_000_000))
)
try:
    write(RestorePlan("it", (small, large)))
except OSError as error:
    print(error.errno, error.filename)
"""
    ran = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, timeout=60, check=True
    )
    assert ran.stdout.split() == [str(errno.EFBIG), str(tmp_path / "new" / "large")]
    assert list(tmp_path.iterdir()) == []


def test_killed_in_the_middle_no_half_file_has_the_name_of_a_session(tmp_path: Path) -> None:
    """It is killed while it writes the second file, and then while it gives the files their names."""
    code = """
import os, signal, sys
from functools import partial
from geminids.library.custody import restore
from geminids.sharing.export.files import NewFile
from geminids.core.agents.restore import Placement
target, moment = sys.argv[1:]
def reading(number):
    if moment == "writing" and number == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return b"whole" * 1000
def settling(file, *, replace, settle=NewFile.settle):
    if moment == "naming" and file.target.name == "1.jsonl":
        os.kill(os.getpid(), signal.SIGKILL)
    settle(file, replace=replace)
NewFile.settle = settling
placements = tuple(
    Placement(path=f"{target}/{number}.jsonl", read=partial(reading, number), size=5000, origin="")
    for number in range(3)
)
restore.write(restore.RestorePlan("it", placements))
"""
    for moment, whole in (("writing", 0), ("naming", 1)):
        folder = tmp_path / moment
        command = [sys.executable, "-c", code, str(folder), moment]
        ran = subprocess.run(command, cwd=ROOT, timeout=60, check=False)
        assert ran.returncode == -signal.SIGKILL
        found = sorted(folder.glob("*.jsonl"))
        assert [file.read_bytes() for file in found] == [b"whole" * 1000] * whole
        rest = [file.name for file in folder.iterdir() if file not in found]
        assert all(re.fullmatch(r"\.geminids-.+\.part", name) for name in rest)


def test_where_files_can_have_no_second_name_nothing_is_replaced_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EOPNOTSUPP, "no links here")

    monkeypatch.setattr(os, "link", refuse)
    target = tmp_path / "a.jsonl"
    assert write(RestorePlan(SESSION, (placed(target),))) == [str(target)]
    assert target.read_bytes() == b"content"
    with pytest.raises(FileExistsAlreadyError):
        write(RestorePlan(SESSION, (placed(target, b"other"),)))
    assert target.read_bytes() == b"content"
    assert list(tmp_path.iterdir()) == [target]


def test_a_file_that_takes_the_place_of_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "shop").write_text("a file")
    with pytest.raises(OSError, match="shop"):
        write(RestorePlan(SESSION, (placed(tmp_path / "shop" / "chats" / "a.jsonl"),)))
    assert (tmp_path / "shop").read_text() == "a file"
