"""`geminids redact`: what would be hidden, drawn for people and for programs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from geminids.faces.documents.exports import RedactDocument
from geminids.sharing.redact.pseudonyms import KEY_FILE
from tests.conftest import Run
from tests.support.homes import FIRST_ID, tool_call, write_session
from tests.support.terminal import on_terminal

TOKEN = "gh" + "p_" + "a8Fk2Lq9Zx7Wv3Tn5Rb1Yc6Md4Pe0Gh8Js2K"
SECOND_ID = "2e2e2e2e-0000-4000-8000-000000000002"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a session that holds a token, and one that holds nothing of the kind."""
    home = tmp_path / "home"
    call = tool_call(args={"command": f"curl -H 'Authorization: Bearer {TOKEN}' x"})
    write_session(home, day=1, prompt=f"Use {TOKEN}\x1b[31m in /home/ada/dev", calls=[call])
    write_session(home, SECOND_ID, slug="blog", day=9, prompt="Write about carts")
    monkeypatch.setenv("GEMINIDS_HOMES", str(home))
    monkeypatch.setenv("GEMINIDS_DATA", str(tmp_path / "data"))
    return home


@pytest.mark.slow
def test_in_a_pipe_each_place_is_a_line(geminids: Run, home: Path, tmp_path: Path) -> None:
    done = geminids("redact", FIRST_ID)
    assert done.code == 0
    assert done.err == ""
    lines = [line.split("\t") for line in done.out.splitlines()]
    replacement = lines[0][4]
    assert replacement.startswith("[REDACTED:github-token:")
    session = f"gemini:{FIRST_ID}"
    assert lines == [
        ["github-token", "", "title", "ghp_…", replacement, "3", session],
        ["github-token", "1", "text", "ghp_…", replacement, "3", session],
        ["github-token", "2", "run_shell_command argument command", "ghp_…", replacement, "3", session],
    ]
    assert TOKEN not in done.out
    assert geminids("redact", FIRST_ID).out == done.out
    assert (tmp_path / "data" / KEY_FILE).stat().st_size == 32


@pytest.mark.slow
def test_on_a_terminal_it_is_a_table(home: Path) -> None:
    shown = on_terminal("redact", FIRST_ID, columns=120)
    assert "hidden as" in shown
    assert "title, 2 more" in shown
    assert "github token" in shown
    assert TOKEN not in shown


def test_the_digits_are_never_cut_and_the_export_without_secrets_is_offered(home: Path) -> None:
    shown = on_terminal("redact", FIRST_ID, "--hide", "home", NO_COLOR="1")
    table, _, said = shown.partition("geminids: To share")
    first, *rows = table.splitlines()
    assert first.split()[-2:] == ["hidden", "as"]
    assert len(rows) == 4
    assert all(re.search(r"[0-9a-f]{6}\]?$", row.rstrip()) for row in rows)
    assert re.search(r"\[REDACTED:github-token:[0-9a-f]{6}\]", table)
    assert max(map(len, table.splitlines())) <= 80
    offered = f"it without these: `geminids export {FIRST_ID} --redact --hide home -o page.html`."
    assert " ".join(said.split()) == offered
    assert "hidden as" not in on_terminal("redact", FIRST_ID, NO_COLOR="1", columns=50)


def test_nothing_to_hide_is_said_and_is_exit_code_1(geminids: Run, home: Path) -> None:
    done = geminids("redact", SECOND_ID)
    assert (done.code, done.out) == (1, "")
    assert done.err == "geminids: Nothing would be hidden.\n"


def test_people_are_hidden_where_that_is_wished(geminids: Run, home: Path) -> None:
    rules = [line.split("\t")[0] for line in geminids("redact", SECOND_ID, "--hide", "home").out.splitlines()]
    assert "home" in rules
    done = geminids("redact", FIRST_ID, "--hide", "all")
    assert {line.split("\t")[0] for line in done.out.splitlines()} >= {"github-token", "home", "project-hash"}
    assert "\tada" not in done.out
    done = geminids("redact", FIRST_ID, "--hide", "phones")
    assert done.code == 2
    assert "'phones' is not one of" in done.err


def test_a_home_that_lies_elsewhere_is_hidden_in_exports(geminids: Run, tmp_path: Path) -> None:
    home = tmp_path / "backup" / "home" / "adalove"
    write_session(home, slug="adalove", project="/home/adalove", prompt=f"copied to {home}/new")
    done = geminids("--home", home, "export", "latest", "-f", "json", "--hide", "all")
    assert done.code == 0
    assert "adalove" not in done.out
    assert str(tmp_path) not in done.out
    assert "/.gemini/tmp/" in done.out


@pytest.mark.slow
def test_names_of_files_hold_no_token_that_was_parted(geminids: Run, home: Path, tmp_path: Path) -> None:
    write_session(home, SECOND_ID, slug="blog", day=10, prompt=f"{TOKEN[:9]}\u200b{TOKEN[9:]} is it")
    for format_name in ("text", "markdown", "html", "csv"):
        folder = tmp_path / format_name
        assert geminids("export", "--all", "-f", format_name, "-o", f"{folder}/", "--redact").code == 0
        for file in folder.rglob("*"):
            assert TOKEN[9:].lower() not in file.name
            assert TOKEN[9:] not in file.read_text(encoding="utf-8")


def test_a_file_may_be_given(geminids: Run, home: Path) -> None:
    (file,) = home.glob(f".gemini/tmp/shop/chats/*{FIRST_ID[:8]}*")
    assert "github-token" in geminids("redact", file).out
    assert geminids("redact", home / "nothing.json").code == 2


@pytest.mark.slow
def test_as_json_it_is_a_document_without_any_secret(geminids: Run, home: Path) -> None:
    done = geminids("redact", FIRST_ID, "--json")
    document = msgspec.json.decode(done.out, type=RedactDocument)
    assert json.loads(done.out)["schema"] == "geminids/redact/1"
    assert document.hidden_by.startswith("secrets hidden by kingfisher")
    assert not document.is_reduced
    (session,) = document.sessions
    assert session.id == f"gemini:{FIRST_ID}"
    assert session.findings[0].count == 3
    assert session.title is not None
    assert session.findings[0].replacement in session.title
    assert TOKEN not in done.out
    empty = msgspec.json.decode(geminids("redact", SECOND_ID, "--json").out, type=RedactDocument)
    assert empty.sessions[0].findings == []


def test_a_damaged_key_stops_it(geminids: Run, home: Path, tmp_path: Path) -> None:
    geminids("redact", FIRST_ID)
    (tmp_path / "data" / KEY_FILE).write_bytes(b"short")
    done = geminids("redact", FIRST_ID)
    assert (done.code, done.out) == (4, "")
    assert "has 5 bytes instead of 32" in done.err


def test_the_reduced_set_says_so(geminids: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the extra were not installed."""
    import importlib.util

    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name, *more: None if name == "kingfisher_sdk" else found(name, *more),
    )
    done = geminids("redact", FIRST_ID)
    assert done.code == 0
    assert "small set of rules" in done.err
    assert "github-token" in done.out


def test_help_loads_neither_the_engine_nor_the_rules() -> None:
    code = (
        "from geminids.faces.cli.main import run; import sys; run(['redact', '--help']); print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert "geminids redact latest" in done.stdout
    assert not {"geminids.sharing.redact", "kingfisher", "msgspec"} & set(done.stdout.split())
