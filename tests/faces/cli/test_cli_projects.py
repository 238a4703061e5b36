"""`geminids projects` and its verbs."""

import json
import shutil
import sqlite3
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from geminids.core.model import folder_hash
from geminids.faces.tui.browser.projects import project_lines
from geminids.library import Library
from geminids.query.usage.stats import StatsQuestion
from tests.conftest import Run
from tests.support.homes import FIRST_ID, tool_call, write_session
from tests.support.shells import shell

SECOND_ID = "2e2e2e2e-0000-4000-8000-000000000002"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    write_session(tmp_path, day=1)
    write_session(tmp_path, SECOND_ID, slug="blog", day=9, project="/srv/blog")
    return tmp_path


def write_unknown(home: Path, folder: Path | str, native_id: str = FIRST_ID) -> str:
    """A session of a project of which only the hash is known; the hash."""
    file = write_session(home, native_id, slug="old", project=str(folder))
    (file.parent.parent / ".project_root").unlink()
    name = folder_hash(str(folder))
    (home / ".gemini" / "tmp" / "old").rename(home / ".gemini" / "tmp" / name)
    return name


def listed(geminids: Run, home: Path) -> list[dict[str, object]]:
    found = json.loads(geminids("projects", "--home", home, "--json").out)["projects"]
    return [report["project"] for report in found]


def test_a_pipe_gets_one_line_a_project_the_last_used_first(geminids: Run, home: Path) -> None:
    outcome = geminids("projects", "--home", home)
    assert outcome.code == 0
    lines = [line.split("\t") for line in outcome.out.splitlines()]
    assert [line[1:6] for line in lines] == [
        ["/srv/blog", "marker", "1", "0", "2026-05-09 10:05"],
        ["/home/ada/dev/shop", "marker", "1", "0", "2026-05-01 10:05"],
    ]
    assert lines[0][0] == folder_hash("/srv/blog")


def test_json_tells_how_a_folder_is_known(geminids: Run, home: Path) -> None:
    document = json.loads(geminids("projects", "--home", home, "--json").out)
    assert document["schema"] == "geminids/projects/1"
    report = document["projects"][1]
    assert report["project"] == {
        "path": "/home/ada/dev/shop",
        "hash": folder_hash("/home/ada/dev/shop"),
        "slug": "shop",
        "known_by": "marker",
        "certain": True,
    }
    assert {"sessions": 1, "lost": 0, "subagents": 0}.items() <= report.items()


def test_no_project_at_all_is_told(geminids: Run, tmp_path: Path) -> None:
    outcome = geminids("projects", "--home", tmp_path)
    assert (outcome.code, outcome.out) == (1, "")
    assert "No session found" in outcome.err


def test_an_unknown_project_is_shown_by_its_hash_and_what_to_do_is_said(
    geminids: Run, tmp_path: Path
) -> None:
    name = write_unknown(tmp_path, "/nowhere/at/all")
    outcome = geminids("projects", "--home", tmp_path)
    assert outcome.out.split("\t")[:3] == [name, "-", "not known"]
    assert "geminids projects resolve" in outcome.err


def test_a_link_is_the_word_of_the_user_until_it_is_taken_back(
    geminids: Run, tmp_path: Path, machine: Path
) -> None:
    name = write_unknown(tmp_path, "/old/place")
    (moved := machine / "moved").mkdir()
    assert (
        "its hash is not that of the folder"
        in geminids("projects", "link", name[:8], moved, "--home", tmp_path).err
    )
    (project,) = listed(geminids, tmp_path)
    assert (project["path"], project["known_by"], project["certain"]) == (str(moved), "link", False)
    (session,) = json.loads(geminids("list", "--home", tmp_path, "--json", "--project", "moved").out)[
        "sessions"
    ]
    assert session["project"]["path"] == str(moved)
    shown = json.loads(geminids("show", "latest", "--home", tmp_path, "--json").out)
    assert shown["project"]["path"] == str(moved)
    assert geminids("projects", "unlink", name[:8], "--home", tmp_path).code == 0
    assert listed(geminids, tmp_path)[0]["path"] is None
    again = geminids("projects", "unlink", name[:8], "--home", tmp_path)
    assert (again.code, "not linked" in again.err) == (1, True)


def test_a_link_to_the_right_folder_is_certain(geminids: Run, tmp_path: Path, machine: Path) -> None:
    (folder := machine / "shop").mkdir()
    name = write_unknown(tmp_path, folder)
    assert "its hash is that of the project" in geminids("projects", "link", name, folder).err
    (project,) = listed(geminids, tmp_path)
    assert (project["path"], project["known_by"], project["certain"]) == (str(folder), "link", True)


@pytest.mark.parametrize(
    ("words", "code", "complaint"),
    [
        (("link", "shop", "/not/there"), 2, "is not a folder"),
        (("link", "zzz", "/"), 1, "No project matches 'zzz'"),
        (("link", "o", "/"), 2, "could be any of 2 projects"),
        (("unlink", "shop"), 1, "not linked"),
        (("show", "zzz"), 1, "Available: "),
        (("show", "o"), 2, "blog, shop"),
        (("show", "shpo"), 1, "Did you mean shop?"),
        (("resolve", "--seconds", "0"), 2, "--seconds"),
        (("link", "shop", ""), 2, "empty"),
        (("unlink", ""), 2, "empty"),
        (("show", " "), 2, "empty"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    geminids: Run, home: Path, words: tuple[str, ...], code: int, complaint: str
) -> None:
    outcome = geminids("projects", *words, "--home", home)
    assert outcome.code == code
    assert complaint in outcome.err
    assert "Traceback" not in outcome.err


def test_a_folder_where_people_keep_projects_is_found_and_remembered(
    geminids: Run, tmp_path: Path, machine: Path
) -> None:
    (folder := machine / "dev" / "clients" / "shop").mkdir(parents=True)
    name = write_unknown(tmp_path, folder)
    outcome = geminids("projects", "resolve", "--home", tmp_path)
    assert outcome.code == 0
    assert f"{name[:8]} is ~/dev/clients/shop (search)" in outcome.err
    folder.rmdir()
    (project,) = listed(geminids, tmp_path)
    assert (project["path"], project["known_by"], project["certain"]) == (str(folder), "search", True)
    again = geminids("projects", "resolve", "--home", tmp_path)
    assert "All projects are already known" in again.err


def test_the_folders_of_a_chosen_home_are_looked_through_first(
    geminids: Run, tmp_path: Path, machine: Path
) -> None:
    (folder := tmp_path / "code" / "clients" / "shop").mkdir(parents=True)
    name = write_unknown(tmp_path, folder)
    assert geminids("projects", "resolve", "--home", tmp_path).code == 0
    assert [(p["hash"], p["path"], p["certain"]) for p in listed(geminids, tmp_path)] == [
        (name, str(folder), True)
    ]


def test_the_shell_of_a_chosen_home_is_asked_and_not_by_the_variables_of_this_one(
    geminids: Run, tmp_path: Path, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder := tmp_path / "a" / "b" / "c" / "d" / "e" / "deep").mkdir(parents=True)
    name = write_unknown(tmp_path, folder)
    (tmp_path / ".zsh_history").write_text("cd ~/a/b/c/d/e/deep\n")
    monkeypatch.setenv("ZDOTDIR", str(machine))
    outcome = geminids("projects", "resolve", "--home", tmp_path)
    assert f"{name[:8]} is {folder} (shell)" in outcome.err


def test_what_programs_keep_in_a_chosen_home_is_not_entered(
    geminids: Run, tmp_path: Path, machine: Path
) -> None:
    (folder := tmp_path / ".local" / "shop").mkdir(parents=True)
    write_unknown(tmp_path, folder)
    assert geminids("projects", "resolve", "--deep", "--seconds", "60", "--home", tmp_path).code == 1


def test_the_first_look_is_short_and_not_repeated_in_vain(
    geminids: Run, tmp_path: Path, machine: Path
) -> None:
    write_unknown(tmp_path, machine / "src" / "late")
    began = time.monotonic()
    assert listed(geminids, tmp_path)[0]["path"] is None
    assert time.monotonic() - began < 2
    (machine / "src" / "late").mkdir(parents=True)
    assert listed(geminids, tmp_path)[0]["path"] is None, "it was looked for a moment ago"
    with sqlite3.connect(machine / ".local/share/geminids/geminids.db") as kept:
        kept.execute("UPDATE looked_for SET at = '2026-05-01T00:00:00+00:00', depth = 8, sum = NULL")
    kept.close()
    assert listed(geminids, tmp_path)[0]["known_by"] == "search", "weeks later one looks again"


@pytest.mark.slow
def test_a_look_in_vain_is_noted_even_after_a_deeper_one(
    geminids: Run, tmp_path: Path, machine: Path
) -> None:
    name = write_unknown(tmp_path, "/nowhere/at/all")
    geminids("projects", "resolve", "--deep", "--seconds", "60", "--home", tmp_path)
    with sqlite3.connect(machine / ".local/share/geminids/geminids.db") as kept:
        kept.execute(
            "UPDATE looked_for SET at = '2026-05-01T00:00:00+00:00', sum = NULL WHERE hash = ?", [name]
        )
        kept.commit()
        geminids("projects", "--home", tmp_path)
        looks = kept.execute("SELECT hash, at, depth FROM looked_for").fetchall()
    kept.close()
    assert looks == [(name, "2026-06-15T12:00:00+00:00", 8)]


@pytest.mark.usefixtures("without_copies")
def test_a_session_that_proves_a_folder_tells_it_of_all_others(geminids: Run, tmp_path: Path) -> None:
    name = write_unknown(tmp_path, "/home/ada/dev/old")
    calls = [tool_call(args={"file_path": "/home/ada/dev/old/src/a.py"})]
    proof = write_session(tmp_path, SECOND_ID, slug="tmp", project="/home/ada/dev/old", calls=calls)
    proof.rename(tmp_path / ".gemini" / "tmp" / name / "chats" / proof.name)
    shutil.rmtree(tmp_path / ".gemini" / "tmp" / "tmp")
    sessions = json.loads(geminids("list", "--home", tmp_path, "--json").out)["sessions"]
    assert {session["project"]["path"] for session in sessions} == {"/home/ada/dev/old"}
    (tmp_path / ".gemini" / "tmp" / name / "chats" / proof.name).unlink()
    (left,) = json.loads(geminids("list", "--home", tmp_path, "--json").out)["sessions"]
    assert left["project"]["path"] == "/home/ada/dev/old", "what was proven once is remembered"
    assert left["project"]["certain"]


def test_the_folder_one_stands_in_is_recognised(
    geminids: Run, tmp_path: Path, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (machine / "here" / "below").mkdir(parents=True)
    write_unknown(tmp_path, machine / "here")
    monkeypatch.chdir(machine / "here" / "below")
    (session,) = json.loads(geminids("list", "--home", tmp_path, "--json").out)["sessions"]
    assert session["project"]["path"] == str(machine / "here")
    assert session["project"]["known_by"] == "current-folder"


def test_the_story_of_a_project_stands_in_order_of_time(geminids: Run, home: Path) -> None:
    write_session(home, "3f3f3f3f-0000-4000-8000-000000000003", day=5, prompt="Later")
    folder = home / ".gemini" / "tmp" / "shop"
    (folder / "tool-outputs" / "session-99999999-0000").mkdir(parents=True)
    (folder / "tool-outputs" / "session-99999999-0000" / "shell_1.txt").write_text("x")
    outcome = geminids("projects", "show", "shop", "--home", home)
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert lines[0].startswith("/home/ada/dev/shop")
    assert lines[1].startswith("2 sessions, ")
    assert [line.split("\t")[2] for line in lines[3:]] == [
        "Fix the login redirect",
        "Later",
        "the session that this tool-output belongs to is gone",
    ]
    document = json.loads(geminids("projects", "show", "shop", "--home", home, "--json").out)
    assert document["schema"] == "geminids/project/1"
    assert [event["kind"] for event in document["events"]] == ["session", "session", "gap"]


def test_a_list_says_which_projects_were_meant(geminids: Run, home: Path) -> None:
    assert "2 projects match 'o': blog, shop" in geminids("list", "--project", "o", "--home", home).err
    assert geminids("list", "--project", "shop", "--home", home).err == ""


def test_work_trees_of_one_repository_are_one_project_once_git_was_asked(
    geminids: Run, tmp_path: Path, machine: Path
) -> None:
    main, tree = machine / "dev" / "shop", machine / "dev" / "shop-fix"
    git = ["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    subprocess.run([*git, "init", "-q", main], check=True)
    subprocess.run([*git, "-C", main, "commit", "-q", "--allow-empty", "-m", "First"], check=True)
    subprocess.run([*git, "-C", main, "worktree", "add", "-q", tree], check=True, capture_output=True)
    write_session(tmp_path, slug="shop", project=str(main))
    write_session(tmp_path, SECOND_ID, slug="shop-fix", project=str(tree), day=2)
    assert len(listed(geminids, tmp_path)) == 2, "nobody has looked outside the home"
    assert geminids("projects", "resolve", "--home", tmp_path).code == 0
    (project,) = listed(geminids, tmp_path)
    assert project["path"] == str(main)
    told = geminids("projects", "show", "shop", "--home", tmp_path).out
    assert f"also {tree}".replace(str(machine), "~") in told


def test_a_file_of_credentials_is_not_opened_even_on_request(geminids: Run, tmp_path: Path) -> None:
    file = tmp_path / ".gemini" / "oauth_creds.json"
    file.parent.mkdir()
    file.write_text('{"access_token": "canary"}')
    for words in (("show", file), ("doctor", file), ("show", file, "--agent-view")):
        outcome = geminids(*words)
        assert outcome.code == 2
        assert "holds credentials and is not opened" in outcome.err
        assert "canary" not in outcome.out + outcome.err


def test_a_link_is_for_the_very_name_that_was_meant(geminids: Run, tmp_path: Path, machine: Path) -> None:
    tree = "/home/ada/dev/shop/.gemini/worktrees/fix"
    write_session(tmp_path)
    write_session(tmp_path, SECOND_ID, slug="fix", project=tree)
    (moved := machine / "moved").mkdir()
    name = folder_hash(tree)[:8]
    assert f"{name} is ~/moved" in geminids("projects", "link", name, moved, "--home", tmp_path).err
    paths = {project["path"] for project in listed(geminids, tmp_path)}
    assert paths == {"/home/ada/dev/shop", str(moved)}
    assert geminids("projects", "unlink", name, "--home", tmp_path).code == 0


@pytest.mark.slow
@pytest.mark.parametrize("written", ['{"version":9,"links":{}}', '{"version":1,"links":{"a'])
def test_a_memory_that_cannot_be_read_is_said_and_nothing_found_is_lost(
    geminids: Run, tmp_path: Path, machine: Path, written: str
) -> None:
    memory = machine / ".local/share/geminids/projects.json"
    memory.parent.mkdir(parents=True)
    memory.write_text(written)
    (folder := machine / "dev" / "shop").mkdir(parents=True)
    name = write_unknown(tmp_path, folder)
    for words in (("projects",), ("list",), ()):
        assert "links cannot be read" in geminids(*words, "--home", tmp_path).err
    assert listed(geminids, tmp_path)[0]["path"] == str(folder), "it is found each time"
    assert memory.read_text() == written
    outcome = geminids("projects", "resolve", "--home", tmp_path)
    assert "cannot be stored" in outcome.err
    assert "not linked" not in geminids("projects", "unlink", name, "--home", tmp_path).err


def test_a_project_of_which_only_words_are_left_is_not_searched_for(geminids: Run, tmp_path: Path) -> None:
    file = write_session(tmp_path)
    file.unlink()
    (file.parent.parent / "logs.json").write_text(
        json.dumps([{"sessionId": FIRST_ID, "messageId": 0, "type": "user", "message": "Words"}])
    )
    (project,) = listed(geminids, tmp_path)
    assert (project["path"], project["known_by"], project["certain"]) == (
        "/home/ada/dev/shop",
        "marker",
        False,
    )
    assert "All projects are already known" in geminids("projects", "resolve", "--home", tmp_path).err


def test_a_word_of_a_session_proves_its_folder_when_somebody_looks(geminids: Run, tmp_path: Path) -> None:
    name = write_unknown(tmp_path, "/srv/only/words")
    (file,) = (tmp_path / ".gemini" / "tmp" / name / "chats").iterdir()
    file.write_text(file.read_text().replace("Done.", "See /srv/only/words/src/a.py for it."))
    assert listed(geminids, tmp_path)[0]["path"] is None
    assert geminids("projects", "resolve", "--home", tmp_path).code == 0
    (project,) = listed(geminids, tmp_path)
    assert (project["path"], project["known_by"]) == ("/srv/only/words", "context")


def test_the_folder_itself_is_meant_before_what_lies_in_it(geminids: Run, tmp_path: Path) -> None:
    write_session(tmp_path)
    write_session(tmp_path, SECOND_ID, slug="inner", project="/home/ada/dev/shop/inner", day=2)
    outcome = geminids("projects", "show", "/home/ada/dev/shop", "--home", tmp_path)
    assert outcome.code == 0
    assert outcome.out.startswith("/home/ada/dev/shop  marker")
    both = json.loads(geminids("list", "--project", "/home/ada/dev/shop", "--home", tmp_path, "--json").out)
    assert len(both["sessions"]) == 2, "a list shows what lies below, too"


def test_a_shell_that_is_elsewhere_says_nothing_about_where_we_are(
    geminids: Run, tmp_path: Path, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for native_id, name in ((FIRST_ID, "here"), (SECOND_ID, "there")):
        (machine / name).mkdir()
        write_session(tmp_path, native_id, slug=name, project=str(machine / name))
    monkeypatch.chdir(machine / "here")
    monkeypatch.setenv("PWD", str(machine / "there"))
    found = json.loads(geminids("list", "--project", ".", "--home", tmp_path, "--json").out)["sessions"]
    assert [session["project"]["path"] for session in found] == [str(machine / "here")]


def test_a_proven_link_needs_no_folder_on_this_machine(geminids: Run, tmp_path: Path) -> None:
    name = write_unknown(tmp_path, "C:\\Users\\Ada\\shop")
    assert geminids("projects", "link", name, "C:\\Users\\Ada\\shop", "--home", tmp_path).code == 0
    (project,) = listed(geminids, tmp_path)
    assert (project["path"], project["certain"]) == ("C:\\Users\\Ada\\shop", True)


def test_one_session_knows_what_the_others_of_its_project_prove(geminids: Run, tmp_path: Path) -> None:
    name = write_unknown(tmp_path, "/home/ada/dev/old")
    calls = [tool_call(args={"file_path": "/home/ada/dev/old/src/a.py"})]
    proof = write_session(tmp_path, SECOND_ID, slug="aside", project="/home/ada/dev/old", calls=calls)
    proof.rename(tmp_path / ".gemini" / "tmp" / name / "chats" / proof.name)
    shutil.rmtree(tmp_path / ".gemini" / "tmp" / "aside")
    shown = json.loads(geminids("show", FIRST_ID, "--home", tmp_path, "--json").out)
    assert (shown["project"]["path"], shown["project"]["certain"]) == ("/home/ada/dev/old", True)


def test_entries_of_the_registry_that_are_none_are_reported(geminids: Run, tmp_path: Path) -> None:
    write_session(tmp_path)
    registry = tmp_path / ".gemini" / "projects.json"
    registry.write_text('{"projects": {"/home/ada/dev/shop": 1, "/home/ada/dev/blog": ["blog"]}}')
    problems = json.loads(geminids("doctor", "--home", tmp_path, "--json").out)["problems"]
    assert [(problem["file"], problem["kind"]) for problem in problems] == [(str(registry), "wrong-type")]


def test_the_numbers_of_a_timeline_open_its_sessions(home: Path, tmp_path: Path) -> None:
    write_session(home, "3e3e3e3e-0000-4000-8000-000000000003", day=3, prompt="Bake bread", answer="Rye.")
    with shell("bash", tmp_path) as sat_at:
        sat_at.type(f"export GEMINIDS_HOMES={home}; geminids list", "Enter")
        sat_at.until("blog")
        sat_at.clear()
        sat_at.type("geminids projects show shop", "Enter")
        assert "\n2  2026-05-03" in sat_at.until("Bake bread")
        sat_at.clear()
        sat_at.type("geminids show 2", "Enter")
        sat_at.until("Rye.")
        sat_at.clear()
        sat_at.type("geminids show 3", "Enter")
        # The third line of the list before was the blog.
        sat_at.until("the last list had 2 lines")


def test_a_pipe_gets_ids_and_leaves_the_numbers_of_the_last_list_alone(geminids: Run, home: Path) -> None:
    geminids("list", "--home", home)
    told = geminids("projects", "show", "shop", "--home", home).out.splitlines()
    assert told[-1].split("\t")[0] == "2026-05-01 10:00"
    assert SECOND_ID in geminids("show", "1", "--home", home, "--json").out


def write_claude(home: Path, name: str, cwd: str | None, day: int = 3) -> None:
    """A session of Claude Code; without `cwd` no record names its folder."""
    folder = home / ".claude" / "projects" / name
    folder.mkdir(parents=True, exist_ok=True)
    native_id = f"{day:08}-0000-4000-8000-000000000003"
    record = {
        "type": "user",
        "uuid": f"u{day}",
        "parentUuid": None,
        "sessionId": native_id,
        "timestamp": f"2026-05-{day:02}T09:00:00.000Z",
        "version": "2.1.0",
        "message": {"role": "user", "content": "Count the carts"},
    }
    line = json.dumps(record | ({"cwd": cwd} if cwd else {}))
    (folder / f"{native_id}.jsonl").write_text(f"{line}\n", "utf-8")


def write_codex(home: Path, day: int, cwd: str | None) -> None:
    folder = home / ".codex" / "sessions" / "2026" / "05" / f"{day:02}"
    folder.mkdir(parents=True)
    thread, at = f"0199a213-81c0-7800-8aa1-{day:012}", f"2026-05-{day:02}T10:00:00.000Z"
    meta = {"id": thread, "timestamp": at, "originator": "codex_cli_rs", "cli_version": "0.60.0"}
    prompt = {"type": "user_message", "message": "Count the carts", "kind": "plain"}
    records = [
        {"timestamp": at, "type": "session_meta", "payload": meta | ({"cwd": cwd} if cwd else {})},
        {"timestamp": at, "type": "event_msg", "payload": prompt},
    ]
    path = folder / f"rollout-2026-05-{day:02}T10-00-00-{thread}.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")


def test_sessions_of_codex_without_a_folder_are_one_project_without_a_folder(
    geminids: Run, tmp_path: Path
) -> None:
    write_codex(tmp_path, 1, None)
    write_codex(tmp_path, 2, None)
    write_codex(tmp_path, 3, "/srv/shop")
    projects = json.loads(geminids("projects", "--home", tmp_path, "--json").out)["projects"]
    found = {
        project["project"]["path"] or project["project"]["slug"]: project["sessions"] for project in projects
    }
    assert found == {"/srv/shop": 1, "no folder": 2}
    assert geminids("list", "--home", tmp_path, "--project", "no folder").out.count("\tno folder\t") == 2


def test_a_folder_that_claude_names_is_the_known_one_of_that_name(geminids: Run, tmp_path: Path) -> None:
    write_claude(tmp_path, "-srv-src-shop", None)
    write_codex(tmp_path, 3, "/srv/src/shop")
    (report,) = json.loads(geminids("projects", "--home", tmp_path, "--json").out)["projects"]
    assert report["project"]["path"] == "/srv/src/shop"
    assert (report["sessions"], report["agents"]) == (2, ["claude", "codex"])


def test_a_name_that_two_known_folders_have_is_not_guessed(geminids: Run, tmp_path: Path) -> None:
    write_claude(tmp_path, "-srv-src-shop", None)
    write_codex(tmp_path, 3, "/srv/src/shop")
    write_codex(tmp_path, 4, "/srv/src-shop")
    found = listed(geminids, tmp_path)
    assert {project["path"] for project in found} == {"/srv/src/shop", "/srv/src-shop", None}


def test_a_guessed_folder_and_the_certain_one_are_one_project(geminids: Run, tmp_path: Path) -> None:
    write_session(tmp_path, day=1, slug="shop", project="/srv/shop")
    marker = next(tmp_path.rglob(".project_root"))
    # The hash is of a folder elsewhere, and the note beside the sessions names this one.
    write_session(tmp_path, SECOND_ID, day=2, slug="guess", project="/mnt/old/shop")
    (tmp_path / ".gemini" / "tmp" / "guess" / ".project_root").write_text(marker.read_text())
    (report,) = json.loads(geminids("projects", "--home", tmp_path, "--json").out)["projects"]
    assert (report["project"]["path"], report["sessions"]) == ("/srv/shop", 2)
    with Library([tmp_path], tmp_path / "data") as library:
        (line,) = project_lines(library, datetime(2026, 6, 1, tzinfo=UTC))
        assert (
            line.used.prompts
            == library.stats(StatsQuestion(), datetime(2026, 6, 1, tzinfo=UTC)).total.prompts
        )
