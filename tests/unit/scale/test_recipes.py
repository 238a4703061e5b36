"""What the page about scale says is so."""

from __future__ import annotations

from pathlib import Path

import pytest

from geminids.scale.spark.options import MEANINGS
from tests.support.homes import write_session
from tests.support.recipes import PAGE, programs, run


def test_every_option_is_told_in_the_same_words() -> None:
    rows = [f"| `{name}` | {meaning} |" for name, meaning in MEANINGS.items()]
    assert "\n".join(["| option | what it does |", "|---|---|", *rows, ""]) in PAGE.read_text("utf-8")


def test_the_process_pool_reads_homes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_session(tmp_path / "homes" / "laptop")
    (program,) = programs("Process pool")
    run(program, tmp_path, {})
    assert capsys.readouterr().out == "1 requests\n"
