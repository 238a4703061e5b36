"""The screens in the README are real: each command is run, and `make golden` writes what it showed."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.support.screens import SCREEN, shown_by

README = ROOT / "README.md"


@pytest.mark.slow
def test_the_readme_shows_what_really_happens(machine: Path) -> None:
    text = README.read_text("utf-8")

    def real(screen: re.Match[str]) -> str:
        return f"```console\n$ geminids {screen['arguments']}\n{shown_by(screen['arguments'])}```"

    rewritten = SCREEN.sub(real, text)
    if os.environ.get("GEMINIDS_GOLDEN") == "rewrite":
        README.write_text(rewritten, "utf-8")
    assert README.read_text("utf-8") == rewritten
    assert len(SCREEN.findall(text)) >= 2


@pytest.mark.parametrize("document", sorted(ROOT.glob("*.md")), ids=lambda path: path.name)
def test_links_between_documents_lead_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text("utf-8")):
        assert (ROOT / target).exists(), target
