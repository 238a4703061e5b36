"""`geminids keep`: what is kept, what will be deleted, and how kept sessions show everywhere."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.conftest import FIXTURES, Run
from tests.support.documents import check_printed
from tests.support.homes import FIRST_ID, write_session
from tests.support.kept_homes import FIRST, SECOND, SECOND_ID, contents, lose_everything, user_home
from tests.support.screens import check_screens
from tests.support.terminal import on_terminal

Command = Callable[..., subprocess.CompletedProcess[bytes]]
ZSTD = bytes.fromhex("28b52ffd")
"""How packed content begins."""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return user_home(tmp_path, monkeypatch)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


def listed(geminids: Run, *words: str) -> list[list[str]]:
    return [line.split("\t") for line in geminids("list", *words).out.splitlines()]


def pack(data: Path) -> Path:
    (found,) = (data / "kept" / "packs").iterdir()
    return found


def flip(file: Path, place: int) -> None:
    """Turn one bit of a file around."""
    content = bytearray(file.read_bytes())
    content[place] ^= 1
    file.write_bytes(content)


# -- status ------------------------------------------------------------------


def test_it_says_where_the_copies_are_and_of_what(geminids: Run, home: Path, data: Path) -> None:
    outcome = geminids("keep")
    assert outcome.code == 0
    assert f"  copies    {data}/kept\n" in outcome.err
    assert "  keeping   on\n" in outcome.err
    assert re.search(r"  files     \d, [\d.]+ k?B?.* on disk", outcome.err)
    assert re.search(r"  from      ~/.gemini\S*  gemini  \d files, ", outcome.err)
    assert "gone" not in outcome.err
    assert geminids("keep", "status") == outcome


@pytest.mark.slow
def test_on_a_terminal_all_of_it_stands_together(home: Path, data: Path) -> None:
    shown = on_terminal("keep", NO_COLOR="1")
    verdict, facts = shown.split("\n\n")[:2]
    assert " ".join(verdict.split()) == (
        "2 sessions expire within 7 days, the first at the next start of Gemini CLI; copies of all are kept."
    )
    assert facts.startswith(f"copies    {data}/kept\nkeeping   on\nfiles     ")
    assert "Copies:" not in shown


def test_homes_of_several_agents_stand_in_columns(geminids: Run, home: Path) -> None:
    shutil.copytree(FIXTURES / "claude" / "subagent" / "home", home, dirs_exist_ok=True)
    lines = geminids("keep").err.splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("  from "))
    places = {re.search(r"\d+ files", line).start() for line in lines[first : first + 2]}  # type: ignore[union-attr]
    assert len(places) == 1
    assert {line.split()[-5] for line in lines[first : first + 2]} == {"claude", "gemini"}


def test_on_an_empty_machine_it_is_said_why_nothing_is_kept(
    geminids: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GEMINIDS_DATA", str(tmp_path / "data"))
    assert "  files     none: there is no session here\n" in geminids("keep").err


def test_programs_get_all_of_it(geminids: Run, home: Path, data: Path) -> None:
    found = check_printed(geminids("keep", "--json").out, "geminids/keep/1")
    assert found["folder"] == str(data / "kept")
    assert (found["is_on"], found["left_out"], found["settings"]) == (True, [], str(data / "settings.toml"))
    assert (found["sessions"], found["sessions_gone"]) == (2, 0)
    assert found["files"] >= 2
    assert [one["is_there"] for one in found["homes"]] == [True]
    assert {one["session_id"] for one in found["forecast"]["endangered"]} == {FIRST, SECOND}
    assert json.loads(geminids("keep", "status", "--json").out) == found


def test_what_is_left_out_is_said_with_the_settings(geminids: Run, home: Path, data: Path) -> None:
    data.mkdir()
    settings = data / "settings.toml"
    settings.write_text('[keep]\nclaude = false\n"~/secret" = false\n')
    assert f"keeping   on, except claude, ~/secret ({settings})\n" in geminids("keep").err
    settings.write_text("keep = false\n")
    assert f"keeping   off ({settings})\n" in geminids("keep").err


def test_nothing_is_kept_where_nothing_is_to_be(
    geminids: Run, home: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEMINIDS_KEEP", "0")
    assert "Copies of" not in geminids("sync").out
    assert "keeping   off (GEMINIDS_KEEP)\n" in geminids("keep").err
    assert not (data / "kept" / "packs").exists()
    lose_everything(home)
    assert geminids("list", "--json").code == 1


def test_of_the_sample_nothing_is_kept(geminids: Run, data: Path, home: Path) -> None:
    outcome = geminids("keep", "--sample")
    assert "  copies    none: this is the sample\n" in outcome.err
    assert "keeping" not in outcome.err
    assert not (data / "kept" / "packs").exists()


def test_sync_says_how_much_was_kept(geminids: Run, home: Path) -> None:
    outcome = geminids("sync")
    assert re.search(r"Copies of \d files were kept\.\n$", outcome.out)
    assert "Copies" not in geminids("sync").out
    assert check_printed(geminids("sync", "--json").out, "geminids/sync/1")["kept"] == 0


# -- the forecast ------------------------------------------------------------


def test_what_will_be_deleted_stands_in_a_table(home: Path) -> None:
    shown = on_terminal("keep", NO_COLOR="1")
    assert re.search(r"^deleted +id +agent +project +title +why +copy$", shown, re.MULTILINE)
    assert re.search(
        r"^next start +1f0c9a2b +gemini +shop +Fix the login redirect +age +kept$", shown, re.MULTILINE
    )
    assert re.search(
        r"^in 4 days, 19 Jun +2e2e2e2e +gemini +blog +Write about carts +age +kept$", shown, re.MULTILINE
    )
    assert "Gemini CLI: " in shown
    assert shown.index("Fix the login") < shown.index("Write about")
    assert "age: not used for as long as the settings allow\n" in shown
    table = shown[shown.index("deleted ") : shown.index("Gemini CLI: ")]
    assert max(map(len, table.splitlines())) <= 80


@pytest.mark.slow
def test_of_many_the_soonest_are_shown(home: Path, tmp_path: Path, geminids: Run) -> None:
    for number in range(12):
        write_session(home, f"{number:08}-a", project=str(tmp_path / "shop"), prompt=f"Number {number}")
    shown = on_terminal("keep", NO_COLOR="1")
    assert "… and 4 more sessions (--all)\n" in shown
    assert shown.count("\nnext start") == 10
    everything = on_terminal("keep", "--all", NO_COLOR="1", PAGER="cat")
    assert "more (--all)" not in everything
    assert everything.count("Number") == 12
    assert everything.count("Gemini CLI: ") == 1, "the remedy is said once"


def test_in_a_pipe_each_is_a_line(geminids: Run, home: Path) -> None:
    outcome = geminids("keep")
    lines = [line.split("\t") for line in outcome.out.splitlines()]
    assert [line[:4] for line in lines] == [
        ["2026-05-31T10:00", "kept", "gemini", FIRST],
        ["2026-06-19T10:00", "kept", "gemini", SECOND],
    ]
    assert {len(line) for line in lines} == {6}
    assert "geminids: Gemini CLI: " in outcome.err


def test_a_session_of_several_files_is_one_session(geminids: Run, home: Path) -> None:
    chats = home / ".gemini" / "tmp" / "shop" / "chats"
    path = next(chats.iterdir())
    shutil.copy2(path, path.with_name("session-2026-05-01T10-09-1f0c9a2b.jsonl"))
    outcome = geminids("keep")
    assert len(outcome.out.splitlines()) == 3
    assert outcome.err.startswith("geminids: 2 sessions expire within 7 days, ")
    shown = on_terminal("keep", NO_COLOR="1")
    assert shown.count("1f0c9a2b") == 1


def test_what_goes_later_is_not_pressing(home: Path, geminids: Run) -> None:
    shutil.rmtree(home / ".gemini" / "tmp")
    write_session(home, SECOND.partition(":")[2], slug="blog", day=30, project=str(home.parent / "blog"))
    said = "geminids: No session expires within 7 days; 1 expires later; a copy is kept.\n"
    assert geminids("keep").err.startswith(said)


def test_in_a_pipe_there_are_all_lines(geminids: Run, home: Path, tmp_path: Path) -> None:
    for number in range(12):
        write_session(home, f"{number:08}-a", project=str(tmp_path / "shop"), prompt=f"Number {number}")
    assert len(geminids("keep").out.splitlines()) == 14
    assert geminids("keep", "--all").out == geminids("keep").out


@pytest.mark.slow
def test_what_goes_since_it_cannot_be_read_leads_to_its_repair(geminids: Run, home: Path) -> None:
    assert "geminids rescue" not in geminids("keep").err
    # Another process of the agent deleted the file while it was empty: its first line is missing.
    path = next((home / ".gemini" / "tmp" / "shop" / "chats").iterdir())
    path.write_text(path.read_text().partition("\n")[2])
    causes = {one["cause"] for one in json.loads(geminids("keep", "--json").out)["forecast"]["endangered"]}
    assert causes & {"unreadable", "nothing-to-resume"}
    assert "Files that an agent cannot show may be repairable: `geminids rescue`." in geminids("keep").err
    assert "Files that an agent cannot show may be repairable:  geminids rescue\n" in on_terminal(
        "keep", NO_COLOR="1"
    )


def test_the_overview_tells_what_will_be_deleted_soon(geminids: Run, home: Path) -> None:
    assert (
        "2 sessions will be deleted by Gemini CLI within 7 days; copies are kept (geminids keep).\n"
        in geminids().out
    )
    found = check_printed(geminids("--json").out, "geminids/overview/1")
    assert (found["endangered"], found["unkept"], found["deleting"], found["kept"]) == (2, 0, ["gemini"], 0)
    assert len(found["forecast"]["endangered"]) == 2
    assert found["next_step"] == "read-newest"


def test_what_is_not_kept_is_pressing(geminids: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINIDS_KEEP", "0")
    outcome = geminids()
    assert "2 sessions will be deleted by Gemini CLI within 7 days; no copy is kept.\n" in outcome.out
    assert "See what will be deleted:  geminids keep\n" in outcome.out
    assert "\tnot kept\tgemini\t" in geminids("keep").out


def test_it_is_said_why_an_agent_deletes_nothing(geminids: Run, home: Path) -> None:
    shutil.copytree(FIXTURES / "codex" / "fork" / "home", home, dirs_exist_ok=True)
    said = geminids("keep").err
    assert "geminids: Codex CLI deletes no sessions by itself.\n" in said
    assert "Gemini CLI deletes" not in said
    shutil.rmtree(home / ".gemini" / "tmp")
    assert (
        "geminids: Gemini CLI deletes sessions that were not used for 30 days; none was found that it will "
        "delete.\n"
    ) in geminids("keep").err
    settings = home / ".gemini" / "settings.json"
    settings.write_text('{"general": {"sessionRetention": {"enabled": false}}}')
    said = geminids("keep").err
    assert f"geminids: Gemini CLI deletes no sessions, as ~/{settings.relative_to(home)} says.\n" in said
    settings.write_text('{"general": {"sessionRetention": {"enabled": true, "maxAge": "", "maxCount": 9}}}')
    assert "Gemini CLI keeps 9 sessions of a project; no project has more." in geminids("keep").err
    settings.write_text("{")
    said = geminids("keep").err
    assert said.count("Gemini CLI deletes nothing, since it does not start while it cannot read") == 1


@pytest.mark.slow
def test_where_nothing_is_deleted_nothing_is_told(home: Path) -> None:
    (home / ".gemini" / "settings.json").write_text('{"general": {"sessionRetention": {"enabled": false}}}')
    assert "No agent will delete any" in on_terminal("keep", NO_COLOR="1")
    assert "will be deleted" not in on_terminal(NO_COLOR="1")


# -- sessions whose files are gone -------------------------------------------


def test_a_home_of_which_everything_was_deleted_is_shown_all_the_same(geminids: Run, home: Path) -> None:
    questions = (
        ("search", "carts"),
        ("show", SECOND, "--all"),
        ("export", SECOND, "-f", "text"),
        ("stats", "--by", "session", "--csv"),
    )
    lines = listed(geminids)
    before = [geminids(*words).out for words in questions]
    lose_everything(home)
    assert listed(geminids) == [[*line, "deleted"] for line in lines]
    found, shown, exported, stats = (geminids(*words).out for words in questions)
    assert found == before[0].replace("\n", "\tdeleted\n")
    said = "its file is gone; read from a copy"
    assert shown == before[1].replace(SECOND + "\n", f"{SECOND}\n{said}\n")
    assert exported == before[2]
    assert stats == before[3]


def test_kept_sessions_are_marked_and_can_be_listed_alone(geminids: Run, home: Path, tmp_path: Path) -> None:
    geminids("sync")
    shutil.rmtree(home / ".gemini" / "tmp" / "shop")
    assert [line[0] for line in listed(geminids, "--kept")] == [FIRST]
    found = check_printed(geminids("list", "--json").out, "geminids/list/1")["sessions"]
    assert {session["id"]: session["kept"] for session in found} == {FIRST: True, SECOND: False}
    hits = check_printed(geminids("search", "is:kept", "--json").out, "geminids/search/1")["hits"]
    assert {(hit["session"]["id"], hit["session"]["kept"]) for hit in hits} == {(FIRST, True)}
    document = check_printed(geminids("show", FIRST, "--json").out, "geminids/session/1")
    assert (document["kept"], [file["kept"] for file in document["files"]]) == (True, [True])
    assert (
        "1 session read from copies, since the files are gone (geminids list --deleted).\n" in geminids().out
    )
    outcome = geminids("keep")
    assert "gone      1 session read from copies:  geminids list --deleted\n" in outcome.err


def test_what_is_gone_is_counted_as_the_list_counts_it(
    geminids: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(FIXTURES / "claude" / "subagent" / "home", tmp_path / "home")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GEMINIDS_DATA", str(tmp_path / "data"))
    geminids("sync")
    lose_everything(tmp_path / "home")
    led = len(listed(geminids, "--kept"))
    subagents = len(listed(geminids, "--kept", "--kind", "subagent"))
    told = re.search(r"gone      (\d+) sessions?, (\d+) subagents? read", geminids("keep").err)
    assert told is not None
    assert (led, subagents) == (int(told[1]), int(told[2]))


def test_a_search_by_filters_alone_does_not_offer_to_read_everything(geminids: Run, home: Path) -> None:
    output = "word " * 200_000 + "needle " + "word " * 200_000
    write_session(home, "88888888-a", project=str(home.parent / "shop"), answer=output)
    assert "--scan" in geminids("search", "nothinglikeit").err
    outcome = geminids("search", "is:kept")
    assert (outcome.code, outcome.err) == (1, "geminids: Nothing found in 3 sessions.\n")


def test_a_list_of_kept_sessions_obeys_its_other_options(geminids: Run, home: Path) -> None:
    geminids("sync")
    assert geminids("list", "--kept").code == 1
    assert "All files still exist: 2 sessions." in geminids("list", "--kept").err
    lose_everything(home)
    assert [line[0] for line in listed(geminids, "--kept", "--project", "shop")] == [FIRST]
    outcome = geminids("list", "--kept", "-n", "1")
    assert outcome.out.startswith(SECOND)
    assert "Showing 1 of 2 sessions; `geminids list --limit 2 --deleted` shows all." in outcome.err


@pytest.mark.slow
def test_on_a_terminal_the_word_takes_no_column(home: Path) -> None:
    on_terminal("sync")
    lose_everything(home)
    shown = on_terminal("list", NO_COLOR="1")
    assert re.search(r"^1 .*Write about carts .*✓ deleted$", shown, re.MULTILINE)
    assert max(map(len, shown.splitlines())) <= 80
    found = on_terminal("search", "carts", NO_COLOR="1")
    assert re.search(r"^ 1  20 May 10:05  blog  deleted  Write about carts$", found, re.MULTILINE)


def test_the_home_is_said_to_be_gone(geminids: Run, home: Path) -> None:
    geminids("sync")
    lose_everything(home)
    assert re.search(r"gemini  \d files, .*, gone\n", geminids("keep").err)
    assert [one["is_there"] for one in json.loads(geminids("keep", "--json").out)["homes"]] == [False]


# -- versions ----------------------------------------------------------------


@pytest.fixture
def rewritten(geminids: Run, home: Path, tmp_path: Path) -> Path:
    """A home with a session that was written anew after a copy was kept."""
    geminids("sync")
    write_session(home, day=1, project=str(tmp_path / "shop"), prompt="Something else", answer="Anew.")
    geminids("sync")
    return home


def test_earlier_states_can_be_listed_and_read(geminids: Run, rewritten: Path) -> None:
    lines = [line.split("\t") for line in geminids("keep", "versions", FIRST).out.splitlines()]
    assert [line[0] for line in lines] == ["1", "2"]
    assert {Path(line[5]).name for line in lines} == {f"session-2026-05-01T10-00-{FIRST_ID[:8]}.jsonl"}
    assert "Something else" in geminids("show", FIRST).out
    earlier = geminids("show", FIRST, "--version", "1").out
    assert "Fix the login redirect" in earlier
    assert "Something else" not in earlier
    assert geminids("show", FIRST, "--version", "2").out == geminids("show", FIRST).out
    document = check_printed(geminids("show", FIRST, "--version", "1", "--json").out, "geminids/session/1")
    assert document["title"] == "Fix the login redirect"


@pytest.mark.slow
def test_versions_are_drawn_with_the_command_that_reads_them(rewritten: Path) -> None:
    shown = on_terminal("keep", "versions", "1f0c", NO_COLOR="1")
    assert f"\n~/.gemini/tmp/shop/chats/session-2026-05-01T10-00-{FIRST_ID[:8]}.jsonl\n" in shown
    assert re.search(r"^1  2.* bytes\s*$", shown, re.MULTILINE)
    assert re.search(r"^2  2.* newest$", shown, re.MULTILINE)
    assert "Read an earlier version:  geminids show 1f0c --version 1\n" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_programs_get_the_versions(geminids: Run, rewritten: Path) -> None:
    found = check_printed(geminids("keep", "versions", FIRST, "--json").out, "geminids/versions/1")
    assert found["session"]["id"] == FIRST
    assert [one["is_newest"] for one in found["versions"]] == [False, True]


def test_a_session_that_only_grew_has_one_version(geminids: Run, home: Path) -> None:
    geminids("sync")
    path = next((home / ".gemini" / "tmp" / "shop" / "chats").iterdir())
    with path.open("a") as file:
        file.write(json.dumps({"$set": {"lastUpdated": "2026-05-01T11:00:00.000Z"}}) + "\n")
    geminids("sync")
    assert len(geminids("keep", "versions", FIRST).out.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["show", FIRST, "--version", "7"], 1, "has no version 7"),
        (["show", FIRST, "--version", "0"], 2, "is not in the range"),
        (["show", FIRST, "--version", "1", "--agent-view"], 2, "cannot be combined"),
        (["show", "-", "--version", "1"], 2, "--version needs an ID"),
        (["show", "./some/file.jsonl", "--version", "1"], 2, "--version needs an ID"),
        (["keep", "versions"], 2, "Which session?"),
        (["keep", "versions", "nothing-like-it"], 1, "No session 'nothing-like-it'"),
        (["keep", "versions", " "], 2, "it is empty"),
        (["keep", "nonsense"], 2, "No command 'nonsense' in `keep`. Available: "),
        (["keep", "verfy"], 2, "No command 'verfy' in `keep`. Did you mean `verify`? "),
        (["projects", "shwo"], 2, "No command 'shwo' in `projects`. Did you mean `show`?"),
        (["keep", "verify", "2"], 2, "Got unexpected extra argument (2). See `geminids keep verify --help`"),
        (["keep", "export", "-"], 2, "copies are written to a file, not to stdout"),
        (["keep", "--all", "verify"], 2, "--all goes with `geminids keep` alone"),
        (["keep", "export"], 2, "Missing argument"),
        (["keep", "import"], 2, "Missing argument"),
        (["keep", "import", "/nowhere/at/all.tar"], 3, "Cannot use '/nowhere/at/all.tar'"),
        (["keep", "export", "/nowhere/at/all.tar"], 2, "there is no folder '/nowhere/at'"),
        (["keep", "export", "/"], 2, "it is a folder"),
    ],
)
def test_what_cannot_be_meant_is_said(
    geminids: Run, rewritten: Path, arguments: list[str], code: int, said: str
) -> None:
    outcome = geminids(*arguments)
    assert (outcome.code, outcome.out) == (code, "")
    assert said in outcome.err
    assert outcome.err.count("\n") == 1


def test_of_a_kept_session_the_earlier_states_are_hinted_at(geminids: Run, rewritten: Path) -> None:
    assert "versions of its files" not in geminids("show", FIRST).err
    lose_everything(rewritten)
    assert "2 versions of its files are kept: `geminids keep versions 1f0c`." in geminids("show", "1f0c").err


# -- verifying ---------------------------------------------------------------


def test_sound_copies_are_said_to_be_sound(geminids: Run, home: Path) -> None:
    geminids("sync")
    outcome = geminids("keep", "verify")
    assert outcome.code == 0
    assert re.fullmatch(
        r"\d copies, [\d.]+ k?B?(bytes)? of distinct content: all are intact\.\n", outcome.out
    )
    found = check_printed(geminids("keep", "verify", "--json").out, "geminids/verified/1")
    assert (found["sound"], found["damaged"]) == (True, [])


def test_a_damaged_copy_is_healed_from_its_file(geminids: Run, home: Path, data: Path) -> None:
    geminids("sync")
    flip(pack(data), pack(data).read_bytes().index(ZSTD) + 40)
    outcome = geminids("keep", "verify")
    assert outcome.code == 0
    assert ": repaired from the original file.\n" in outcome.out
    assert outcome.out.endswith(": 1 repaired; all others are intact.\n")
    assert "all are intact" in geminids("keep", "verify").out


def test_what_cannot_be_healed_is_named(geminids: Run, home: Path, data: Path) -> None:
    geminids("sync")
    lose_everything(home)
    size = pack(data).stat().st_size
    for place in range(size // 4, size, 97):
        flip(pack(data), place)
    outcome = geminids("keep", "verify")
    assert outcome.code == 4
    assert "lost, since the original file is gone" in outcome.out
    told = re.findall(r"^  .*(?:\n  .*)*", outcome.out, re.MULTILINE)
    assert told
    assert all(len(re.findall(r"[Pp]ack \d", line)) <= 1 for one in told for line in one.split("\n"))
    assert "~/.gemini/tmp/" in outcome.out
    found = check_printed(geminids("keep", "verify", "--json").out, "geminids/verified/1")
    assert found["sound"] is False
    assert not all(copy["healed"] for copy in found["damaged"])


def test_without_copies_there_is_nothing_to_verify(
    geminids: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEMINIDS_KEEP", "0")
    for words in (("verify",), ("versions", FIRST), ("export", "x.tar")):
        outcome = geminids("keep", *words)
        assert (outcome.code, outcome.out) == (1, "")
        assert "No cop" in outcome.err


# -- moving ------------------------------------------------------------------


def test_copies_move_to_another_machine(
    geminids: Run, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "all.tar"
    outcome = geminids("keep", "export", file)
    assert (outcome.code, outcome.out) == (0, "")
    assert re.search(r"all.tar: \d copies, ", outcome.err)
    monkeypatch.setenv("HOME", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GEMINIDS_DATA", str(tmp_path / "elsewhere" / "data"))
    (tmp_path / "elsewhere").mkdir()
    lose_everything(home)
    outcome = geminids("keep", "import", file)
    assert (outcome.code, outcome.out) == (0, "")
    assert re.search(r"all.tar: \d copies imported:\n  \S+/home/.gemini\S* of gemini\n", outcome.err)
    assert [line[0] for line in listed(geminids)] == [SECOND, FIRST]
    assert "imported" in geminids("keep").err
    assert "Fix the login redirect" in geminids("show", FIRST).out
    assert "0 copies imported, " in geminids("keep", "import", file).err


def test_what_is_imported_beside_the_chosen_home_can_be_seen(
    geminids: Run, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, chosen = tmp_path / "all.tar", tmp_path / "chosen"
    chosen.mkdir()
    geminids("keep", "export", file)
    monkeypatch.setenv("HOME", str(tmp_path / "elsewhere"))
    lose_everything(home)
    where = ("--data", tmp_path / "other")
    told = geminids("keep", "import", file, "--home", chosen, *where)
    assert "copies imported:" in told.err
    command = re.search(r"`--home` leaves these sessions out: `geminids (.*)` shows them", told.err)
    assert command
    assert geminids("list", "--home", chosen, *where).out == ""
    assert FIRST in geminids(*command[1].split()).out
    assert "leaves these" not in geminids("keep", "import", file, *where).err
    assert "leaves these" not in geminids("keep", "import", file, "--home", home, *where).err


def test_programs_hear_what_was_moved(geminids: Run, home: Path, tmp_path: Path) -> None:
    file = tmp_path / "one.tar"
    done = check_printed(geminids("keep", "export", file, FIRST, "--json").out, "geminids/kept-export/1")
    assert done["versions"] >= 1
    everything = check_printed(
        geminids("keep", "export", file, "--force", "--json").out, "geminids/kept-export/1"
    )
    assert everything["versions"] > done["versions"]
    taken = check_printed(geminids("keep", "import", file, "--json").out, "geminids/kept-import/1")
    assert (taken["versions"], taken["known"]) == (0, everything["versions"])


def test_a_file_that_is_there_is_not_replaced(geminids: Run, home: Path, tmp_path: Path) -> None:
    file = tmp_path / "all.tar"
    file.write_text("mine")
    outcome = geminids("keep", "export", file)
    assert outcome.code == 2
    assert "--force replaces it" in outcome.err
    assert file.read_text() == "mine"
    assert geminids("keep", "export", file, "--force").code == 0
    assert file.stat().st_mode & 0o077 == 0


def test_what_is_no_export_is_refused(geminids: Run, home: Path, tmp_path: Path) -> None:
    file = tmp_path / "all.tar"
    geminids("keep", "export", file)
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    before = json.loads(geminids("keep", "--json").out)["versions"]
    outcome = geminids("keep", "import", file)
    assert outcome.code in (1, 2)
    assert str(file) in outcome.err
    assert json.loads(geminids("keep", "--json").out)["versions"] == before


# -- real processes ----------------------------------------------------------


@pytest.mark.slow
def test_a_reader_that_goes_away_is_no_error(home: Path, command: Command) -> None:
    command("sync")
    line = f"{sys.executable} -m geminids keep --all | head -1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stdout.count(b"\n")) == (0, 1)
    assert b"Cannot" not in done.stderr


@pytest.mark.slow
def test_sync_lose_restore_in_processes_of_their_own(home: Path, command: Command) -> None:
    before = contents(home)
    assert b"Copies of" in command("sync").stdout
    lose_everything(home)
    assert command("list", "--kept").stdout.count(b"\tdeleted\n") == 2
    done = command("restore", FIRST, "--to", home / "back", "--yes")
    assert (done.returncode, b"written below" in done.stderr) == (0, True)
    assert set(contents(home / "back").values()) <= set(before.values())
    assert command("forget", FIRST, "--yes").returncode == 0
    assert command("keep", "verify").returncode == 0
    assert command("show", FIRST).returncode == 1


def test_nothing_of_the_agents_is_touched(geminids: Run, home: Path, tmp_path: Path) -> None:
    before = contents(home)
    for words in (("keep",), ("versions", FIRST), ("verify",), ("export", str(tmp_path / "x.tar"))):
        geminids(*(words if words == ("keep",) else ("keep", *words)))
    assert contents(home) == before


@pytest.mark.slow
@pytest.mark.parametrize("case", ["claude/subagent", "codex/subagents", "gemini/subagents-nested-jsonl"])
def test_recorded_homes_are_shown_as_before_when_they_are_gone(
    geminids: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    shutil.copytree(FIXTURES / case / "home", tmp_path / "home")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GEMINIDS_DATA", str(tmp_path / "data"))
    lines = listed(geminids, "--kind", "all")
    shown = [geminids("show", line[0], "--all").out for line in lines]
    lose_everything(tmp_path / "home")
    assert listed(geminids, "--kind", "all") == [[*line, "deleted"] for line in lines]
    kept = re.compile(r"^its file is gone; .*\n", re.MULTILINE)
    assert [kept.sub("", geminids("show", line[0], "--all").out) for line in lines] == shown


# -- the page about keeping --------------------------------------------------

NO_MACHINE = "/home/ada/machine"
"""As long as the names of folders that are made for a while in /tmp, so that lines break where they did."""


@pytest.fixture
def machine_of_the_page(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with TemporaryDirectory(dir="/tmp", prefix="ada-") as folder:
        assert len(folder) == len(NO_MACHINE)
        yield user_home(Path(folder), monkeypatch)


def shown_on(home: Path, line: str) -> str:
    """What a line shows on a terminal, without what depends on the machine and on the moment."""
    program, *words = shlex.split(line.replace("~", str(home)))
    if program != "geminids":
        subprocess.run([program, *words], check=True, timeout=60)
        return ""
    seen = on_terminal(*words, NO_COLOR="1", PAGER="cat").replace(str(home.parent), NO_MACHINE)
    told = re.sub(rf"{datetime.now(UTC):%Y-%m-%d} \d\d:\d\d", "2026-06-15 12:00", seen)
    told = re.sub(r"on the disk [\d.]+ kB", "on the disk 40.0 kB", told)
    told = re.sub(r"-(?!1f0c9a2b)[0-9a-f]{8}(?=\.jsonl)", "-5d41402a", told)
    return "".join(f"{line.rstrip()}\n" for line in told.strip("\n").splitlines())


@pytest.mark.slow
def test_the_screens_in_the_page_about_keeping_are_real(
    geminids: Run, machine_of_the_page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = machine_of_the_page
    blog = home.parent / "blog"
    write_session(home, SECOND_ID, slug="blog", day=20, prompt="Write about sales", project=str(blog))
    geminids("sync")
    write_session(home, SECOND_ID, slug="blog", day=20, prompt="Write about carts", project=str(blog))
    geminids("sync")

    assert check_screens("docs/keeping.md", lambda line: shown_on(home, line)) == 6
