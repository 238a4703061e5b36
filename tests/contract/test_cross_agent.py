"""Recorded sessions of all agents in one home: views tell of all of them, and a folder is one project."""

from __future__ import annotations

import json
import shutil
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from geminids.core import agents as sources
from geminids.core.model import Session, SessionKind
from geminids.library import Library
from tests.conftest import FIXTURES, Run
from tests.support.reading import sessions as read_sessions

CASES = {"claude": "tools", "codex": "tools", "gemini": "tool-calls-jsonl-2"}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The home of somebody who uses three agents."""
    for agent, case in CASES.items():
        shutil.copytree(FIXTURES / agent / case / "home", tmp_path, dirs_exist_ok=True)
    return tmp_path


@pytest.fixture
def expected(home: Path) -> list[Session]:
    """What each reader finds there by itself."""
    return [session for agent in CASES for session in read_sessions(sources.load(agent), home)]


def test_everything_of_all_agents_is_listed(geminids: Run, home: Path, expected: list[Session]) -> None:
    listed = json.loads(geminids("list", "--kind", "all", "--json", "--home", home).out)["sessions"]
    assert sorted(session["id"] for session in listed) == sorted(session.id for session in expected)
    assert {session["agent"] for session in listed} == CASES.keys()
    for agent in CASES:
        narrowed = geminids("list", "--kind", "all", "--home", home, "--agent", agent).out
        ids = {line.split("\t")[0] for line in narrowed.splitlines()}
        assert ids == {session.id for session in expected if session.agent == agent}


def test_a_folder_is_one_project_whatever_agents_worked_in_it(home: Path, expected: list[Session]) -> None:
    agents: defaultdict[str | None, set[str]] = defaultdict(set)
    counts: Counter[str | None] = Counter()
    for session in expected:
        agents[session.project.path].add(session.agent)
        counts[session.project.path] += session.kind is SessionKind.MAIN
    assert any(len(both) > 1 for both in agents.values()), "else nothing is proven here"
    with Library([home]) as library:
        reports = library.projects().projects
    assert {report.project.path: set(report.agents) for report in reports} == agents
    assert {report.project.path: report.sessions for report in reports} == counts


def test_every_agent_is_found_by_what_was_said(geminids: Run, home: Path, expected: list[Session]) -> None:
    for session in expected:
        if session.kind is SessionKind.MAIN and session.title:
            words = json.dumps(" ".join(session.title.split()[:5]))
            found = json.loads(geminids("search", words, "--json", "--home", home).out)
            assert session.id in {hit["session"]["id"] for hit in found["hits"]}
            assert all(hit["snippet"] for hit in found["hits"])


def test_nothing_of_any_agent_is_left_unaccounted_for(geminids: Run, home: Path) -> None:
    report = json.loads(geminids("doctor", "--json", "--home", home).out)
    assert {entry["agent"] for entry in report["homes"]} == CASES.keys()
    assert report["bytes"]["problem"] == 0
    total = report["bytes"]
    assert total["total"] == total["used"] + total["ignored"] + total["problem"]
