"""`geminids tables`: what is written, what is said of it, and what is refused."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.conftest import Run
from tests.support.documents import check_printed
from tests.support.homes import write_session
from tests.support.kept_homes import FIRST, SECOND, contents, lose_everything, user_home
from tests.support.planted_secrets import planted
from tests.support.screens import check_screens
from tests.support.startup import loaded_by
from tests.support.tables import files, strings, table
from tests.support.terminal import on_terminal

SECRET = next(one for one in planted() if one.is_token and len(one.secrets) == 1).secrets[0]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return user_home(tmp_path, monkeypatch)


def test_tables_are_written_and_told_of(geminids: Run, home: Path, tmp_path: Path) -> None:
    before = contents(home)
    out = tmp_path / "out"
    first = geminids("tables", "--out", out, "--machine", "laptop")
    assert (first.code, first.out) == (0, "")
    assert f"{out}: 2 sessions, 4 messages, 2 requests." in first.err
    assert "Machine laptop: 1 part of 1 written; 0 things hidden." in first.err
    again = geminids("tables", "--out", out, "--machine", "laptop")
    assert again.code == 0
    assert "Machine laptop: nothing changed, nothing written." in again.err
    assert sorted(row["id"] for row in table(out, "sessions")) == [FIRST, SECOND]
    assert contents(home) == before


def test_what_was_written_is_a_document(geminids: Run, home: Path, tmp_path: Path) -> None:
    printed = geminids("tables", "--out", tmp_path / "out", "--machine", "m1", "--json")
    assert (printed.code, printed.err) == (0, "")
    document = check_printed(printed.out, "geminids/tables/1")
    assert document["rows"] == {"sessions": 2, "messages": 4, "requests": 2}
    assert (document["parts"], document["written"], document["machine"]) == (1, 1, "m1")
    assert document["redacted"].startswith("secrets hidden by ")
    raw = geminids("tables", "--out", tmp_path / "raw", "--raw", "--json")
    assert check_printed(raw.out, "geminids/tables/1")["redacted"] is None


@pytest.mark.slow
def test_a_machine_has_a_name_that_tells_nothing_and_stays(geminids: Run, home: Path, tmp_path: Path) -> None:
    geminids("tables", "--out", tmp_path / "out")
    geminids("tables", "--out", tmp_path / "other")
    (name,) = {row["machine"] for row in table(tmp_path / "out", "sessions")}
    assert len(name) == 12
    assert {row["machine"] for row in table(tmp_path / "other", "sessions")} == {name}


@pytest.mark.slow
def test_secrets_are_hidden_unless_they_are_to_stay(geminids: Run, home: Path, tmp_path: Path) -> None:
    write_session(home, prompt=f"Use {SECRET} for it", day=20)
    hidden = geminids("tables", "--out", tmp_path / "out")
    assert "; 1 thing hidden." in hidden.err
    assert SECRET not in "".join(strings(tmp_path / "out"))
    raw = geminids("tables", "--out", tmp_path / "out", "--raw")
    assert "; secrets are not hidden." in raw.err
    assert SECRET in "".join(strings(tmp_path / "out"))
    geminids("tables", "--out", tmp_path / "out")
    assert SECRET not in "".join(strings(tmp_path / "out")), "what was raw is written anew"


@pytest.mark.slow
def test_homes_are_hidden_if_that_is_wished(geminids: Run, home: Path, tmp_path: Path) -> None:
    geminids("tables", "--out", tmp_path / "out", "--hide", "home")
    assert str(home) not in "".join(strings(tmp_path / "out"))


def test_without_text_only_names_and_numbers_are_written(geminids: Run, home: Path, tmp_path: Path) -> None:
    assert geminids("tables", "--out", tmp_path / "out", "--without", "text").code == 0
    assert "redirect" not in "".join(strings(tmp_path / "out"))
    (first, _) = sorted(table(tmp_path / "out", "requests"), key=lambda row: str(row["session_id"]))
    assert (first["session_id"], first["total"], first["model"]) == (FIRST, 12, "gemini-3-pro")


@pytest.mark.slow
def test_what_is_forgotten_is_gone_after_the_next_run(geminids: Run, home: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    geminids("tables", "--out", out)
    assert "redirect" in "".join(strings(out))
    assert geminids("forget", FIRST, "--yes").code == 0
    assert geminids("tables", "--out", out).code == 0
    assert [row["id"] for row in table(out, "sessions")] == [SECOND]
    text = "".join(strings(out))
    assert FIRST.partition(":")[2] not in text
    assert "redirect" not in text
    assert {row["session_id"] for row in table(out, "messages")} == {SECOND}
    assert geminids("forget", SECOND, "--yes").code == 0
    gone = geminids("tables", "--out", out)
    assert gone.code == 1
    assert files(out) == {}
    assert not list(out.rglob("agent=*"))


@pytest.mark.slow
def test_sessions_whose_files_are_gone_stay(geminids: Run, home: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    geminids("tables", "--out", out)
    lose_everything(home)
    assert geminids("tables", "--out", out).code == 0
    rows = table(out, "sessions")
    assert sorted(row["id"] for row in rows) == [FIRST, SECOND]
    assert {row["kept"] for row in rows} == {True}


def test_where_there_is_no_session_nothing_is_written(geminids: Run, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    nothing = geminids("tables", "--out", tmp_path / "out", "--home", tmp_path / "empty")
    assert nothing.code == 1
    assert "No session found in " in nothing.err
    assert files(tmp_path / "out") == {}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ([], "Missing option '-o' / '--out'"),
        (["--out", ""], "it is empty"),
        (
            ["--out", "ftp://host/x"],
            "Cannot use 'ftp://host/x': this kind of address is not supported; give a folder, or",
        ),
        (["--out", "s3://"], "this kind of address is not supported"),
        (["--out", "out", "--without", "names"], "'names' is not 'text'"),
        (["--out", "out", "--raw", "--hide", "home"], "--hide and --raw cannot be combined."),
        (["--out", "out", "--machine", "my laptop"], "a machine is named with 1 to 64 letters"),
        (["--out", "az://container/x"], "set AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    geminids: Run, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    refused = geminids("tables", *line)
    assert refused.code == 2
    assert said in " ".join(refused.err.split())
    assert not (tmp_path / "out").exists()


def test_the_folder_of_an_agent_is_refused(geminids: Run, home: Path) -> None:
    before = contents(home)
    refused = geminids("tables", "--out", home / ".gemini" / "tables")
    assert refused.code == 2
    assert "is in the folder of an agent" in " ".join(refused.err.split())
    assert contents(home) == before


def test_a_folder_that_cannot_be_written_says_so(geminids: Run, home: Path, tmp_path: Path) -> None:
    (tmp_path / "out" / "sessions").mkdir(parents=True)
    (tmp_path / "out" / "sessions" / "agent=gemini").write_text("in the way")
    refused = geminids("tables", "--out", tmp_path / "out")
    assert refused.code == 3
    assert "Stopped at" in refused.err
    assert "run it again to go on" in " ".join(refused.err.split())
    assert "Traceback" not in refused.err


@pytest.mark.parametrize("package", ["pyarrow", "obstore"])
def test_what_is_missing_is_named(
    geminids: Run, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    for name in list(sys.modules):
        if name.startswith("geminids.scale"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setitem(sys.modules, f"{package}.exceptions", None)
    out = "s3://bucket/x" if package == "obstore" else tmp_path / "out"
    refused = geminids("tables", "--out", out)
    assert refused.code == 2
    said = " ".join(refused.err.split())
    assert f"Tables need '{package}" in said
    assert "adds it." in said


def test_help_loads_nothing_of_it() -> None:
    loaded = {name.partition(".")[0] for name in loaded_by("tables", "--help")}
    assert not loaded & {"pyarrow", "obstore", "msgspec"}


@pytest.mark.slow
def test_where_nothing_changed_little_is_loaded(home: Path, tmp_path: Path) -> None:
    line = ("tables", "--out", str(tmp_path / "out"), "--raw")
    assert "pyarrow" in loaded_by(*line)
    assert not loaded_by(*line) & {"pyarrow", "numpy", "obstore"}


def test_a_damaged_file_is_a_row_and_no_reason_to_stop(geminids: Run, home: Path, tmp_path: Path) -> None:
    (session,) = home.glob(".gemini/tmp/shop/chats/*.jsonl")
    session.write_bytes(session.read_bytes()[:-40] + b"\n{torn\n")
    done = geminids("tables", "--out", tmp_path / "out")
    assert done.code == 0
    problems = table(tmp_path / "out", "problems")
    assert {Path(row["file"]).name for row in problems} == {session.name}
    assert len(table(tmp_path / "out", "sessions")) == 2


@pytest.mark.slow
def test_machines_share_a_place(geminids: Run, home: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    geminids("tables", "--out", out, "--machine", "one")
    geminids("tables", "--out", out, "--machine", "two", "--data", tmp_path / "data2")
    assert sorted(row["machine"] for row in table(out, "sessions")) == ["one", "one", "two", "two"]


@pytest.mark.slow
def test_progress_is_shown_on_a_terminal(home: Path, tmp_path: Path) -> None:
    screen = on_terminal("tables", "--out", str(tmp_path / "out"))
    assert "2 sessions, 4 messages" in " ".join(screen.split())


@pytest.mark.slow
def test_the_screen_in_the_page_about_tables_is_real(home: Path) -> None:
    def shown(line: str) -> str:
        return on_terminal(*line.split()[1:]).replace("\r\n", "\n")

    assert check_screens("docs/tables.md", shown) == 1
    assert len(table(home / "sessions", "sessions")) == 2
