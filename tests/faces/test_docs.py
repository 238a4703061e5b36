"""The documents that are generated: `make golden` writes them anew."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from geminids.core import agents
from geminids.core.config import DATA_VARIABLE, EVERY_WORD_VARIABLE, HOMES_VARIABLE, KEEP_VARIABLE, VARIABLES
from geminids.core.errors import EXIT_CODES, GeminidsError
from geminids.core.usual_folders import VARIABLES as PROJECT_VARIABLES
from geminids.faces.cli.forms import JSON, NO_SYNC, WHERE_AND_HOW
from geminids.faces.cli.key_command import PASSPHRASE_VARIABLE
from tests.conftest import ROOT, SCREEN_VARIABLES, Run

OURS = (HOMES_VARIABLE, DATA_VARIABLE, EVERY_WORD_VARIABLE, KEEP_VARIABLE, PASSPHRASE_VARIABLE)
REFERENCE = ROOT / "docs" / "cli.md"
COMMANDS = (
    "",
    "list",
    "show",
    "search",
    "stats",
    "statusline",
    "resume",
    "export",
    "redact",
    "mark",
    "keep",
    "keep status",
    "keep versions",
    "keep verify",
    "keep export",
    "keep import",
    "keep hook",
    "restore",
    "rescue",
    "forget",
    "attest",
    "verify",
    "redact-record",
    "key",
    "key new",
    "key list",
    "key show",
    "key set",
    "key delete",
    "tables",
    "sql",
    "install",
    "uninstall",
    "watch",
    "web",
    "sync",
    "projects",
    "projects show",
    "projects link",
    "projects unlink",
    "projects resolve",
    "doctor",
    "completion",
)


def test_the_reference_of_the_command_line_is_what_help_says(
    geminids: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    pages = [_page(geminids, command) for command in COMMANDS]
    codes = _table("Exit codes", ("code", "meaning"), {str(code): said for code, said in EXIT_CODES.items()})
    variables = _table("Environment variables", ("variable", "what it does"), _variables())
    text = "\n".join(
        ["# The command line", "", "The `--help` of every command.", "", *pages, codes, variables]
    )
    if os.environ.get("GEMINIDS_GOLDEN") == "rewrite":
        REFERENCE.write_text(text, "utf-8")
    assert REFERENCE.read_text("utf-8") == text
    for command in (name for name in COMMANDS[1:] if " " not in name):
        assert f"  {command} " in pages[0], "every command there is has a page"


@pytest.mark.parametrize("command", COMMANDS)
def test_no_help_is_wider_than_a_terminal(
    geminids: Run, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    wide = [line for line in geminids(*command.split(), "--help").out.splitlines() if len(line) > 80]
    assert wide == []


def test_global_options_are_told_once_and_named_by_every_command_that_takes_them(geminids: Run) -> None:
    whole = " ".join(geminids("--help").out.split())
    for option in (*WHERE_AND_HOW, JSON, NO_SYNC):
        assert whole.count(option.help.split(". ")[0]) == 1
    for command in COMMANDS[1:]:
        told, _, named = geminids(*command.split(), "--help").out.partition("Global options: ")
        assert "Home directory to read" not in told
        assert ("--home" in named) == (command != "completion"), command


def test_every_variable_that_is_heeded_is_documented() -> None:
    others = [path for path in (ROOT / "src").rglob("*.py") if path.name != "config.py"]
    code = "".join(path.read_text("utf-8") for path in others)
    asked_for = r'environ(?:ment)?(?:\.get\(|\[)"([A-Z_]+)"'
    names = {"PWD", *OURS, *_variables_of_agents(), *PROJECT_VARIABLES, *SCREEN_VARIABLES}
    by_shells = {"_GEMINIDS_COMPLETE", "COMP_WORDS", "COMP_CWORD"}
    assert names | set(re.findall(asked_for, code)) - by_shells == _variables().keys()


def test_every_exit_code_is_documented() -> None:
    assert {error.exit_code for error in GeminidsError.__subclasses__()} < EXIT_CODES.keys()


def _variables() -> dict[str, str]:
    """All variables; what a source says of its agent's goes before what is said of them as hints."""
    return VARIABLES | _variables_of_agents()


def _variables_of_agents() -> dict[str, str]:
    named = (agents.load(name).variables for name in agents.available())
    return {variable: meaning for variables in named for variable, meaning in variables.items()}


def _table(title: str, heads: tuple[str, str], rows: Mapping[str, str]) -> str:
    lines = [f"| `{name}` | {said} |" for name, said in rows.items()]
    return "\n".join([f"## {title}", "", f"| {' | '.join(heads)} |", "|---|---|", *lines, ""])


def _page(geminids: Run, command: str) -> str:
    name = f"geminids {command}".strip()
    return f"## {name}\n\n```\n{geminids(*command.split(), '--help').out.strip()}\n```\n"


PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_to_a_file_of_ours_leads_to_it(page: Path) -> None:
    # What stands in code is no link.
    prose = re.sub(r"```.*?```|`[^`]*`", "", page.read_text("utf-8"), flags=re.DOTALL)
    links = [link.partition("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", prose) if "://" not in link]
    assert [link for link in links if link and not (page.parent / link).exists()] == []


MODULE = re.compile(r"`(?:src/geminids/)?([\w/]+\.py)`")


def test_every_module_that_a_text_names_is_there() -> None:
    ours = [path.relative_to(ROOT).as_posix() for path in ROOT.glob("[bfst]*/**/*.py")]
    texts = [ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", *(ROOT / "src" / "geminids").rglob("*.py")]
    for text in texts:
        for name in MODULE.findall(text.read_text("utf-8")):
            assert any(f"/{path}".endswith(f"/{name}") for path in ours), f"{text.name} names {name}"
