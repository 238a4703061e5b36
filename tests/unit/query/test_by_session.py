"""What single sessions used and cost, as lists show it."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

from geminids.library import Library
from geminids.query.usage.stats import StatsQuestion
from tests.conftest import ROOT, Run

SAMPLE = ROOT / "src" / "geminids" / "sample" / "home"


def test_sessions_used_what_statistics_say(tmp_path: Path) -> None:
    with Library([SAMPLE], tmp_path) as library:
        groups = {group.key: group.figures for group in library.stats(StatsQuestion(by="session")).groups}
        used = library.used_by(list(groups))
        assert used.keys() == groups.keys()
        for sid, use in used.items():
            assert (use.tokens, use.cost, use.active) == (
                groups[sid].tokens.total,
                groups[sid].tokens.cost,
                groups[sid].active,
            )
            assert use.model in library.session(sid).models
            alone = library.used_by([sid])
            assert alone == {sid: use}, "subagents count with the session that led them"
        assert library.used_by([]) == library.used_by(["gemini:nobody"]) == {}
        assert (
            sum(use.cost or Decimal(0) for use in used.values())
            == library.stats(StatsQuestion()).total.tokens.cost
        )


def test_lists_and_headings_tell_costs(geminids: Run) -> None:
    listed = json.loads(geminids("list", "--sample", "--json").out)["sessions"]
    newest = listed[0]
    assert newest["cost"] == 0.054931
    assert "gemini-3.8-flash · $0.05 · tokens:" in geminids("show", newest["id"], "--sample").out


def test_statistics_of_a_line_of_the_list_are_of_that_session(geminids: Run) -> None:
    listed = json.loads(geminids("list", "--sample", "--json").out)["sessions"]
    for typed, meant in (("1", listed[0]), ("3", listed[2]), ("latest", listed[0])):
        document = json.loads(geminids("stats", typed, "--by", "session", "--sample", "--json").out)
        assert [group["group"][0]["key"] for group in document["groups"]] == [meant["id"]]
    words = geminids("stats", "98765", "--sample")
    assert words.code == 1, "what is no line of the list is looked for as a word"
