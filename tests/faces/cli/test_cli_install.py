"""`geminids install` and `uninstall`: what is written where, and that nothing of it stays."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from geminids import __version__
from geminids.core import installation
from geminids.faces.cli.install_command import _why
from geminids.library import Library
from tests.conftest import Run
from tests.support.agent_settings import (
    BY_HAND,
    CLAUDE,
    CODEX,
    GEMINI,
    files_of,
    folders_of,
    home_with_agents,
    put_claude,
)
from tests.support.documents import check_printed
from tests.support.examples import examples
from tests.support.fake_agents import path_with
from tests.support.kept_homes import asked
from tests.support.screens import check_screens
from tests.support.terminal import on_terminal

EXTENSION = ".gemini/extensions/geminids"
AMONG_SKILLS = ".claude/skills/geminids"
MARKETPLACE = ".claude/plugins/marketplaces/geminids"
KNOWN = ".claude/plugins/known_marketplaces.json"
SERVER = [sys.executable, "-P", "-m", "geminids", "mcp"]


@pytest.fixture
def home(machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of this machine, in which all three agents were used; Claude Code is a new one."""
    monkeypatch.setenv("PATH", path_with(put_claude(tmp_path, "2.1.325")))
    return home_with_agents(machine)


@pytest.fixture
def old_claude(home: Path, tmp_path: Path) -> Path:
    """The same with a Claude Code of last year."""
    put_claude(tmp_path, "2.0.60")
    return home


def record(home: Path) -> Path:
    return home / ".local/share/geminids/installed/record.json"


def test_nothing_is_written_by_a_dry_run(geminids: Run, home: Path) -> None:
    before = files_of(home)
    shown = geminids("install", "--dry-run")
    assert shown.code == 0
    assert shown.out.splitlines()[:4] == [
        "Claude Code",
        "  ~/.claude/skills/geminids",
        "    7 new files",
        "Codex CLI",
    ]
    assert "  ~/.codex/config.toml\n    mcp_servers.geminids, notify added; a backup is kept\n" in shown.out
    assert shown.out.splitlines()[-1] == f"Agents will start:  {' '.join(SERVER)}"
    assert files_of(home) == before
    assert not record(home).exists()


def test_settings_of_the_user_stay_as_they_are(geminids: Run, home: Path) -> None:
    assert geminids("install", "--yes").code == 0
    after = files_of(home)
    assert {after[GEMINI], after[CLAUDE]} == {BY_HAND[GEMINI], BY_HAND[CLAUDE]}
    assert BY_HAND[CODEX] in after[CODEX]
    said = tomllib.loads(after[CODEX].decode())
    assert said["mcp_servers"]["geminids"]["command"] == sys.executable
    assert said["mcp_servers"]["geminids"]["args"] == SERVER[1:]
    assert said["notify"] == [*SERVER[:-1], "keep", "hook"]
    extension = json.loads(after[f"{EXTENSION}/gemini-extension.json"])
    assert (extension["name"], extension["version"]) == ("geminids", __version__)
    server = extension["mcpServers"]["geminids"]
    assert [server["command"], *server["args"]] == [*SERVER, "--no-prompts"]
    hooks = json.loads(after[f"{AMONG_SKILLS}/hooks/hooks.json"])["hooks"]
    assert set(hooks) == {"Stop", "SessionEnd"}
    assert hooks["Stop"][0]["hooks"][0]["command"].endswith(" -P -m geminids keep hook")


def test_nothing_stays_afterwards(geminids: Run, home: Path) -> None:
    before, folders = files_of(home), folders_of(home)
    geminids("install", "--yes")
    removed = geminids("uninstall", "--yes")
    assert (removed.code, removed.err) == (0, "geminids: Done. Restart running sessions of the agents.\n")
    assert (files_of(home), folders_of(home)) == (before, folders)
    again = geminids("uninstall")
    assert (again.code, again.err) == (0, "geminids: Nothing to do: geminids is not installed.\n")


def test_an_old_release_is_told_by_its_settings(geminids: Run, old_claude: Path) -> None:
    before, folders = files_of(old_claude), folders_of(old_claude)
    assert geminids("install", "claude", "--yes").code == 0
    after = files_of(old_claude)
    assert json.loads(after[CLAUDE])["enabledPlugins"] == {"geminids@geminids": True}
    assert after[CLAUDE].startswith(BY_HAND[CLAUDE][:-3])
    (known,) = json.loads(after[KNOWN]).values()
    assert known["installLocation"] == str(old_claude / MARKETPLACE)
    assert f"{MARKETPLACE}/.claude-plugin/marketplace.json" in after
    geminids("uninstall", "--yes")
    assert (files_of(old_claude), folders_of(old_claude)) == (before, folders)


def test_what_the_agent_noted_of_it_goes_too(geminids: Run, old_claude: Path) -> None:
    geminids("install", "claude", "--yes")
    noted = old_claude / ".claude/plugins/installed_plugins.json"
    noted.write_text('{"version": 1, "plugins": {"geminids@geminids": {"version": "1"}, "x@y": {}}}')
    assert geminids("install", "claude").err == "geminids: Nothing to do: geminids is installed.\n"
    geminids("uninstall", "--yes")
    assert json.loads(noted.read_bytes()) == {"version": 1, "plugins": {"x@y": {}}}


def test_the_way_follows_the_release(geminids: Run, old_claude: Path, tmp_path: Path) -> None:
    before = files_of(old_claude)
    geminids("install", "claude", "--yes")
    put_claude(tmp_path, "2.1.157")
    geminids("install", "claude", "--yes")
    after = files_of(old_claude)
    assert after[CLAUDE] == BY_HAND[CLAUDE]
    assert not any(name.startswith((MARKETPLACE, KNOWN)) for name in after)
    assert f"{AMONG_SKILLS}/.mcp.json" in after
    geminids("uninstall", "--yes")
    assert files_of(old_claude) == before


def test_twice_is_once(geminids: Run, old_claude: Path) -> None:
    before = files_of(old_claude)
    geminids("install", "--yes")
    after, noted = files_of(old_claude), record(old_claude).read_bytes()
    again = geminids("install")
    assert (again.code, again.err) == (0, "geminids: Nothing to do: geminids is installed.\n")
    assert (files_of(old_claude), record(old_claude).read_bytes()) == (after, noted)
    geminids("uninstall", "--yes")
    assert files_of(old_claude) == before


def test_where_it_looks_is_passed_on(geminids: Run, home: Path, tmp_path: Path) -> None:
    geminids("install", "gemini", "--yes", "--home", home, "--data", tmp_path / "data")
    manifest = json.loads((home / EXTENSION / "gemini-extension.json").read_bytes())
    options = ["--home", str(home), "--data", str(tmp_path / "data")]
    assert manifest["mcpServers"]["geminids"]["args"] == [*SERVER[1:], "--no-prompts", *options]
    hooks = (home / EXTENSION / "hooks/hooks.json").read_text()
    assert f"keep hook --home {home} --data {tmp_path / 'data'}" in hooks
    assert (tmp_path / "data/installed/record.json").exists()
    assert not record(home).exists()


def test_what_the_environment_says_reaches_a_server_that_inherits_nothing(
    geminids: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEMINI_CLI_HOME", "/elsewhere")
    geminids("install", "codex", "--yes")
    server = tomllib.loads((home / CODEX).read_text())["mcp_servers"]["geminids"]
    assert server["env"]["GEMINI_CLI_HOME"] == "/elsewhere"
    assert set(server["env"]) <= {"GEMINI_CLI_HOME", "XDG_DATA_HOME"}


def test_a_folder_that_is_named_from_here_is_found_from_elsewhere(
    geminids: Run, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / ".codex").rename(home / "own")
    monkeypatch.chdir(home)
    monkeypatch.setenv("CODEX_HOME", "own")
    geminids("install", "codex", "--yes")
    server = tomllib.loads((home / "own/config.toml").read_text())["mcp_servers"]["geminids"]
    assert server["env"]["CODEX_HOME"] == str(home / "own")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CODEX_HOME")
    geminids("uninstall", "--yes")
    assert (home / "own/config.toml").read_bytes() == BY_HAND[CODEX]


def test_what_others_changed_since_stays(geminids: Run, old_claude: Path) -> None:
    geminids("install", "--yes")
    for name, (old, new) in {
        CLAUDE: (b'"model": "opus"', b'"model": "sonnet"'),
        CODEX: (b"[mcp_servers.geminids]", b"[theirs]\na = 1\n\n[mcp_servers.geminids]"),
    }.items():
        path = old_claude / name
        path.write_bytes(path.read_bytes().replace(old, new))
    removed = geminids("uninstall", "--yes")
    assert removed.code == 0
    assert f"'{old_claude / CODEX}' was changed after the installation: only " in removed.out
    after = files_of(old_claude)
    assert after[CLAUDE] == BY_HAND[CLAUDE].replace(b"opus", b"sonnet")
    assert after[CODEX] == BY_HAND[CODEX] + b"\n\n[theirs]\na = 1\n"


def test_without_its_record_it_goes_by_names(geminids: Run, old_claude: Path) -> None:
    before = files_of(old_claude)
    geminids("install", "--yes")
    record(old_claude).unlink()
    assert geminids("uninstall", "--yes").code == 0
    after = files_of(old_claude)
    # The end that the last line was given is all that stays.
    assert after.pop(CODEX) == before.pop(CODEX) + b"\n"
    assert after.pop(KNOWN) == b"{}\n"
    assert after == before


@pytest.mark.parametrize(
    ("name", "damaged", "why"),
    [
        (CODEX, b"a = \n", "is not valid TOML"),
        (CODEX, b'[mcp_servers.geminids]\ncommand = "mine"\n', "already has mcp_servers.geminids"),
        (CODEX, b"mcp_servers = {}\n", "cannot be given a table [mcp_servers.geminids]"),
        (CLAUDE, b'{"a": ', "is not valid JSON (line 1: it ends too early)"),
        (CLAUDE, b"[]", "does not hold a JSON object"),
        (CLAUDE, b'{"enabledPlugins": []}', "has something other than an object at enabledPlugins"),
        (CLAUDE, b'{"enabledPlugins": {"geminids@geminids": false}}', "already has enabledPlugins.geminids"),
    ],
)
def test_settings_that_cannot_be_changed_safely_stay(
    geminids: Run, old_claude: Path, name: str, damaged: bytes, why: str
) -> None:
    (old_claude / name).write_bytes(damaged)
    before = files_of(old_claude)
    agent = name.split("/", maxsplit=1)[0].removeprefix(".")
    refused = geminids("install", agent, "--yes")
    assert refused.code == 3
    assert f"'{old_claude / name}' " in refused.err
    assert why in refused.err
    assert refused.err.endswith("Nothing was changed.\n")
    assert files_of(old_claude) == before
    # The others are not to blame.
    assert geminids("install", "--yes").code == 3
    assert f"{EXTENSION}/gemini-extension.json" in files_of(old_claude)


def test_files_that_are_read_only_stay(geminids: Run, home: Path) -> None:
    (home / CODEX).chmod(0o444)
    refused = geminids("install", "codex", "--yes")
    assert (refused.code, refused.err) == (
        3,
        f"geminids: Codex CLI: '{home / CODEX}' is read-only. Nothing was changed.\n",
    )
    assert not (home / ".codex/skills").exists()


def test_a_file_with_another_name_stays(geminids: Run, home: Path) -> None:
    os.link(home / CODEX, home / "other name")
    refused = geminids("install", "codex", "--yes")
    assert refused.code == 3
    assert f"'{home / CODEX}' has another name (a hard link), under which it would not change." in refused.err
    assert (home / "other name").read_bytes() == BY_HAND[CODEX]


@pytest.mark.parametrize("name", [GEMINI, CLAUDE, CODEX])
@pytest.mark.parametrize("kind", ["pipe", "device", "huge"])
@pytest.mark.parametrize("command", ["install", "uninstall"])
def test_what_is_no_file_of_settings_is_not_read(
    geminids: Run, old_claude: Path, name: str, kind: str, command: str
) -> None:
    if command == "uninstall":
        assert geminids("install", "--yes").code == 0
    path = old_claude / name
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        with path.open("wb") as huge:
            huge.truncate(3_000_000_000)
    answer = geminids(command, "--yes")
    if name == GEMINI:
        assert answer.code == 0
    else:
        assert answer.code == 3
        assert f"'{path}' " in answer.err
        assert "Nothing was changed.\n" in answer.err
    # The other agents are not to blame.
    assert ((old_claude / EXTENSION).exists()) == (command == "install")


def test_what_the_user_registered_by_hand_stays(geminids: Run, old_claude: Path) -> None:
    server = b'[mcp_servers.geminids]\ncommand = "geminids"\nargs = ["mcp", "--home", "/srv"]\n'
    (old_claude / CODEX).write_bytes(server)
    (old_claude / CLAUDE).write_bytes(b'{"enabledPlugins": {"geminids@geminids": false}}')
    before = files_of(old_claude)
    removed = geminids("uninstall", "--yes")
    assert removed.code == 0
    assert f"'{old_claude / CODEX}' has mcp_servers.geminids, which `geminids install` did not" in removed.out
    assert "enabledPlugins.geminids@geminids, which `geminids install` did not" in removed.out
    assert files_of(old_claude) == before


def test_only_what_is_there_is_said_to_be_removed(geminids: Run, home: Path) -> None:
    geminids("install", "codex", "--yes")
    settings = home / CODEX
    settings.write_bytes(
        b"".join(line for line in settings.read_bytes().splitlines(True) if b"notify" not in line)
    )
    removed = geminids("uninstall", "--yes")
    assert "only mcp_servers.geminids is removed from it" in " ".join(removed.out.split())
    assert "notify" not in removed.out


def test_a_failure_in_between_leaves_nothing(geminids: Run, home: Path) -> None:
    before, folders = files_of(home), folders_of(home)
    # A name that a folder has cannot be given to a file: it is written last.
    (home / CODEX).unlink()
    (home / CODEX).mkdir()
    refused = geminids("install", "codex", "--yes")
    assert refused.code == 3
    assert f"'{home / CODEX}' cannot be read" in refused.err
    (home / CODEX).rmdir()
    (home / CODEX).write_bytes(before[CODEX])
    assert (files_of(home), folders_of(home)) == (before, folders)


def test_links_stay_links(geminids: Run, home: Path, tmp_path: Path) -> None:
    kept = tmp_path / "dotfiles.toml"
    (home / CODEX).rename(kept)
    kept.chmod(0o640)
    (home / CODEX).symlink_to(kept)
    geminids("install", "codex", "--yes")
    assert (home / CODEX).is_symlink()
    assert b"geminids" in kept.read_bytes()
    assert kept.stat().st_mode & 0o777 == 0o640
    geminids("uninstall", "--yes")
    assert (home / CODEX).is_symlink()
    assert kept.read_bytes() == BY_HAND[CODEX]


def test_settings_that_were_not_there_go_again(geminids: Run, old_claude: Path) -> None:
    for name in (CLAUDE, CODEX):
        (old_claude / name).unlink()
    geminids("install", "--yes")
    assert {CLAUDE, CODEX, KNOWN} <= set(files_of(old_claude))
    geminids("uninstall", "--yes")
    assert set(files_of(old_claude)) == {GEMINI}


def test_a_package_that_somebody_else_put_there_stays(geminids: Run, home: Path) -> None:
    theirs = home / EXTENSION / ".gemini-extension-install.json"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("{}")
    refused = geminids("install", "gemini", "--yes")
    assert refused.code == 3
    assert "exists already and was not written by `geminids install`" in refused.err
    assert list(theirs.parent.iterdir()) == [theirs]
    assert "stays: '.gemini-extension-install.json' in it was not" in geminids("uninstall").out


def test_a_text_that_somebody_else_wrote_stays(geminids: Run, home: Path) -> None:
    theirs = home / ".codex/skills/geminids/SKILL.md"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("mine")
    refused = geminids("install", "codex", "--yes")
    assert (refused.code, "move it away first" in refused.err) == (3, True)
    removed = geminids("uninstall", "--yes")
    assert (removed.code, "stays: 'SKILL.md' in it was not written by" in removed.out) == (0, True)
    assert theirs.read_text() == "mine"


def test_a_folder_that_is_a_link_is_not_written_into(geminids: Run, home: Path, tmp_path: Path) -> None:
    theirs = tmp_path / "clone"
    theirs.mkdir()
    (theirs / "GEMINIDS.md").write_text("theirs")
    (home / EXTENSION).parent.mkdir()
    (home / EXTENSION).symlink_to(theirs)
    refused = geminids("install", "gemini", "--yes")
    assert (refused.code, f"'{home / EXTENSION}' is a link. Nothing was changed." in refused.err) == (3, True)
    assert geminids("uninstall", "--yes").code == 0
    assert (theirs / "GEMINIDS.md").read_text() == "theirs"


def test_a_text_that_somebody_changed_is_named_before_it_goes(geminids: Run, home: Path) -> None:
    geminids("install", "codex", "--yes")
    skill = home / ".codex/skills/geminids/SKILL.md"
    skill.write_text("mine")
    for command, fate in (("install", "replaced"), ("uninstall", "removed")):
        told = " ".join(geminids(command, "codex", "--dry-run").out.split())
        assert f"'{skill}' was changed after the installation, and is {fate}." in told
    geminids("install", "codex", "--yes")
    assert "was changed" not in geminids("uninstall", "--yes").out
    assert not skill.exists()


def test_a_file_that_somebody_adds_stays(geminids: Run, home: Path) -> None:
    geminids("install", "gemini", "--yes")
    (home / EXTENSION / "mine.md").write_text("mine")
    removed = geminids("uninstall", "--yes")
    assert "is not part of geminids and stays" in removed.out
    assert [path.name for path in (home / EXTENSION).iterdir()] == ["mine.md"]


def test_another_program_that_is_told_of_turns_stays(geminids: Run, home: Path) -> None:
    (home / CODEX).write_bytes(b'notify = ["notify-send"]\n')
    installed = geminids("install", "codex", "--yes")
    assert "Codex CLI asks you to accept the hook" in " ".join(installed.out.split())
    assert "mcp_servers.geminids, hooks.Stop added; a backup is kept" in installed.out
    said = tomllib.loads((home / CODEX).read_text())
    assert said["notify"] == ["notify-send"]
    assert said["hooks"]["Stop"][0]["hooks"][0]["command"].endswith("geminids keep hook")
    geminids("uninstall", "--yes")
    assert (home / CODEX).read_bytes() == b'notify = ["notify-send"]\n'


def test_a_hook_that_is_there_already_is_mentioned(geminids: Run, home: Path) -> None:
    (home / CODEX).write_bytes(b'notify = ["geminids", "keep", "hook"]\n')
    (home / CLAUDE).write_text('{"hooks": {"SessionEnd": ["geminids keep hook"]}}')
    (home / GEMINI).write_text('{"hooks": {"SessionEnd": ["geminids keep hook"]}}')
    told = " ".join(geminids("install", "--dry-run").out.split())
    assert told.count("starts `geminids keep hook`") == 3
    geminids("install", "codex", "--yes")
    assert tomllib.loads((home / CODEX).read_text()).keys() == {"notify", "mcp_servers"}


def test_a_hook_in_several_lines_is_there_already_and_one_in_a_comment_is_not(
    geminids: Run, home: Path
) -> None:
    (home / CODEX).write_bytes(b'notify = [\n  "geminids",\n  "keep",\n  "hook",\n]\n')
    geminids("install", "codex", "--yes")
    assert tomllib.loads((home / CODEX).read_text()).keys() == {"notify", "mcp_servers"}
    geminids("uninstall", "--yes")
    (home / CODEX).write_bytes(b'# notify = ["geminids", "keep", "hook"]\n')
    geminids("install", "codex", "--yes")
    assert tomllib.loads((home / CODEX).read_text())["notify"] == [*SERVER[:-1], "keep", "hook"]


def test_a_shorter_command_is_an_addition_too(
    geminids: Run, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, shown in (("an old é 'venv'", "added"), ("new", "added")):
        monkeypatch.setattr(sys, "argv", [str(tmp_path / name / "geminids")])
        installed = geminids("install", "codex", "--yes")
        assert f"mcp_servers.geminids, notify {shown}; a backup is kept" in installed.out
        server = tomllib.loads((home / CODEX).read_text())["mcp_servers"]["geminids"]
        assert server["command"] == str(tmp_path / name / "geminids")
    geminids("uninstall", "--yes")
    assert (home / CODEX).read_bytes() == BY_HAND[CODEX]


def test_settings_that_nothing_was_added_to_may_be_damaged(geminids: Run, home: Path) -> None:
    geminids("install", "gemini", "--yes")
    (home / CLAUDE).write_bytes(b'{"broken')
    (home / CODEX).write_bytes(b"broken")
    removed = geminids("uninstall", "--yes")
    assert (removed.code, removed.err) == (0, "geminids: Done. Restart running sessions of the agents.\n")


def test_a_name_that_is_no_text_is_refused(
    geminids: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", "/elsewhere/\udcff")
    before = files_of(home)
    refused = geminids("install", "--yes")
    assert (refused.code, "is not UTF-8, and cannot be written into" in refused.err) == (2, True)
    assert files_of(home) == before


def test_a_full_disk_has_no_name() -> None:
    assert _why(OSError(errno.ENOSPC, "No space left on device")) == (
        "Cannot write: No space left on device. Nothing was changed."
    )


def test_folders_that_are_not_trusted_are_mentioned(
    geminids: Run, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "does not trust" not in geminids("install", "gemini", "--dry-run").out
    (home / GEMINI).write_text("{}")
    assert f"Gemini CLI does not trust '{tmp_path}'" in geminids("install", "gemini", "--dry-run").out
    (home / ".gemini/trustedFolders.json").write_text(json.dumps({str(tmp_path): "TRUST_FOLDER"}))
    assert "does not trust" not in geminids("install", "gemini", "--dry-run").out


def test_documents(geminids: Run, home: Path) -> None:
    planned = check_printed(geminids("install", "--dry-run", "--json").out, "geminids/install/1")
    assert planned["server"] == SERVER
    assert [one["done"] for one in planned["agents"]] == [False, False, False]
    done = check_printed(geminids("install", "--yes", "--json").out, "geminids/install/1")
    assert [one["agent"] for one in done["agents"] if one["done"]] == ["claude", "codex", "gemini"]
    assert {"path": str(home / CODEX), "action": "edit", "what": "mcp_servers.geminids, notify"} in done[
        "agents"
    ][1]["changes"]
    gone = check_printed(geminids("uninstall", "--yes", "--json").out, "geminids/uninstall/1")
    assert {change["action"] for one in gone["agents"] for change in one["changes"]} == {"remove", "edit"}


def test_agents_that_are_not_here(geminids: Run, machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    nothing = geminids("install", "--yes")
    assert nothing.code == 1
    assert "Claude Code and Codex CLI and Gemini CLI not found." in nothing.err
    (machine / ".gemini").mkdir()
    assert geminids("install", "codex", "--yes").code == 1
    assert geminids("install", "all", "--yes").code == 0
    wrong = geminids("install", "vim")
    assert wrong.code == 2
    assert "there is no agent 'vim'. Available: claude, codex, gemini, all." in wrong.err


def test_an_agent_that_was_never_started_is_here_if_its_program_is(
    geminids: Run, machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", path_with(put_claude(tmp_path, "2.1.325")))
    assert geminids("install", "--yes").code == 0
    assert (machine / AMONG_SKILLS).is_dir()
    geminids("uninstall", "--yes")
    assert not (machine / ".claude").exists()


def test_nobody_to_ask(geminids: Run, home: Path) -> None:
    before = files_of(home)
    refused = geminids("install")
    assert refused.code == 2
    assert files_of(home) == before
    assert geminids("install", "--yes", "--dry-run").code == 2


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "is_written"), [("y", True), ("n", False)])
def test_it_asks_once(home: Path, answer: str, is_written: bool) -> None:
    shown, code = asked("install", answer=answer)
    assert shown.count("Install? [y/N]") == 1
    assert (code, record(home).exists()) == (0 if is_written else 130, is_written)


def test_what_is_missing_is_said_before_anything_is_written(
    geminids: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "prefix", str(Path("/home/ada/.cache/uv/archive-v0/x")))
    assert installation.is_temporary()
    refused = geminids("install", "--yes")
    assert refused.code == 2
    assert "uv tool install" in refused.err
    monkeypatch.undo()
    # So Python takes a module for one that is not there.
    monkeypatch.setitem(sys.modules, "mcp", None)
    refused = geminids("install", "--yes", "--home", home)
    assert refused.code == 2
    assert "Agents ask geminids through MCP, which needs more packages; `" in refused.err
    assert geminids("install", "--sample").code == 2
    assert files_of(home) == BY_HAND


def test_the_command_that_was_typed_is_the_one_that_agents_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """pipx and uv put a link on the path, which leads to the next release too."""
    real = tmp_path / "venvs" / "geminids"
    real.parent.mkdir()
    real.write_text("#!/bin/sh\n")
    real.chmod(0o755)
    (tmp_path / "geminids").symlink_to(real)
    monkeypatch.setattr(sys, "argv", [str(tmp_path / "geminids")])
    assert installation.own_words() == [str(tmp_path / "geminids")]


def test_a_damaged_record_is_said(geminids: Run, home: Path) -> None:
    geminids("install", "--yes")
    record(home).write_bytes(b"{")
    refused = geminids("uninstall", "--yes")
    assert refused.code == 2
    assert "record.json' is damaged. Move it away" in refused.err


json_texts = st.sampled_from(
    [
        b"{}",
        b"",
        b"{ }\n",
        b'{"a":1}',
        b'{\n\t"z": {"y": [1,2]},\n\n\t"a": null\n}\n\n',
        b'\xef\xbb\xbf{"enabledPlugins": {}}',
        b'{"enabledPlugins": {\n  "b@c": true}, "model": "x" }',
        b'{\r\n "x": "\\u00e9"\r\n}',
    ]
)
toml_texts = st.sampled_from(
    [
        b"",
        b"\n\n",
        b"a = 1",
        b"# only this",
        b'[a]\nb = "c"\r\n',
        b"\xef\xbb\xbfa = 1\n",
        b'notify = ["x"]\n[[hooks.Stop]]\nhooks = []\n',
        b"[mcp_servers]\n",
        b'x = """\n[mcp_servers.geminids]\n"""\n',
    ]
)


@pytest.mark.slow
@settings(
    max_examples=examples(50), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.none() | json_texts,
    st.none() | json_texts,
    st.none() | toml_texts,
    st.sampled_from(["2.0.60", "2.1.325"]),
)
def test_it_comes_and_goes_byte_for_byte(
    geminids: Run,
    home: Path,
    tmp_path: Path,
    claude: bytes | None,
    known: bytes | None,
    codex: bytes | None,
    version: str,
) -> None:
    put_claude(tmp_path, version)
    for name, content in {CLAUDE: claude, KNOWN: known, CODEX: codex}.items():
        (home / name).unlink(missing_ok=True)
        if content is not None:
            (home / name).parent.mkdir(exist_ok=True)
            (home / name).write_bytes(content)
    before, folders = files_of(home), folders_of(home)
    assert geminids("install", "--yes").code == 0
    assert geminids("install", "--yes").err == "geminids: Nothing to do: geminids is installed.\n"
    assert geminids("uninstall", "--yes").code == 0
    assert (files_of(home), folders_of(home)) == (before, folders)


@pytest.mark.slow
def test_the_screen_of_the_page_is_what_is_shown(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)

    def shown(line: str) -> str:
        seen = on_terminal(*line.split()[1:], NO_COLOR="1")
        return seen.replace(" ".join(SERVER[:-1]), "/home/ada/.local/bin/geminids")

    assert check_screens("docs/install.md", shown) == 1


def test_doctor_says_where_it_is(geminids: Run, home: Path) -> None:
    assert "installed into" not in geminids("doctor").out
    geminids("install", "--yes")
    named = ", ".join(f"{title} ({__version__})" for title in ("Claude Code", "Codex CLI", "Gemini CLI"))
    told = geminids("doctor")
    assert f"installed into: {named}\n" in told.out
    assert "Update what is installed" not in told.out
    document = check_printed(geminids("doctor", "--json").out, "geminids/doctor/1")
    assert document["installed"][0] == {"agent": "claude", "version": __version__}
    record(home).write_text(record(home).read_text().replace(f'"{__version__}"', '"0.0.1"'))
    assert "Update what is installed:  geminids install\n" in geminids("doctor").out
    record(home).write_text("{")
    damaged = geminids("doctor")
    assert (damaged.code, "is damaged" in damaged.err) == (0, True)


def test_what_somebody_removed_by_hand_is_not_installed_any_more(geminids: Run, home: Path) -> None:
    geminids("install", "gemini", "--yes")
    shutil.rmtree(home / ".gemini/extensions")
    assert geminids("uninstall").err == "geminids: Nothing to do: geminids is not installed.\n"
    assert "installed into" not in geminids("doctor").out


def test_programs_ask_the_library(home: Path) -> None:
    with Library() as library:
        assert library.installation.agents() == ["claude", "codex", "gemini"]
        assert [one.folder for one in library.installation.homes(["codex"])] == [str(home / ".codex")]
        assert library.installation.installed() == ()


def at_once(*words: str) -> list[tuple[int, str]]:
    """How some processes end that are all started with the same words, and what they say."""
    line = [*SERVER[:-1], *words]
    started = [subprocess.Popen(line, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    said = [process.communicate(timeout=60)[1] for process in started]
    return [(process.returncode, text) for process, text in zip(started, said, strict=True)]


def test_several_at_once_are_as_good_as_one(geminids: Run, home: Path) -> None:
    before, folders = files_of(home), folders_of(home)
    assert geminids("install", "--yes").code == 0
    once, noted = files_of(home), record(home).read_bytes()
    assert geminids("uninstall", "--yes").code == 0
    for _ in range(2):
        assert [code for code, _ in at_once("install", "--yes")] == [0] * 4
        assert (files_of(home), record(home).read_bytes()) == (once, noted)
        assert [code for code, _ in at_once("uninstall", "--yes")] == [0] * 4
        assert (files_of(home), folders_of(home)) == (before, folders)
