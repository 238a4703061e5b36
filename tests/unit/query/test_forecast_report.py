"""What all agents are going to delete, as one answer."""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from pathlib import Path

from geminids.core.agents.fates import Fate
from geminids.core.agents.homes import Home
from geminids.core.agents.resume import Circumstances
from geminids.query.health.forecast import ForecastReport, Held, forecast_report

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)


def report(folder: Path, asked: list[Collection[str]]) -> ForecastReport:
    """One session of Gemini CLI, one of Claude Code and one of Codex CLI, all of them old."""
    gemini, claude, codex = (folder / name for name in (".gemini", ".claude", ".codex"))
    (gemini / "tmp" / "shop").mkdir(parents=True)
    (gemini / "projects.json").write_text(json.dumps({"projects": {str(folder): "shop"}}))
    files = {
        "gemini": str(gemini / "tmp" / "shop" / "chats" / "session-2026-10-01T10-00-11111111.jsonl"),
        "claude": str(claude / "projects" / "-shop" / "2.jsonl"),
        "codex": str(codex / "sessions" / "rollout-3.jsonl"),
    }
    days = {"gemini": 31, "claude": 20, "codex": 400}
    fates = {agent: [Fate(file, NOW - timedelta(days=days[agent]))] for agent, file in files.items()}
    homes = [
        Home(agent, str(path), "given") for agent, path in zip(files, (gemini, claude, codex), strict=True)
    ]
    held = {files["gemini"]: Held("gemini:1", "Count the apples", str(folder))}

    def kept(paths: Collection[str]) -> set[str]:
        asked.append(paths)
        return {files["claude"]}

    circumstances = Circumstances(environment={}, user_home=str(folder), here=os.curdir, now=NOW)
    return forecast_report(homes, fates, held, kept, circumstances)


def test_the_soonest_comes_first_with_what_is_known_of_it(tmp_path: Path) -> None:
    asked: list[Collection[str]] = []
    told = report(tmp_path, asked)
    first, second = told.endangered
    assert (first.agent, first.session_id, first.title, first.project, first.kept) == (
        *("gemini", "gemini:1", "Count the apples"),
        *(str(tmp_path), False),
    )
    assert (second.agent, second.session_id, second.kept) == ("claude", None, True)
    assert told.due(NOW) == (first,)
    assert told.due(NOW + timedelta(days=11)) == (first, second)
    assert asked == [[first.file, second.file]]


def test_every_home_says_how_long_it_keeps_sessions(tmp_path: Path) -> None:
    told = {one.agent: (one.rest, one.remedy is None) for one in report(tmp_path, []).retentions}
    thirty_days = timedelta(days=30)
    assert told == {"gemini": (thirty_days, False), "claude": (thirty_days, False), "codex": (None, True)}
