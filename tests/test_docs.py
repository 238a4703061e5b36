"""The documents that are generated: `make golden` writes them anew."""

from __future__ import annotations

import os

import pytest

from tests.conftest import ROOT, Run

REFERENCE = ROOT / "docs" / "cli.md"
COMMANDS = ("", "list", "show", "doctor", "completion")


def test_the_reference_of_the_command_line_is_what_help_says(
    geminids: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    pages = [_page(geminids, command) for command in COMMANDS]
    text = "\n".join(["# The command line", "", "What each `--help` says.", "", *pages])
    if os.environ.get("GEMINIDS_GOLDEN") == "rewrite":
        REFERENCE.write_text(text, "utf-8")
    assert REFERENCE.read_text("utf-8") == text
    for command in COMMANDS[1:]:
        assert f"  {command} " in pages[0], "every command there is has a page"


def _page(geminids: Run, command: str) -> str:
    name = f"geminids {command}".strip()
    return f"## {name}\n\n```\n{geminids(*command.split(), '--help').out.strip()}\n```\n"
