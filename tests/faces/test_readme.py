"""The screens in the README and the tour are real: each is run, and `make golden` writes what it showed."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.support.screens import SCREEN, shown_by

PAGES = {"README.md": 2, "docs/tour.md": 5}
"""How many screens there are at least."""


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_the_readme_shows_what_really_happens(machine: Path, name: str) -> None:
    page = ROOT / name
    text = page.read_text("utf-8")

    def real(screen: re.Match[str]) -> str:
        return f"```console\n$ geminids {screen['arguments']}\n{shown_by(screen['arguments'])}```"

    rewritten = SCREEN.sub(real, text)
    if os.environ.get("GEMINIDS_GOLDEN") == "rewrite":
        page.write_text(rewritten, "utf-8")
    assert page.read_text("utf-8") == rewritten
    assert len(SCREEN.findall(text)) >= PAGES[name]


DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_between_documents_lead_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", document.read_text("utf-8")):
        assert (document.parent / target).exists(), target
