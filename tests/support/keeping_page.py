"""The settings that docs/keeping.md tells people to copy, taken from the page itself."""

from __future__ import annotations

import re

from tests.conftest import ROOT

PAGE = ROOT / "docs" / "keeping.md"


def snippets(heading: str) -> list[str]:
    """The blocks of code below a heading, up to the next."""
    _, found, below = PAGE.read_text("utf-8").partition(f"\n### {heading}\n")
    assert found, f"{PAGE.name} has no heading {heading!r}"
    section = re.split(r"^#+ ", below, maxsplit=1, flags=re.MULTILINE)[0]
    return re.findall(r"^```\w*\n(.*?)^```$", section, flags=re.MULTILINE | re.DOTALL)
