"""The page about the library is true: its examples are run."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

from tests.conftest import ROOT

PAGE = ROOT / "docs" / "library.md"


def test_the_examples_of_the_page_are_real(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = PAGE.read_text("utf-8").replace("```", "")
    examples = doctest.DocTestParser().get_doctest(text, {}, PAGE.name, str(PAGE), 0)
    assert len(examples.examples) > 15
    done = doctest.DocTestRunner(optionflags=doctest.REPORT_NDIFF).run(examples)
    assert done.failed == 0, capsys.readouterr().out
