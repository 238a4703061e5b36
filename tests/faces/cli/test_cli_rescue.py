"""`geminids rescue`: what an agent cannot show is explained, and repaired in new files."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

import geminids as geminids_package
from tests.conftest import FIXTURES, Rights, Run
from tests.support.documents import check_printed
from tests.support.fake_agents import install, path_with
from tests.support.homes import write_session
from tests.support.kept_homes import FIRST, RELEASE, contents, lose_everything, user_home
from tests.support.terminal import on_terminal

BURIED = ("no-header", "two-sessions-one-file", "log-lines")
"""Homes in which Gemini CLI itself has buried all or some of a conversation."""
ALL_HIDDEN = "3 sessions are hidden from Gemini CLI, 1 of them partly"
MISTYPED = "slash-commands"
"""One in which a command was mistyped, which the CLI no longer shows."""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A recorded home in which sessions are hidden."""
    for case in BURIED:
        shutil.copytree(FIXTURES / "gemini" / case / "home", tmp_path / "home", dirs_exist_ok=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GEMINIDS_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("PATH", path_with(install(tmp_path / "agent", RELEASE)))
    return tmp_path / "home"


def test_each_is_explained_with_its_evidence(geminids: Run, home: Path) -> None:
    before = contents(home)
    outcome = geminids("rescue", "--verbose")
    assert outcome.code == 0
    found = check_printed(geminids("rescue", "--json").out, "geminids/rescue/1")["sessions"]
    assert found
    for one in found:
        assert one["session"]["title"] in outcome.out
        assert one["session"]["id"] in outcome.out
        assert one["obstacles"]
        for obstacle in one["obstacles"]:
            assert obstacle["sentence"] in outcome.out
            assert Path(obstacle["file"]).name in outcome.out
            assert Path(obstacle["file"]).exists()
    assert "--apply" in outcome.out
    assert contents(home) == before


def test_it_begins_with_what_it_comes_to_and_each_has_a_line(geminids: Run, home: Path) -> None:
    outcome = geminids("rescue")
    said = f"geminids: {ALL_HIDDEN}; `geminids rescue --apply` repairs them.\n"
    assert outcome.err.startswith(said)
    found = check_printed(geminids("rescue", "--json").out, "geminids/rescue/1")["sessions"]
    lines = [line.split("\t") for line in outcome.out.splitlines()]
    assert [line[0] for line in lines] == [one["session"]["id"] for one in found]
    assert [line[1] for line in lines] == ["lost", "lost", "partly"]
    assert {line[4] for line in lines} == {"can be repaired"}


@pytest.mark.slow
def test_on_a_terminal_many_are_counted_and_the_worst_are_shown(home: Path, tmp_path: Path) -> None:
    for number in range(25):
        folder = tmp_path / f"soup{number}"
        folder.mkdir()
        prompt = "味噌汁を作ってください"
        write_session(home, f"{number:08}-a", slug=folder.name, prompt=prompt, project=str(folder))
    shown = on_terminal("rescue", "--all", NO_COLOR="1", columns=100)
    first, second, *rest = shown.splitlines()
    assert f"{first} {second.strip()}" == (
        f"{ALL_HIDDEN}, and 25 more lack only a title or a mistyped command; "
        "`geminids rescue --all --apply` repairs them."
    )
    assert sum(line.endswith("new file") for line in rest) == 20
    assert "… and 8 more (--verbose)" in rest
    assert "See the details:  geminids rescue --all --verbose" in rest


def test_repaired_files_are_new_ones(geminids: Run, home: Path) -> None:
    before = contents(home)
    found = check_printed(geminids("rescue", "--json").out, "geminids/rescue/1")["sessions"]
    outcome = geminids("rescue", "--apply")
    assert outcome.code == 0
    after = contents(home)
    assert before.items() <= after.items()
    written = {str(home / name) for name in after.keys() - before.keys()}
    assert written == {one["target"] for one in found}
    for one in found:
        assert f"\n  {one['target'].replace(str(home), '~')}\n" in outcome.out
    assert "\n  Resume it:  geminids resume " in outcome.out
    assert "3 files written." in outcome.err
    assert geminids("rescue", "--apply").code == 1
    assert contents(home) == after


def test_one_can_be_chosen(geminids: Run, home: Path) -> None:
    first = check_printed(geminids("rescue", "--json").out, "geminids/rescue/1")["sessions"][0]
    session_id = first["session"]["id"]
    chosen = check_printed(geminids("rescue", session_id, "--json").out, "geminids/rescue/1")["sessions"]
    assert [one["session"]["id"] for one in chosen] == [session_id]
    done = check_printed(geminids("rescue", session_id, "--apply", "--json").out, "geminids/rescue/1")
    assert [one["written"] for one in done["sessions"]] == [first["target"]]
    assert Path(first["target"]).exists()


@pytest.mark.slow
def test_a_terminal_of_80_columns_is_enough(home: Path) -> None:
    shown = on_terminal("rescue", "--verbose", NO_COLOR="1", PAGER="cat")
    assert shown.startswith(f"{ALL_HIDDEN};\n  `geminids rescue --apply` repairs them.\n\n")
    prose = [line for line in shown.splitlines() if "/" not in line]
    assert max(map(len, prose)) <= 80
    assert "Repair all 3, in new files:  geminids rescue --apply\n" in shown


def test_a_mistyped_command_is_shown_on_request_and_repaired_once(geminids: Run, home: Path) -> None:
    shutil.copytree(FIXTURES / "gemini" / MISTYPED / "home", home, dirs_exist_ok=True)
    geminids("rescue", "--apply")
    assert check_printed(geminids("rescue", "--json").out, "geminids/rescue/1")["sessions"]
    shown = geminids("rescue", "--all", "--verbose").out
    assert "Gemini CLI: only a mistyped command is hidden (1 prompt)\n" in shown
    assert geminids("rescue", "--all", "--apply").code == 0
    after = contents(home)
    assert geminids("rescue", "--all", "--apply").code == 1
    assert contents(home) == after


def test_what_lacks_only_its_title_is_shown_on_request(geminids: Run, home: Path, tmp_path: Path) -> None:
    (tmp_path / "soup").mkdir()
    write_session(home, slug="soup", prompt="味噌汁を作ってください", project=str(tmp_path / "soup"))
    outcome = geminids("rescue")
    assert "味噌汁" not in outcome.out
    said = "1 more session only lacks a title or a mistyped command; `geminids rescue --all` shows it."
    assert said in outcome.err
    everything = geminids("rescue", "--all", "--verbose")
    assert "味噌汁" in everything.out
    assert "Gemini CLI: only its title is missing\n" in everything.out
    assert "more session" not in everything.err
    assert check_printed(geminids("rescue", "--json").out, "geminids/rescue/1")["left_out"] == 1


def test_if_there_is_nothing_worse_it_is_shown_at_once(
    geminids: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = user_home(tmp_path, monkeypatch)
    write_session(home, prompt="味噌汁を作ってください", project=str(tmp_path / "shop"))
    outcome = geminids("rescue")
    assert outcome.code == 0
    assert "No conversation is hidden; 1 session lacks only a title or a mistyped command; `" in outcome.err
    (line,) = outcome.out.splitlines()
    assert line.split("\t")[1:] == ["title", "0", "0", "can be repaired", "味噌汁を作ってください"]
    assert geminids("rescue", "--verbose").out.startswith("味噌汁を作ってください\n")


def test_a_file_that_cannot_be_written_is_named(
    geminids: Run, home: Path, without_privileges: Rights
) -> None:
    geminids("sync")
    found = check_printed(geminids("rescue", "--json").out, "geminids/rescue/1")["sessions"]
    for path in (home.parent, *home.parent.rglob("*")):
        path.chmod(path.stat().st_mode | 0o777)
    closed = {Path(one["target"]).parent for one in found}
    for folder in closed:
        folder.chmod(0o555)
    with without_privileges():
        outcome = geminids("rescue", "--apply")
    assert outcome.code == 3
    assert all(one["target"] in outcome.err for one in found)


def test_an_agent_that_is_not_checked_is_named_with_what_its_list_leaves_out(
    geminids: Run, home: Path
) -> None:
    outcome = geminids("rescue", "--agent", "codex")
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith("geminids: Not checked: Codex CLI. `codex resume` lists neither")
    assert "`codex resume --all --include-non-interactive`" in outcome.err
    assert "`codex unarchive <id>`" in outcome.err
    assert "Nothing to rescue" not in outcome.err


def test_agents_that_are_here_are_checked_or_named(
    geminids: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = user_home(tmp_path, monkeypatch)
    shutil.copytree(FIXTURES / "claude" / "plain" / "home", home, dirs_exist_ok=True)
    first, second = geminids("rescue").err.splitlines()
    assert first == "geminids: Nothing to rescue: Gemini CLI can show every session that is on the disk."
    assert second.startswith("geminids: Not checked: Claude Code. `claude --resume` lists neither")
    assert second.endswith("`claude --resume <id>`.")


def test_without_any_agent_nothing_is_checked(geminids: Run, tmp_path: Path) -> None:
    """A home directory in which no agent was ever used."""
    outcome = geminids("rescue", "--home", str(tmp_path))
    assert outcome.code == 1
    assert outcome.err == "geminids: Nothing to rescue: no agent has a home here.\n"


def test_where_all_can_be_shown_nothing_is_to_rescue(
    geminids: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = user_home(tmp_path, monkeypatch)
    before = contents(home)
    outcome = geminids("rescue", "--apply")
    assert (outcome.code, outcome.out) == (1, "")
    assert (
        outcome.err == "geminids: Nothing to rescue: Gemini CLI can show every session that is on the disk.\n"
    )
    said = f"geminids: Nothing to rescue was found in {FIRST}.\n"
    assert geminids("rescue", "1f0c").err == said
    assert check_printed(geminids("rescue", "--json").out, "geminids/rescue/1")["sessions"] == []
    assert contents(home) == before


def test_of_a_session_whose_file_is_gone_the_way_back_is_said(
    geminids: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = user_home(tmp_path, monkeypatch)
    geminids("sync")
    lose_everything(home)
    outcome = geminids("rescue", "1f0c")
    assert (outcome.code, outcome.out) == (1, "")
    said = f"The file of {FIRST} is gone, but a copy is kept: `geminids restore 1f0c9a2b` restores it."
    assert outcome.err == f"geminids: {said}\n"


def test_the_sample_can_be_looked_at_and_is_not_written_to(geminids: Run, home: Path) -> None:
    sample = Path(geminids_package.__file__).parent / "sample"
    before = contents(sample)
    outcome = geminids("rescue", "--sample", "--apply")
    assert (outcome.code, outcome.out) == (2, "")
    assert "Cannot repair the sample sessions: they are part of geminids." in outcome.err
    shown = geminids("rescue", "--sample", "--verbose").out
    assert "Read one first:" in shown
    assert "--apply" not in shown
    assert contents(sample) == before


def test_what_to_type_means_one_session_among_all(
    geminids: Run, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Two sessions whose ids begin alike, of which one can be shown.
    shown = geminids("rescue", "11111111-2222-4333-8444-555555555555", "--apply").out
    (name,) = re.findall(r"geminids resume (\S+)", shown)
    assert name == "11111111-2222-4333-8444-5"
    assert geminids("show", name).code == 0
    assert geminids("show", name[:8]).code == 2


def test_two_spellings_of_one_session_are_one(geminids: Run, home: Path) -> None:
    outcome = geminids("rescue", "f889d9af", "gemini:f889d9af-772a", "--apply")
    assert (outcome.code, "1 file written." in outcome.err) == (0, True)


def test_one_that_needs_nothing_among_others_is_said(geminids: Run, home: Path) -> None:
    outcome = geminids("rescue", "f889d9af", "3eac4435", "--apply")
    assert outcome.code == 3
    assert "Nothing to rescue was found in gemini:3eac4435" in outcome.err
    assert "1 file written." in outcome.err


def test_of_one_session_one_file_is_spoken_of(geminids: Run, home: Path) -> None:
    outcome = geminids("rescue", "f889d9af")
    shown = outcome.out
    said = (
        "geminids: 1 session is partly hidden from Gemini CLI; "
        "`geminids rescue f889d9af --apply` repairs it.\n"
    )
    assert outcome.err == said
    assert "Repair it, in a new file:  geminids rescue f889d9af --apply\n" in shown


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["nothing-like-it"], 1, "No session 'nothing-like-it'"),
        (["--agent", "nobody"], 2, "there is no agent 'nobody'"),
        ([" "], 2, "it is empty"),
    ],
)
def test_what_cannot_be_meant_is_said(
    geminids: Run, home: Path, arguments: list[str], code: int, said: str
) -> None:
    outcome = geminids("rescue", *arguments)
    assert (outcome.code, outcome.out) == (code, "")
    assert said in outcome.err
