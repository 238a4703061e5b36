"""No name that a session gave, its id too, begins a line of what a command prints."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Run
from tests.support.poisoned_homes import FORGED, FORGED_LINES, forged_in, write_poisoned

COMMANDS = (
    (),
    ("list",),
    ("list", "--kind", "all"),
    ("search", "human"),
    ("search", "human", "--limit", "50"),
    ("projects",),
    ("stats",),
    *(("stats", "--by", by) for by in ("agent", "model", "project", "session", "tool")),
    ("keep",),
    ("doctor",),
    ("forget", "ID"),
    ("keep", "versions", "ID"),
    ("redact", "ID"),
    ("rescue", "ID"),
    ("restore", "ID"),
    ("resume", "--print", "ID"),
    ("show", "ID"),
    ("export", "ID", "--format", "markdown", "--output", "-"),
    ("mark", "1", "--tag", "x"),
)


@pytest.fixture
def where(tmp_path: Path) -> tuple[str, ...]:
    home = write_poisoned(tmp_path / "home", poison=FORGED_LINES)
    return "--home", str(home), "--data", str(tmp_path / "data")


def test_no_name_of_a_session_begins_a_line(where: tuple[str, ...], geminids: Run) -> None:
    _, listed, _ = geminids("list", "--kind", "all", "--json", *where)
    every = [session["id"] for session in json.loads(listed)["sessions"]]
    ids = [next(one for one in every if one.startswith(agent)) for agent in ("claude", "codex", "gemini")]
    printed = 0
    for command in COMMANDS:
        for session_id in ids if "ID" in command else [""]:
            given = [session_id if word == "ID" else word for word in command]
            _, out, errors = geminids(*given, *where)
            # What follows the heading of a session are its own words.
            paragraphs = {"show": 1, "export": 2}.get(command[0] if command else "")
            heading = "\n\n".join(out.split("\n\n")[:paragraphs])
            assert forged_in(heading) + forged_in(errors) == [], given
            printed += FORGED in heading + errors
    assert printed > 20
