"""Tab: what shells are offered, that it stands on the line as meant, that nothing is run or written."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tests.conftest import Run
from tests.support.homes import FIRST_ID, write_session
from tests.support.shells import SHELLS, shell

Command = Callable[..., subprocess.CompletedProcess[bytes]]

HOSTILE = [
    "$(touch hit)",
    "a;touch hit",
    "`touch hit`",
    "a b",
    "x\ny",
    "-rf",
    "~root",
    "\x1b[2Jclear",
    "a\u202eb",
    "!!",
    "a,b",
    "a:b'c",
]
"""What files may call a session, a project, a model: a shell takes what is offered as it is."""
MOST_OVER_BARE_PYTHON = 15
"""How often Python could start in the time that Tab takes: 120 ms where that takes 8."""
HARMLESS = "3e816f13-d5d5-42f6-86cb-0321233ebf8f"


@pytest.fixture
def home(tmp_path: Path, geminids: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of two projects and three sessions, one of them marked, whose index is made."""
    home = tmp_path / "home"
    write_session(home, prompt="Fix the login, please: 100% of %F{red}users $(touch hit) `touch hit`\x1b[2J")
    write_session(home, HARMLESS, slug="shop-admin", day=2, prompt="Bake\tbread, rye\nand wheat")
    write_session(home, "7ab81d52-0000", slug="notes", day=3, prompt="Count notes")
    monkeypatch.setenv("GEMINIDS_HOMES", str(home))
    geminids("mark", HARMLESS, "--tag", "bread", "--name", "loaf")
    geminids("list")
    return home


def offered(command: Command, line: str, shell_name: str = "bash", **more: str) -> list[str]:
    """What a script is answered for a line with the cursor at its end."""
    asked = {"COMP_WORDS": line, "COMP_CWORD": "" if shell_name == "bash" else str(line.count(" "))}
    answer = command(env=os.environ | asked | {"_GEMINIDS_COMPLETE": f"{shell_name}_complete"} | more)
    assert (answer.returncode, answer.stderr) == (0, b"")
    return answer.stdout.decode().splitlines()


@pytest.mark.parametrize("shell_name", SHELLS)
def test_shells_learn_our_commands(geminids: Run, shell_name: str) -> None:
    assert "_GEMINIDS_COMPLETE" in geminids("completion", shell_name).out


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("geminids doc", ["plain,doctor"]),
        ("geminids list --home ", ["dir,"]),
        ("geminids doctor ", ["file,"]),
        ("geminids show lat", ["plain,latest"]),
        ("geminids show 1f0c", [f"plain,{FIRST_ID[:8]}"]),
        ("geminids show 1f0c9a2b-", [f"plain,{FIRST_ID}"]),
        ("geminids show gemini:1f", [f"plain,gemini:{FIRST_ID[:8]}"]),
        ("geminids list --columns ti", ["plain,title", "plain,time"]),
        ("geminids list --columns title,ti", ["plain,title,time"]),
        ("geminids list --columns=id,mo", ["plain,id,model"]),
        ("geminids show loa", ["plain,loaf"]),
        ("geminids show ./x", ["file,./x"]),
        ("geminids show gemini:7a", ["plain,gemini:7ab81d52"]),
        ("geminids list --project sh", ["plain,shop", "plain,shop-admin"]),
        ("geminids list --project=shop-", ["plain,shop-admin"]),
        ("geminids list --project ./", ["dir,./"]),
        ("geminids export --project NO", ["plain,notes"]),
        ("geminids watch --project no", ["plain,notes"]),
        ("geminids projects show shop", ["plain,shop", "plain,shop-admin"]),
        ("geminids list --tag br", ["plain,bread"]),
        ("geminids mark 1 --tag br", ["plain,bread"]),
        ("geminids search pro", ["plain,project:"]),
        ("geminids search cors project:shop-", ["plain,project:shop-admin"]),
        ("geminids search tag:", ["plain,tag:bread"]),
        ("geminids search name:l", ["plain,name:loaf"]),
        ("geminids stats model:", ["plain,model:gemini-3-pro"]),
        ("geminids stats --explain 1f", [f"plain,{FIRST_ID[:8]}"]),
        ("geminids search is:su", ["plain,is:superseded", "plain,is:subagent"]),
        ("geminids search since:y", ["plain,since:yesterday"]),
        ("geminids search nosuch:", [""]),
        ("geminids help doc", ["plain,doctor"]),
        ("geminids ls --project NO", ["plain,notes"]),
        ("geminids export -q agent:gem", ["plain,agent:gemini"]),
    ],
)
def test_what_can_be_typed_is_offered(home: Path, command: Command, line: str, words: list[str]) -> None:
    assert offered(command, line) == words


def test_without_a_word_the_sessions_of_the_last_list_are_offered(
    home: Path, geminids: Run, command: Command
) -> None:
    assert offered(command, "geminids show ")[1:] == [
        "plain,7ab81d52",
        f"plain,{HARMLESS[:8]}",
        f"plain,{FIRST_ID[:8]}",
    ]
    geminids("list", "--project", "notes")
    assert offered(command, "geminids show ") == ["plain,latest", "plain,7ab81d52"]


@pytest.mark.parametrize(
    "line",
    ["geminids nosuch ", "geminids version ", "geminids --help ", "geminids keep nosuch ", "geminids '"],
)
def test_a_line_that_means_nothing_gets_nothing(home: Path, command: Command, line: str) -> None:
    assert [word for word in offered(command, line) if not word.startswith("plain,")] == []


def test_scripts_that_earlier_releases_printed_are_answered_too(home: Path, command: Command) -> None:
    assert offered(command, "geminids list --project shop-", COMP_CWORD="3") == ["plain,shop-admin"]


def test_names_that_a_shell_would_take_for_more_are_not_offered(
    geminids: Run, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, name in enumerate(HOSTILE):
        path = write_session(tmp_path, f"{number:08}", slug=f"s{number}", project=f"/home/ada/{name}")
        written = path.read_text().replace(f'"sessionId": "{number:08}"', f'"sessionId": {json.dumps(name)}')
        path.write_text(written.replace('"gemini-3-pro"', json.dumps(name)))
    write_session(tmp_path)
    monkeypatch.setenv("GEMINIDS_HOMES", str(tmp_path))
    assert len(geminids("list").out.splitlines()) == len(HOSTILE) + 1
    assert offered(command, "geminids mark ") == ["plain,latest", f"plain,{FIRST_ID[:8]}"]
    # A folder with a line end in its name is known by its slug.
    assert offered(command, "geminids list --project ") == ["plain,s4", "plain,shop"]
    assert offered(command, "geminids search model:") == ["plain,model:-rf", "plain,model:gemini-3-pro"]
    assert offered(command, "geminids search project:") == [
        f"plain,project:{name}" for name in ("-rf", "s4", "shop")
    ]


@pytest.mark.parametrize("damage", [b"", b"no database at all" * 100])
def test_a_damaged_index_offers_nothing_and_stays_where_it_is(
    home: Path, machine: Path, command: Command, damage: bytes
) -> None:
    (index,) = (machine / ".local/share/geminids/index").glob("*.db")
    index.write_bytes(damage)
    assert offered(command, "geminids list --project ") == [""]
    assert index.read_bytes() == damage


def test_nothing_is_read_anew_or_written(home: Path, machine: Path, command: Command) -> None:
    data = machine / ".local/share/geminids"
    before = {
        path: (path.stat().st_mtime_ns, path.read_bytes()) for path in data.rglob("*") if path.is_file()
    }
    write_session(home, "99999999-new", slug="newest", day=9)
    for line in ("geminids show ", "geminids show 99", "geminids list --project ", "geminids search tag:"):
        assert "9999" not in "".join(offered(command, line))
    after = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in data.rglob("*") if path.is_file()}
    assert after == before


def test_nothing_is_made_where_nothing_is(machine: Path, command: Command) -> None:
    for line in ("geminids show ", "geminids list --project ", "geminids search tag:"):
        offered(command, line)
    assert not list(machine.rglob("geminids"))


@pytest.mark.slow
def test_tab_is_answered_before_anybody_waits(home: Path, command: Command) -> None:
    def seconds(run: Callable[[], object]) -> float:
        took = []
        for _ in range(7):
            began = time.perf_counter()
            run()
            took.append(time.perf_counter() - began)
        # Whatever else this machine does only adds to it.
        return min(took)

    bare = seconds(lambda: subprocess.run([sys.executable, "-c", "pass"], check=True))
    for line in ("geminids show ", "geminids show 1f", "geminids list --project ", "geminids search model:"):
        assert seconds(partial(offered, command, line)) < MOST_OVER_BARE_PYTHON * bare


@pytest.mark.parametrize("name", SHELLS)
def test_a_real_shell_completes_commands_sessions_and_filters(name: str, home: Path, tmp_path: Path) -> None:
    with shell(name, tmp_path) as sat_at:
        sat_at.completed("geminids doc", "geminids doctor")
        sat_at.completed("geminids show 3e", f"geminids show {HARMLESS[:8]}")
        sat_at.completed("geminids list --project shop-", "--project shop-admin")
        sat_at.completed("geminids list --project=shop-", "--project=shop-admin")
        sat_at.completed("geminids search tag:b", "search tag:bread")
        sat_at.completed("geminids show gemini:7", "show gemini:7ab81d52")
        # No blank stands before what a filter takes.
        sat_at.type("geminids search proj", "Tab", "x")
        sat_at.until("search project:x")


@pytest.mark.parametrize("name", ["zsh", "fish"])
def test_titles_stand_beside_sessions_and_steer_nothing(name: str, home: Path, tmp_path: Path) -> None:
    with shell(name, tmp_path) as sat_at:
        # What the user calls a session goes before its title.
        sat_at.completed(
            "geminids show ", FIRST_ID[:8], "login, please: 100% of %F{red}users", "loaf", tabs=2
        )
        sat_at.type("geminids show 1f0c", "Tab")
        sat_at.until(f"geminids show {FIRST_ID[:8]}")
        sat_at.type("Enter")
        sat_at.until("Fix the login")
    assert not (tmp_path / "hit").exists()


def test_a_bash_offers_ids_alone(home: Path, tmp_path: Path) -> None:
    with shell("bash", tmp_path) as sat_at:
        seen = sat_at.completed("geminids show ", FIRST_ID[:8], HARMLESS[:8], tabs=2)
    assert "login" not in seen
    assert not (tmp_path / "hit").exists()
