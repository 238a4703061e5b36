"""`geminids doctor`."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from geminids.reading.companions import CREDENTIALS, UNKNOWN
from tests.conftest import FIXTURES, Rights, Run
from tests.support.homes import write_session

HOMES = sorted((FIXTURES / "gemini").glob("*/home"))
FATES = ("used", "ignored", "problem")


def counted(tallies: dict[str, dict[str, int]], unit: str) -> int:
    return sum(tally[unit] for tally in tallies.values())


def written_records(path: Path) -> int | None:
    """How many records are in a session file: lines, or a header and messages; None if torn or none."""
    if "chats" not in path.parts:
        return None
    content = path.read_bytes()
    if path.suffix == ".jsonl":
        return sum(bool(line.strip()) for line in content.split(b"\n"))
    try:
        return 1 + len(json.loads(content)["messages"])
    except ValueError:
        return None


def check_account(report: dict[str, Any]) -> None:
    """Compare what the report says of each file with the file, and its sums with those of the files."""
    files = report["files"]
    for file in files:
        path = Path(file["path"])
        assert sum(counted(file[fate], "bytes") for fate in FATES) == file["size"] == path.stat().st_size
        if (written := written_records(path)) is not None:
            assert sum(counted(file[fate], "records") for fate in FATES) == written, path
    for unit in ("bytes", "records"):
        for fate in FATES:
            expected = sum(counted(file[fate], unit) for file in files)
            assert report[unit][fate] == expected == counted(report[fate], unit)
    assert report["bytes"]["total"] == sum(Path(file["path"]).stat().st_size for file in files)
    assert report["records"]["total"] == sum(
        counted(file[fate], "records") for file in files for fate in FATES
    )


@pytest.mark.parametrize("home", HOMES, ids=lambda home: home.parent.name)
def test_every_byte_and_record_of_every_fixture_is_accounted_for(geminids: Run, home: Path) -> None:
    report = json.loads(geminids("doctor", "--home", home, "--json").out)
    on_disk = {str(path) for path in home.glob(".gemini/tmp/*/**/*") if path.is_file()}
    assert {file["path"] for file in report["files"]} == on_disk
    assert UNKNOWN not in report["skipped"]
    check_account(report)


def test_a_damaged_line_is_named_by_place_never_by_content(geminids: Run, tmp_path: Path) -> None:
    path = write_session(tmp_path, prompt="the secret plan")
    with path.open("ab") as file:
        file.write(b'{"id":"x","type":"user","content":"another secret\n')
    outcome = geminids("doctor", "--home", tmp_path)
    assert outcome.code == 0
    assert f"{path.name}:4" in outcome.out
    assert "secret" not in outcome.out
    assert "secret" not in geminids("doctor", "--home", tmp_path, "--json").out


def test_names_of_projects_are_left_out_unless_asked_for(geminids: Run, tmp_path: Path) -> None:
    path = write_session(tmp_path, slug="client-x")
    path.write_bytes(path.read_bytes() + b"{\n")
    assert "client-x" not in geminids("doctor", "--home", tmp_path).out
    assert "client-x" in geminids("doctor", "--home", tmp_path, "--paths").out
    assert "client-x" in geminids("doctor", "--home", tmp_path, "--json").out, "programs need real paths"


def test_the_users_home_is_a_tilde(geminids: Run, machine: Path) -> None:
    write_session(machine)
    outcome = geminids("doctor")
    assert "~/.gemini" in outcome.out
    assert str(machine) not in outcome.out


def test_a_machine_without_sessions_is_not_given_the_sample(geminids: Run) -> None:
    report = json.loads(geminids("doctor", "--json").out)
    assert report["schema"] == "geminids/doctor/1"
    assert report["files"] == []
    assert [home["exists"] for home in report["homes"]] == [False] * len(report["homes"])


def test_only_the_files_given_are_reported(geminids: Run, tmp_path: Path) -> None:
    path = write_session(tmp_path)
    write_session(tmp_path, "22222222-b")
    path.write_bytes(path.read_bytes() + b"{\n")
    report = json.loads(geminids("doctor", path, "--json").out)
    assert [file["path"] for file in report["files"]] == [str(path)]
    assert [problem["line"] for problem in report["problems"]] == [4]
    assert report["homes"] == []
    assert "Places" not in geminids("doctor", path).out
    (tmp_path / "notes").write_text("hello")
    notes = tmp_path / "notes"
    assert f"{str(notes)!r} is not a session: it looks like plain text." in geminids("doctor", notes).err
    assert "there is no such file" in geminids("doctor", "~nobody-of-this-name/x").err


@pytest.mark.slow
def test_the_whole_corpus_is_accounted_for(geminids: Run, corpus: Path) -> None:
    homes = [path for home in sorted((corpus / "real").glob("*/*/home")) for path in ("--home", home)]
    report = json.loads(geminids("doctor", *homes, "--json").out)
    assert len(report["files"]) > 100
    check_account(report)


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_an_unreadable_place_makes_the_report_partial(
    geminids: Run, tmp_path: Path, without_privileges: Rights, options: list[str]
) -> None:
    closed = write_session(tmp_path).parent
    write_session(tmp_path, "22222222-b", slug="open")
    closed.chmod(0)
    with without_privileges():
        outcome = geminids("doctor", "--home", tmp_path, *options)
    closed.chmod(0o755)
    assert outcome.code == 3
    assert "Permission denied" in outcome.out + outcome.err


def test_the_rest_of_a_home_is_named_with_a_reason(geminids: Run, tmp_path: Path) -> None:
    write_session(tmp_path)
    home = tmp_path / ".gemini"
    for name in (
        "settings.json",
        "state.json",
        "installation_id",
        "oauth_creds.json",
        "my-api-key.txt",
        "odd",
    ):
        (home / name).write_text("x")
    for name in (
        "commands",
        "extensions/huge/node_modules",
        "history/shop/.git/objects",
        "tmp/bin",
        "antigravity-ide",
    ):
        (home / name).mkdir(parents=True)
    (home / "tmp" / "bin" / "rg").write_text("x" * 1000)
    skipped = json.loads(geminids("doctor", "--home", tmp_path, "--json").out)["skipped"]
    assert {reason: tally["files"] for reason, tally in skipped.items()} == {
        "settings of the CLI": 1,
        "state of the CLI": 2,
        CREDENTIALS: 2,
        UNKNOWN: 1,
        "what you taught the CLI": 2,
        "files of projects as they were, for /restore": 1,
        "programs that the CLI uses": 1,
        "of another product": 1,
    }


def test_the_report_does_not_tell_the_names_of_files_beside_sessions(geminids: Run, tmp_path: Path) -> None:
    project = write_session(tmp_path).parent.parent
    for name in (
        "plans/takeover-of-x.md",
        "checkpoint-takeover-of-x.json",
        "memory/takeover.md",
        "x/tasks/takeover",
    ):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text("takeover")
    for options in ([], ["--home", tmp_path]):
        assert "takeover" not in geminids("doctor", *options).out


def test_the_first_line_says_whether_anything_is_wrong(geminids: Run, tmp_path: Path) -> None:
    path = write_session(tmp_path / "home")
    assert geminids("doctor", "--home", tmp_path / "home").out.startswith("Everything was read.\n")
    path.write_text(path.read_text() + "{no json\n")
    damaged = geminids("doctor", "--home", tmp_path / "home").out.splitlines()[0]
    assert damaged == "1 file damaged or incomplete; everything readable in it is shown."


def test_what_an_agent_hides_of_a_damaged_session_is_said_first(geminids: Run, tmp_path: Path) -> None:
    path = write_session(tmp_path)
    header, prompt, *others = path.read_text().splitlines()
    half = prompt[: len(prompt) // 2]
    path.write_text("\n".join([header, half + others[0], *others[1:], ""]))
    outcome = geminids("doctor", "--home", tmp_path)
    home = shlex.quote(str(tmp_path))
    assert outcome.out.splitlines()[:3] == [
        "1 file damaged or incomplete; everything readable in it is shown.",
        "1 session is hidden from Gemini CLI.",
        f"See what can be repaired:  geminids rescue --home {home}",
    ]
    hidden = json.loads(geminids("doctor", "--home", tmp_path, "--json").out)["hidden"]
    assert hidden == {"sessions": 1, "partly": 0, "agents": ["gemini"]}
    assert json.loads(geminids("doctor", path, "--json").out)["hidden"] is None


def test_if_agents_show_everything_nothing_needs_to_be_done(geminids: Run, tmp_path: Path) -> None:
    path = write_session(tmp_path)
    path.write_text(path.read_text() + "{no json\n")
    assert geminids("doctor", "--home", tmp_path).out.splitlines()[1] == "Nothing needs to be done."
