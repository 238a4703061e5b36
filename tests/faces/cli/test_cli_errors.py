"""Wrong usage, broken pipes, full disks: one clear line and the right exit code, never a traceback."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from geminids.core.errors import LineGoneError, NotInstalledError
from tests.conftest import Run
from tests.support.homes import write_session

Command = Callable[..., subprocess.CompletedProcess[bytes]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["lst"], "No command 'lst'. Did you mean `list`?"),
        (["xyzzy"], "To find it: `geminids search xyzzy`."),
        (["bread"], "To find it: `geminids search bread`."),
        (["where", "do we", "count", "--sample"], "To find them: `geminids search where 'do we' count`."),
        (["1f0c9a2b"], "To read a session: `geminids show 1f0c9a2b`."),
        (["3"], "To read session 3 of the last list: `geminids show 3`."),
        (["list", "--lmit", "3"], "Did you mean '--limit'?"),
        (["list", "--sin", "7d"], "No such option '--sin'. Did you mean '--since'? See `geminids list"),
        (["list", "--limit", "0"], "0 is not in the range"),
        (["list", "--kind", "other"], "'other' is not one of"),
        (["list", "--home", ""], "Invalid value for '--home': it is empty."),
        (["list", "--data", ""], "Invalid value for '--data': it is empty."),
        (["list", "--since", ""], "Invalid value for '--since': it is empty."),
        (["list", "--project", " "], "Invalid value for '--project': it is empty."),
        (
            ["show"],
            "Which session? Give a number from `geminids list`, or use `geminids show latest` for the",
        ),
        (["resume"], "`geminids resume latest` for the newest."),
        (["verify", "--key"], "requires an argument"),
        (["completion", "tcsh"], "'tcsh' is not one of"),
    ],
)
def test_wrong_usage_is_answered_in_one_line(geminids: Run, arguments: list[str], message: str) -> None:
    outcome = geminids(*arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert message in outcome.err
    assert outcome.err.startswith("geminids: ")
    assert len(outcome.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (["help"], ["--help"]),
        (["help", "list"], ["list", "--help"]),
        (["version"], ["--version"]),
        (["ls", "--sample"], ["list", "--sample"]),
        (["--sample", "ls"], ["--sample", "list"]),
        (["find", "cache", "--sample"], ["search", "cache", "--sample"]),
        (["view", "latest", "--sample"], ["show", "latest", "--sample"]),
        (["--list-sessions", "--sample"], ["list", "--sample"]),
    ],
)
def test_what_commands_are_called_elsewhere_is_understood(
    geminids: Run, typed: list[str], meant: list[str]
) -> None:
    assert geminids(*typed) == geminids(*meant)


def test_a_file_given_as_a_command_is_understood(geminids: Run, tmp_path: Path) -> None:
    path = write_session(tmp_path)
    assert f"`geminids show {path}`" in geminids(path).err


@pytest.mark.parametrize("command", [[], ["list"], ["show"], ["doctor"], ["completion"]])
def test_every_command_has_help_with_examples(geminids: Run, command: list[str]) -> None:
    for option in ("--help", "-h"):
        outcome = geminids(*command, option)
        assert outcome.code == 0
        assert f"geminids {' '.join(command)}".strip() in outcome.out.split("Options:")[0].split("\n", 2)[2]
        assert max(map(len, outcome.out.splitlines())) <= 80


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["list", "--json"], ["show", "latest"], ["list"], ["doctor"], []])
def test_a_reader_that_goes_away_is_no_error(arguments: list[str], tmp_path: Path) -> None:
    for number in range(5):
        write_session(tmp_path, f"{number:08}-a", answer="long " * 20_000)
    read, write = os.pipe()
    os.close(read)
    line = [sys.executable, "-m", "geminids", *arguments, "--home", str(tmp_path)]
    done = subprocess.run(line, check=False, stdout=write, stderr=subprocess.PIPE, timeout=60)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
@pytest.mark.parametrize(
    "arguments",
    [
        ["list", "--json", "--sample"],
        ["list", "--sample"],
        ["show", "latest", "--sample"],
        ["doctor", "--sample"],
        ["--sample"],
        ["--version"],
    ],
)
def test_a_full_disk_is_told_in_one_line(command: Command, arguments: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = command(*arguments, stdout=full, stderr=subprocess.PIPE, capture_output=False)
    assert done.returncode == 3
    lines = done.stderr.decode().splitlines()
    assert lines[-1].startswith("geminids: Cannot write the output: No space left on device.")
    assert not any("Traceback" in line for line in lines)


@pytest.mark.slow
def test_ctrl_c_is_answered_with_130(tmp_path: Path) -> None:
    # A pipe that nobody writes to holds the command while we interrupt it.
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    line = [sys.executable, "-c", HANGS_AT_OPEN, str(pipe)]
    child = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(1)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=30)
    assert (child.returncode, out, err) == (130, b"", b"")


def test_ctrl_c_while_modules_are_loaded_is_answered_with_130() -> None:
    for module, command in (("click", "doctor"), ("sqlite3", "list")):
        line = [sys.executable, "-c", INTERRUPTED_AT_LOADING, command, module]
        done = subprocess.run(line, check=False, capture_output=True, timeout=30)
        assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


INTERRUPTED_AT_LOADING = """
import sys
from geminids.__main__ import main
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == wanted:
            raise KeyboardInterrupt
wanted = sys.argv.pop()
sys.meta_path.insert(0, Interrupting())
sys.exit(main())
"""


HANGS_AT_OPEN = """
import sys
from geminids.faces.cli import main, options
options.Choices.open_library = lambda *_, **__: open(sys.argv[1])
sys.exit(main.run(["list"]))
"""


def test_output_in_a_poor_encoding_does_not_fail(command: Command, tmp_path: Path) -> None:
    write_session(tmp_path, prompt="购物车 🛒")
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = command("show", "latest", "--home", tmp_path, env=environment)
    assert done.returncode == 0
    assert b"??? ?" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["list", "--json"], ["list", "--jsonl"], ["show", "latest", "--json"]])
def test_json_is_utf8_whatever_the_terminal_can_show(
    command: Command, tmp_path: Path, arguments: list[str]
) -> None:
    write_session(tmp_path, prompt="购物车 🛒")
    done = command(*arguments, "--home", tmp_path, env=os.environ | {"PYTHONIOENCODING": "ascii"})
    assert "购物车 🛒".encode() in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["list", "--sample"], 0, "numbers of this list (this user has no home directory)"),
        (["show", "1", "--sample"], 0, ""),
        (["doctor", "--sample"], 0, "data directory: none"),
        (["list", "--json"], 1, "No session found"),
        ([], 0, "sample sessions that come with geminids"),
    ],
)
def test_a_user_without_a_home_is_served_too(arguments: list[str], code: int, told: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in {"HOME", "XDG_DATA_HOME"}}
    line = [sys.executable, "-c", OF_NOBODY, *arguments]
    done = subprocess.run(line, check=False, capture_output=True, text=True, timeout=30, env=environment)
    assert done.returncode == code, done.stderr
    assert told in done.stdout + done.stderr


OF_NOBODY = """
import pwd, sys
def nobody(uid):
    raise KeyError(uid)
pwd.getpwuid = nobody
from geminids.faces.cli.main import run
sys.exit(run(sys.argv[1:]))
"""


def test_a_path_that_is_no_utf8_does_not_fail(geminids: Run, tmp_path: Path) -> None:
    home = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    path = write_session(home)
    for arguments in (["list", "--json"], ["list"], ["doctor", "--paths"], ["doctor", "--json"], []):
        outcome = geminids(*arguments, "--home", home)
        assert outcome.code == 0, outcome.err
    assert geminids("show", path).code == 0
    assert geminids("show", path, "--json").code == 0


@pytest.mark.slow
def test_closed_streams_do_not_fail(tmp_path: Path) -> None:
    write_session(tmp_path)
    for closing in (">&-", "2>&-", ">&- 2>&-"):
        line = f'exec "{sys.executable}" -m geminids list --home "{tmp_path}" {closing}'
        assert (
            subprocess.run(["sh", "-c", line], check=False, capture_output=True, timeout=30).returncode == 0
        )


@pytest.mark.parametrize(
    "wanted", ["a" * 5000, "~nobody-of-this-name/x", "a\x00b", "\udcff", "./" + "a" * 300, "--", ""]
)
def test_odd_ids_and_paths_do_not_fail(geminids: Run, tmp_path: Path, wanted: str) -> None:
    write_session(tmp_path)
    outcome = geminids("show", "--home", tmp_path, "--", wanted)
    assert outcome.code in {1, 2, 3}
    assert outcome.err.startswith("geminids: ")
    listed = geminids("list", "--home", tmp_path, "--project", wanted)
    assert listed.code in ({0, 1} if wanted else {2})


def test_a_file_without_permission_is_named(
    geminids: Run, tmp_path: Path, without_privileges: Callable[[], AbstractContextManager[None]]
) -> None:
    path = write_session(tmp_path)
    geminids("show", path)  # loads all code while it can be read
    path.chmod(0)
    with without_privileges():
        outcome = geminids("show", path)
    assert (outcome.code, outcome.out) == (2, "")
    assert "Permission denied" in outcome.err


def test_messages_leave_out_what_is_not_known() -> None:
    assert str(LineGoneError(2, None)).startswith("The session of line 2 is gone. ")
    assert str(LineGoneError(2, "/x/a.jsonl")).startswith("The session of line 2 is gone from /x/a.jsonl. ")
    assert "not installed" in str(NotInstalledError())


EMPTY = [
    [],
    ["list"],
    ["list", "--kind", "lost"],
    ["list", "--deleted"],
    ["list", "--tag", "x"],
    ["projects"],
]


@pytest.mark.parametrize("arguments", [*EMPTY, ["stats"], ["search", "x"], ["export", "--all"]], ids=" ".join)
def test_where_there_is_no_session_the_folders_are_named_that_were_looked_at(
    geminids: Run, tmp_path: Path, arguments: list[str]
) -> None:
    (tmp_path / ".gemini").mkdir()
    outcome = geminids(*arguments, "--home", tmp_path)
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err == (
        f"geminids: No session found in {tmp_path}/.gemini. "
        "Use `--home DIR` to look elsewhere, or `--sample` to see sample sessions.\n"
    )


def test_a_kind_of_which_there_is_none_is_said_to_be_missing(geminids: Run, tmp_path: Path) -> None:
    write_session(tmp_path)
    outcome = geminids("list", "--kind", "lost", "--home", tmp_path)
    assert (outcome.code, outcome.out) == (1, "")
    assert "Not listed: 1 session; `geminids list --kind all" in outcome.err
    assert "No session of this kind found." in outcome.err


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["search", "id:\udcff"], 1),
        (["stats", "id:\udcff"], 1),
        (["list", "--limit", "9" * 30], 0),
        (["search", "login", "--limit", "9" * 30], 0),
        (["list", "--project", "\udcff"], 1),
    ],
)
def test_odd_values_are_no_damage_of_the_index(
    geminids: Run, tmp_path: Path, arguments: list[str], code: int
) -> None:
    write_session(tmp_path / "home")
    where = ("--home", tmp_path / "home", "--data", tmp_path / "data")
    geminids("sync", *where)
    assert geminids(*arguments, *where).code == code
    assert not list((tmp_path / "data" / "index").glob("*.damaged"))


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("delete", "forget"),
        ("cost", "stats"),
        ("undelete", "restore"),
        ("open", "show"),
        ("tag", "mark"),
        ("blocks", "stats --blocks"),
    ],
)
def test_what_commands_are_called_elsewhere_is_known(geminids: Run, typed: str, meant: str) -> None:
    assert f"Did you mean `{meant}`?" in geminids(typed, "3").err
