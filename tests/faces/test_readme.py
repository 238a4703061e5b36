"""The screens in the documents are real: each is run, and `make golden` writes what it showed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.support.screens import OF_OTHERS, OF_SAMPLE, SCREEN, WIDTH, check_screens, shown_for

DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
READ = [ROOT / "README.md", *ROOT.glob("docs/*.md")]
"""Of these, what people read first; the formats are written by a program, and tested with it."""
FENCE = re.compile(r"^```(?P<language>\w*)\n(?P<inside>.*?)^```$", re.DOTALL | re.MULTILINE)
COMMAND = re.compile(r"(?:\.venv/bin/)?(?:geminids|make|python|openssl|schtasks) |[\d* ]+\S+geminids\b|$")
"""What a line begins with that is to be typed; all else is what a command showed."""


@pytest.mark.slow
@pytest.mark.parametrize("name", OF_SAMPLE)
def test_screens_show_what_really_happens(machine: Path, name: str) -> None:
    assert check_screens(name, shown_for)


def test_every_screen_is_run_by_a_test_and_fits_80_columns() -> None:
    run = {ROOT / name for name in (*OF_SAMPLE, *OF_OTHERS)}
    for page in READ:
        for fence in FENCE.finditer(page.read_text("utf-8")):
            lines = fence["inside"].splitlines()
            if fence["language"] == "console":
                assert page in run, f"{page.name}: no test runs this: {lines[0]}"
                assert SCREEN.fullmatch(fence[0]), f"{page.name}: it begins with no command: {lines[0]}"
                assert [line for line in lines if len(line) > WIDTH] == [], page.name
            elif not fence["language"] and page.name != "cli.md":
                assert [line for line in lines if not COMMAND.match(line)] == [], f"{page.name}: not run"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_between_documents_lead_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", document.read_text("utf-8")):
        assert (document.parent / target).exists(), target
