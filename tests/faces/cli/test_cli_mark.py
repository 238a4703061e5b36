"""`geminids mark`: names, tags and notes, and where they show."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from geminids.library import Library
from geminids.storage.durable.changes import changing
from geminids.storage.durable.database import FILE_NAME
from geminids.storage.durable.values import MarkChange, Marks
from tests.conftest import Run
from tests.support.connections import to_be_closed
from tests.support.documents import check_printed
from tests.support.homes import FIRST_ID, write_session
from tests.support.startup import loaded_by
from tests.support.terminal import on_terminal

SECOND_ID = "2e2e2e2e-0000-4000-8000-000000000002"
FIRST, SECOND = f"gemini:{FIRST_ID}", f"gemini:{SECOND_ID}"

Command = Callable[..., subprocess.CompletedProcess[bytes]]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of two sessions, at which all commands look, and a data folder of its own."""
    home = tmp_path / "home"
    write_session(home, day=1)
    write_session(home, SECOND_ID, slug="blog", day=9, prompt="Write about carts")
    monkeypatch.setenv("GEMINIDS_HOMES", str(home))
    monkeypatch.setenv("GEMINIDS_DATA", str(tmp_path / "data"))
    return home


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


def lines(out: str) -> list[list[str]]:
    return [line.split("\t") for line in out.splitlines()]


# -- changing ----------------------------------------------------------------


def test_one_line_says_what_is_true_now(geminids: Run, home: Path) -> None:
    words = ("--name", "The cart", "--tag", "Bug", "--tag", "#keep", "--note", "One", "--note", "Two")
    done = geminids("mark", "latest", *words)
    assert (done.code, done.out) == (0, "")
    assert done.err == f'geminids: {SECOND}: named "The cart", tagged #bug #keep, notes 1, 2.\n'
    done = geminids("mark", "2e2e", "--untag", "bug", "--forget-note", "1")
    assert done.err == f'geminids: {SECOND}: named "The cart", tagged #keep, note 2.\n'
    done = geminids("mark", SECOND_ID, "--no-name", "--untag", "keep", "--forget-note", "2")
    assert done.err == f"geminids: {SECOND}: no name, no tags, no notes.\n"


def test_several_sessions_are_marked_at_once(geminids: Run, home: Path) -> None:
    geminids("list")
    done = geminids("mark", FIRST, SECOND_ID, FIRST_ID, "--tag", "keep", "--note", "One")
    assert (done.code, done.out) == (0, "")
    assert done.err.splitlines() == [
        f"geminids: {FIRST}: no name, tagged #keep, note 1.",
        f"geminids: {SECOND}: no name, tagged #keep, note 2.",
    ]
    shown = geminids("mark", FIRST, SECOND)
    assert shown.out.count("#keep") == 2
    document = check_printed(
        geminids("mark", FIRST, SECOND, "--untag", "none", "--json").out, "geminids/marks/1"
    )
    assert [session["id"] for session in document["sessions"]] == [FIRST, SECOND]
    assert document["tags"] == {"keep": 2}
    assert geminids("mark", FIRST, SECOND, "--untag", "keep", "--no-name").err.count("no tags") == 2


def test_of_several_sessions_all_are_marked_or_none(geminids: Run, home: Path) -> None:
    failed = geminids("mark", FIRST, "nothing-like-it", "--tag", "x")
    assert (failed.code, failed.out) == (1, "")
    assert "No session 'nothing-like-it'" in failed.err
    geminids("mark", FIRST, "--note", "One")
    for option in (("--name", "The cart"), ("--forget-note", "1")):
        failed = geminids("mark", FIRST, SECOND, *option)
        assert failed.code == 2
        assert f"{option[0]} is for one session, and 2 are given" in failed.err
    assert geminids("mark", FIRST, SECOND, "--tag", "x", "--tag", "two words").code == 2
    assert json.loads(geminids("mark", "--json").out)["tags"] == {}


def test_a_number_without_a_line_is_called_so_whatever_is_marked(geminids: Run, home: Path) -> None:
    geminids("mark", FIRST, "--name", "The login")
    for path in home.rglob(f"*{FIRST_ID[:8]}*"):
        path.unlink()
    geminids("list", "--project", "blog")
    wrong = geminids("mark", FIRST_ID[0] * 2, "--tag", "x")
    assert wrong.err == geminids("show", FIRST_ID[0] * 2).err
    assert "the last list had 1 line" in wrong.err
    assert "too short" not in geminids("mark", FIRST_ID[0] + "7", "--tag", "x").err


def test_a_name_that_another_session_has_is_given_and_that_is_said(geminids: Run, home: Path) -> None:
    assert geminids("mark", FIRST, "--name", "The cart").err.count("\n") == 1
    assert geminids("mark", FIRST, "--name", "The cart", "--tag", "x").err.count("\n") == 1
    done = geminids("mark", SECOND, "--name", "the cart")
    assert done.code == 0
    assert f'Also named "the cart": {FIRST}. To mean one of them, give its id.' in done.err
    assert "named" not in geminids("mark", SECOND, "--tag", "x").err.partition("\n")[2]
    assert "could be any of 2 sessions; they have the same name, so give the id" in (
        geminids("show", "The cart").err
    )


def test_a_name_means_its_session_wherever_one_may_be_meant(
    geminids: Run, home: Path, tmp_path: Path
) -> None:
    for name in ("S3 ACL refusal", "CI/CD", "77", "2e", "id:tag"):
        geminids("mark", SECOND, "--name", name)
        assert json.loads(geminids("show", name, "--json").out)["id"] == SECOND, name
        assert "Gemini CLI finds sessions by their folder" in geminids("resume", name, "--print").err, name
        written = geminids("export", name, "-o", tmp_path / "one.md", "--force")
        assert (written.code, "No session is named" in written.err) == (0, False), name
        assert "Write about carts" in (tmp_path / "one.md").read_text("utf-8"), name
        assert SECOND_ID in geminids("keep", "versions", name, "--json").out, name
        assert json.loads(geminids("stats", name, "--json").out)["total"]["sessions"] == 1, name
        assert f"{SECOND}: named" in geminids("mark", name, "--tag", "x").err, name
    geminids("mark", SECOND, "--name", "S3 ACL refusal")
    together = geminids("export", "S3", "ACL", "refusal")
    assert (together.code, "No session is named" in together.err) == (0, False)
    several = geminids("export", "S3 ACL refusal", FIRST, "-f", "jsonl")
    assert (several.code, "No session is named" in several.err) == (0, False)
    for path in home.rglob(f"*{SECOND_ID[:8]}*"):
        path.unlink()
    assert f"{SECOND}: named" in geminids("mark", "s3 acl refusal", "--untag", "x").err


def test_all_of_a_change_is_made_or_nothing(geminids: Run, home: Path) -> None:
    for wrong in (("--tag", "two words"), ("--forget-note", "7"), ("--forget-note", "9" * 30)):
        done = geminids("mark", "latest", "--name", "x", *wrong)
        assert done.code in (1, 2)
        assert done.err.count("\n") == 1
    assert "no note 7" in geminids("mark", "latest", "--forget-note", "7").err
    assert geminids("mark").code == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nothing-like-it", "--tag", "x"], "No session 'nothing-like-it'"),
        (["77", "--tag", "x"], "the last list had"),
        (["--tag", "x"], "Which session?"),
        (["latest", "--name", "x", "--no-name"], "cannot be combined"),
        (["latest", "--name", " "], "it is empty"),
        (["latest", "--tag", ""], "it is empty"),
        (["latest", "--forget-note", "one"], "not a valid integer"),
    ],
)
def test_what_cannot_be_meant_is_said(geminids: Run, home: Path, arguments: list[str], said: str) -> None:
    done = geminids("mark", *arguments)
    assert done.code in (1, 2)
    assert done.out == ""
    assert said in done.err


@pytest.mark.parametrize("text", ["a\x1b]52;c;x\x07", "a\tb", "a\nb", "a\u202eb", "a\udc80b", "x" * 201])
@pytest.mark.parametrize("option", ["--name", "--tag"])
def test_hostile_text_is_refused(geminids: Run, home: Path, data: Path, text: str, option: str) -> None:
    done = geminids("mark", "latest", option, text)
    assert done.code == 2
    assert f"A {option[2:]} " in done.err
    assert done.err.count("\n") == 1
    assert "\x1b" not in done.err
    assert not (data / FILE_NAME).exists()


def test_a_note_may_have_lines_and_tabs_and_nothing_else_that_steers(geminids: Run, home: Path) -> None:
    assert geminids("mark", "latest", "--note", "a\x1b[31mb").code == 2
    assert geminids("mark", "latest", "--note", "one\r\n\ttwo").code == 0
    assert "  one\n  \ttwo\n" in geminids("mark", "latest").out
    assert json.loads(geminids("mark", "latest", "--json").out)["notes"][0]["text"] == "one\n\ttwo"


def test_letters_without_width_are_kept_and_harmless(geminids: Run, home: Path) -> None:
    geminids("mark", "latest", "--name", "a\u200eb 👩\u200d💻")
    assert geminids("list").out.splitlines()[0].endswith("\tab 👩\u200d💻")


MARKING = """
import sys
from geminids.faces.cli.main import run
for number in range(10):
    assert run(["mark", "latest", "--tag", f"{sys.argv[1]}-{number}", "--note", sys.argv[1]]) == 0
"""


@pytest.mark.slow
def test_two_processes_mark_at_once_and_nothing_is_lost(geminids: Run, home: Path) -> None:
    geminids("sync")
    processes = [
        subprocess.Popen([sys.executable, "-c", MARKING, name], stderr=subprocess.PIPE, text=True)
        for name in ("ada", "bob")
    ]
    for process in processes:
        _, said = process.communicate(timeout=60)
        assert process.returncode == 0, said
    said_of = to_be_closed(Library()).marks()[SECOND]
    assert set(said_of.tags) == {f"{name}-{number}" for name in ("ada", "bob") for number in range(10)}
    assert sorted(note.text for note in said_of.notes) == ["ada"] * 10 + ["bob"] * 10


def test_who_writes_for_too_long_is_named(
    geminids: Run, home: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("geminids.storage.durable.database.PATIENCE", 0.05)
    with changing(data, asked=False):
        done = geminids("mark", "latest", "--tag", "x")
    assert done.code == 2
    assert "is writing" in done.err
    assert "Nothing was changed" in done.err


@pytest.mark.slow
@pytest.mark.parametrize("asked", [("list",), ("list", "--tag", "x"), ("mark",), ("forget", "--list")])
def test_a_damaged_file_is_mended_by_whoever_asks_and_hides_no_list(
    geminids: Run, home: Path, data: Path, asked: tuple[str, ...]
) -> None:
    geminids("mark", "latest", "--name", "The cart")
    (data / FILE_NAME).write_bytes(b"garbage")
    assert "Recovered: 0 links, 1 name" in geminids(*asked).err
    assert geminids("mark", "latest", "--tag", "x").code == 0
    listed = geminids("list")
    assert (listed.err, lines(listed.out)[0][6]) == ("", "The cart")


def test_a_user_without_a_home_is_told(geminids: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("geminids.core.config.data_folder", lambda *_: None)
    done = geminids("mark", "latest", "--tag", "x")
    assert done.code == 3
    assert "no home directory" in done.err
    assert geminids("list").code == 0


# -- showing -----------------------------------------------------------------


def test_the_marks_of_a_session_are_shown(geminids: Run, home: Path) -> None:
    unmarked = geminids("mark", "latest")
    assert (unmarked.code, unmarked.out) == (0, f"Write about carts\n{SECOND}\n")
    assert "`geminids mark latest --tag TAG`" in unmarked.err
    geminids("mark", "latest", "--name", "The cart", "--tag", "bug", "--note", "The fix is in 4e1c")
    shown = geminids("mark", "latest")
    assert shown.out == (f"The cart\n{SECOND}\n#bug\nnote 1  2026-06-15 12:00\n  The fix is in 4e1c\n")
    assert shown.err == ""


def test_programs_get_the_marks_of_a_session_as_data(geminids: Run, home: Path) -> None:
    changed = geminids("mark", "latest", "--tag", "bug", "--note", "x", "--json")
    document = check_printed(changed.out, "geminids/mark/1")
    assert document == {
        "schema": "geminids/mark/1",
        "id": SECOND,
        "title": "Write about carts",
        "is_here": True,
        "name": None,
        "tags": ["bug"],
        "notes": [{"id": 1, "at": "2026-06-15T12:00:00Z", "text": "x"}],
    }
    assert check_printed(geminids("mark", "latest", "--json").out, "geminids/mark/1") == document


def test_all_that_is_marked_is_listed(geminids: Run, home: Path) -> None:
    nothing = geminids("mark")
    assert (nothing.code, nothing.out) == (1, "")
    assert "No session is marked yet" in nothing.err
    geminids("mark", FIRST_ID, "--tag", "keep", "--note", "x")
    geminids("mark", SECOND_ID, "--tag", "keep", "--tag", "bug", "--name", "The cart")
    assert lines(geminids("mark").out) == [
        ["#keep", "2"],
        ["#bug", "1"],
        [SECOND, "here", "0", "#bug #keep", "The cart"],
        [FIRST, "here", "1", "#keep", "Fix the login redirect"],
    ]
    document = check_printed(geminids("mark", "--json").out, "geminids/marks/1")
    assert document["tags"] == {"keep": 2, "bug": 1}
    assert [session["name"] for session in document["sessions"]] == ["The cart", None]


@pytest.mark.usefixtures("without_copies")
def test_marks_outlive_the_files_of_a_session(geminids: Run, home: Path) -> None:
    geminids("mark", FIRST_ID, "--tag", "keep", "--name", "The login")
    for file in home.rglob("session-*.jsonl"):
        if FIRST_ID[:8] in file.name:
            file.unlink()
    found = geminids("mark")
    assert lines(found.out)[1] == [FIRST, "not here", "0", "#keep", "The login"]
    assert "1 marked session not here. Its files are gone or in another home" in found.err
    listed = geminids("list", "--tag", "keep")
    assert listed.code == 1
    assert "No session here is tagged #keep; `geminids mark` shows which are." in listed.err
    assert "The login\n" in geminids("mark", "1f0c").out
    assert geminids("mark", "1f0c", "--no-name").code == 0
    assert "too short" in geminids("mark", "1f", "--tag", "x").err
    geminids("mark", FIRST_ID, "--untag", "keep")
    assert geminids("mark").code == 1
    gone = geminids("mark", "1f0c", "--tag", "x")
    assert gone.code == 1
    assert "No session '1f0c'" in gone.err


# -- list and show -------------------------------------------------------------


def test_a_list_shows_the_name_for_the_title(geminids: Run, home: Path) -> None:
    geminids("mark", FIRST_ID, "--name", "The login", "--tag", "keep", "--note", "x")
    rows = lines(geminids("list").out)
    assert [len(row) for row in rows] == [7, 7]
    assert [row[6] for row in rows] == ["Write about carts", "The login"]
    document = check_printed(geminids("list", "--json").out, "geminids/list/1")
    second, first = document["sessions"]
    assert (first["title"], first["name"], first["tags"]) == ("Fix the login redirect", "The login", ["keep"])
    assert first["notes"][0]["text"] == "x"
    assert (second["name"], second["tags"], second["notes"]) == (None, [], [])
    by_line = geminids("list", "--jsonl").out.splitlines()
    assert [json.loads(line) for line in by_line] == document["sessions"]


def test_a_list_of_what_is_tagged(geminids: Run, home: Path) -> None:
    geminids("mark", FIRST_ID, "--tag", "keep", "--tag", "bug")
    geminids("mark", SECOND_ID, "--tag", "keep")

    def ids(*options: str) -> list[str]:
        return [line[0] for line in lines(geminids("list", *options).out)]

    assert ids("--tag", "keep") == [SECOND, FIRST]
    assert ids("--tag", "#KEEP", "--tag", "bug") == [FIRST]
    assert ids("--tag", "keep", "--project", "blog") == [SECOND]
    none = geminids("list", "--tag", "#nope")
    assert (none.code, none.out) == (1, "")
    assert "No session is tagged #nope. Available: #keep #bug." in none.err
    assert "one word" in geminids("list", "--tag", "two words").err
    assert "No match in 2 sessions" in geminids("list", "--tag", "bug", "--since", "1d").err
    more = geminids("list", "--tag", "keep", "-n", "1").err
    assert "`geminids list --limit 2 --tag keep` shows all" in more
    library = to_be_closed(Library())
    assert library.tags() == {"keep": 2, "bug": 1}


@pytest.mark.slow
def test_a_terminal_shows_tags_after_the_title(geminids: Run, home: Path) -> None:
    assert "tags" not in on_terminal("list").splitlines()[0]
    geminids("mark", FIRST_ID, "--name", "The login " * 20, "--tag", "keep", "--tag", "bug")
    heading, _, row = on_terminal("list", NO_COLOR="1").splitlines()[:3]
    assert heading.split() == ["#", "when", "project", "title"]
    assert "… #bug #k… " in row
    narrow = on_terminal("list", columns=40, NO_COLOR="1").splitlines()[2]
    assert "#bug #k…" in narrow
    drawn = on_terminal("mark", NO_COLOR="1")
    assert drawn.startswith("#bug 1  #keep 1\n\nid        name")
    assert "\n1f0c9a2b  The login The login" in drawn


def test_show_tells_name_tags_and_notes(geminids: Run, home: Path) -> None:
    geminids("mark", FIRST_ID, "--name", "The login", "--tag", "keep", "--note", "one\ntwo")
    head, _, _ = geminids("show", FIRST_ID).out.partition("---")
    assert head.startswith("The login\nFix the login redirect\n/home/ada/dev/shop")
    assert head.endswith(f"{FIRST}\n#keep\nnote 1  2026-06-15 12:00\n  one\n  two\n")
    document = check_printed(geminids("show", FIRST_ID, "--json").out, "geminids/session/1")
    assert (document["name"], document["tags"]) == ("The login", ["keep"])
    assert document["notes"] == [{"id": 1, "at": "2026-06-15T12:00:00Z", "text": "one\ntwo"}]


def test_the_overview_shows_names(geminids: Run, home: Path) -> None:
    geminids("mark", FIRST_ID, "--name", "The login")
    assert "The login" in geminids().out


# -- the library, shells and time ------------------------------------------------


def test_a_program_marks_through_the_library(home: Path) -> None:
    with Library() as library:
        marked = library.mark("2e2e", MarkChange(name="The cart", tags=["keep"]))
        assert (marked.id, marked.title, marked.is_here) == (SECOND, "Write about carts", True)
        assert library.mark("2e2e") == marked
        assert library.marks([FIRST, SECOND]) == {SECOND: Marks("The cart", ("keep",))}
        assert [session.id for session in library.marked().sessions] == [SECOND]


@pytest.mark.parametrize(
    ("line", "completed"),
    [
        ("geminids mark lat", "plain,latest"),
        ("geminids mark 1f0c", f"plain,{FIRST_ID[:8]}"),
        ("geminids mark latest --tag k", "plain,keep"),
        ("geminids mark latest --untag ", "plain,keep"),
        ("geminids list --tag K", "plain,keep"),
    ],
)
def test_shells_complete_ids_and_tags(
    geminids: Run, command: Command, home: Path, line: str, completed: str
) -> None:
    geminids("list")
    geminids("mark", "latest", "--tag", "keep")
    environment = os.environ | {
        "_GEMINIDS_COMPLETE": "bash_complete",
        "COMP_WORDS": line,
        "COMP_CWORD": str(line.count(" ")),
    }
    assert command(env=environment).stdout.decode().splitlines() == [completed]


@pytest.mark.slow
def test_a_list_reads_marks_without_loading_more(geminids: Run, home: Path) -> None:
    geminids("list")
    slow = {"msgspec", "pathlib", "rich", "geminids.core.model", "geminids.storage.durable.mark_changes"}
    assert not loaded_by("list", "--no-sync") & (
        slow | {"geminids.storage.durable.marks", "geminids.storage.durable.database"}
    )
    geminids("mark", "latest", "--tag", "keep")
    assert not loaded_by("list", "--no-sync") & slow


def test_words_of_a_name_suggest_it(geminids: Run, tmp_path: Path) -> None:
    where = ("--home", write_session(tmp_path).parents[4], "--data", tmp_path / "data")
    geminids("mark", "latest", "--name", "S3 ACL bug", *where)
    asked = ("acl", "ACL bug", "bug s3")
    for typed in asked:
        outcome = geminids("show", typed, *where)
        assert (outcome.code, outcome.out) == (1, "")
        assert (
            f"No session {typed!r}. Did you mean 'S3 ACL bug'? `geminids show 'S3 ACL bug' --home"
            in outcome.err
        )
    none = geminids("show", "acls", *where).err
    assert "No session 'acls'. " in none
    assert "To find messages: `geminids search acls`." in none


def test_a_name_without_quotes_is_one_name(geminids: Run) -> None:
    outcome = geminids("show", "S3", "ACL", "bug")
    assert outcome.code == 2
    assert "A name of several words is put in quotes: `geminids show 'S3 ACL bug'`." in outcome.err
    assert "quotes" not in geminids("show", "1", "2").err
