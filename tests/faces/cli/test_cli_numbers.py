"""What a number of a list means: on which terminal it was printed, and whether it is to be relied on."""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import DEVNULL, CompletedProcess

import pytest

from geminids.query.sessions.last_list import FOLDER, TOO_OLD
from tests.conftest import Run
from tests.support.homes import write_session
from tests.support.terminal import Terminal

Command = Callable[..., CompletedProcess[bytes]]
LOGIN, POST = "gemini:1f0c9a2b-0001", "gemini:2e2e2e2e-b"


@pytest.fixture
def home(tmp_path: Path, machine: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two sessions, of which the post is the newest."""
    write_session(tmp_path, "1f0c9a2b-0001", prompt="Fix the login redirect", slug="shop", day=1)
    write_session(tmp_path, "2e2e2e2e-b", prompt="Write a post", slug="blog", day=2)
    monkeypatch.setenv("GEMINIDS_HOMES", str(tmp_path))
    return tmp_path


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Terminal]:
    with Terminal(folder=tmp_path) as terminal:
        yield terminal


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Terminal]:
    with Terminal(folder=tmp_path) as terminal:
        yield terminal


def data_folder(machine: Path) -> Path:
    return machine / ".local" / "share" / "geminids"


def title_of(seen: str) -> str:
    return "post" if "Write a post" in seen else "login" if "Fix the login redirect" in seen else seen


def test_a_number_means_the_line_of_the_list_on_its_own_terminal(
    home: Path, here: Terminal, elsewhere: Terminal
) -> None:
    here.run("list", "--project", "shop")
    elsewhere.run("list", "--project", "blog")
    assert title_of(here.run("show", "1", "--no-pager")[1]) == "login"
    assert title_of(elsewhere.run("show", "1", "--no-pager")[1]) == "post"


def test_a_search_and_the_overview_give_numbers_too(home: Path, here: Terminal, elsewhere: Terminal) -> None:
    here.run("search", "login")
    elsewhere.run()
    assert title_of(here.run("show", "1", "--no-pager")[1]) == "login"
    assert title_of(elsewhere.run("show", "1", "--no-pager")[1]) == "post"


def test_a_list_in_a_pipe_changes_no_number_of_the_terminal(
    home: Path, here: Terminal, command: Command
) -> None:
    here.run("list", "--project", "shop")
    here.type("geminids() { " + f"{sys.executable} -m geminids" + ' "$@"; }\n')
    here.type("geminids list --project blog | cat; echo piped\n")
    here.until("piped")
    assert command("list", "--project", "blog").returncode == 0
    assert title_of(here.run("show", "1", "--no-pager")[1]) == "login"
    code, seen = here.run("mark", "1", "--tag", "bug")
    assert (code, LOGIN in seen) == (0, True)


def test_programs_have_a_list_of_their_own_and_change_nothing_by_it(
    home: Path, here: Terminal, command: Command
) -> None:
    assert command("list", "--project", "blog").returncode == 0
    here.run("list", "--project", "shop")
    assert b"Write a post" in command("show", "1").stdout
    refused = command("mark", "1", "--tag", "post", stdin=DEVNULL)
    assert refused.returncode == 2
    assert refused.stderr.decode() == (
        f"geminids: Nothing was changed: 1 stands for {POST}, but without a terminal, another process may "
        f"have made this list.\ngeminids: To use it anyway: `geminids mark {POST} --tag post`.\n"
    )


def test_a_terminal_without_a_list_reads_by_the_newest_one_and_changes_nothing_by_it(
    home: Path, here: Terminal, elsewhere: Terminal
) -> None:
    elsewhere.run("list", "--project", "shop")
    assert title_of(here.run("show", "1", "--no-pager")[1]) == "login"
    code, seen = here.run("forget", "1", "--yes")
    assert code == 2
    assert f"1 stands for {LOGIN}, but no list was printed on this terminal" in " ".join(seen.split())
    assert f"`geminids forget {LOGIN} --yes`" in seen
    assert LOGIN in here.run("list", "--json")[1]


@pytest.mark.parametrize(
    "changing",
    ["forget 1 --yes", "mark 1 --tag x", "restore 1 --yes", "rescue 1 --apply", "attest 1 -o one.acr"],
)
def test_a_number_is_refused_where_a_newer_list_has_another_session_there(
    home: Path, here: Terminal, elsewhere: Terminal, changing: str
) -> None:
    if changing.startswith("attest"):
        assert here.run("key", "new", "--issuer", "Ana Lopez")[0] == 0
    here.run("list", "--project", "shop")
    elsewhere.run("list")
    code, seen = here.run(*changing.split())
    assert code == 2
    assert "in a newer list on another terminal, 1 is a different session" in " ".join(seen.split())
    assert f"`geminids {changing.replace(' 1', ' ' + LOGIN, 1)}`" in seen
    # To read it the number is good enough, and a new list makes it good for all.
    assert title_of(here.run("show", "1", "--no-pager")[1]) == "login"
    here.run("list", "--project", "shop")
    assert "a newer list" not in here.run(*changing.split())[1]


def test_a_newer_list_with_the_same_session_there_is_no_reason_to_refuse(
    home: Path, here: Terminal, elsewhere: Terminal
) -> None:
    here.run("list")
    elsewhere.run("list", "--project", "blog")
    assert here.run("mark", "1", "--tag", "x")[0] == 0
    # Nobody can have taken the second line from a list of one.
    assert here.run("mark", "2", "--tag", "x")[0] == 0


def test_an_old_list_is_good_enough_to_read_and_not_to_change(
    geminids: Run, home: Path, here: Terminal, machine: Path
) -> None:
    here.run("list")
    (kept,) = (data_folder(machine) / FOLDER).iterdir()
    old = kept.stat().st_mtime - TOO_OLD - 60
    os.utime(kept, (old, old))
    assert title_of(here.run("show", "2", "--no-pager")[1]) == "login"
    code, seen = here.run("forget", "2", "--yes")
    assert code == 2
    assert f"2 stands for {LOGIN}, but the list is 12 hours old." in " ".join(seen.split())
    assert f"`geminids forget {LOGIN} --yes`" in seen
    assert "To see new numbers: `geminids list`." in seen
    assert here.run("mark", "2")[0] == 0
    assert here.run("restore", "2", "--dry-run")[0] == 1
    assert geminids("list").out.count("\n") == 2


def test_the_command_to_copy_works(geminids: Run, home: Path) -> None:
    refused = geminids("mark", "1", "--tag", "x", "--home", home)
    assert refused.code == 2
    said = refused.err.partition("To use it anyway: `geminids ")[2].partition("`")[0]
    assert said == f"mark {POST} --tag x --home {home}"
    assert geminids(*said.split()).code == 0


def test_a_terminal_that_is_given_away_again_has_no_list(home: Path, machine: Path) -> None:
    with Terminal() as first:
        first.run("list", "--project", "shop")
        assert len(list((data_folder(machine) / FOLDER).iterdir())) == 1
    with Terminal() as second:
        second.run("list", "--project", "blog")
    assert len(list((data_folder(machine) / FOLDER).iterdir())) == 2
