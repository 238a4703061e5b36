"""A total can be followed down: to sessions, to requests, to lines of files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from geminids.core import agents
from geminids.core.model import Usage
from geminids.library import Library
from geminids.query.usage.explanation import ExplainedTotal
from geminids.query.usage.stats import StatsQuestion
from tests.conftest import CORPUS, FIXTURES, NOW

CASES = sorted(path.parent for path in FIXTURES.glob("*/*/home"))
KINDS = ("requests", "input", "cached", "cache_write", "output", "thoughts", "tool", "total")


def agent_of(case: Path) -> str:
    return case.parent.name


def check_adds_up(library: Library) -> ExplainedTotal:
    """Every session's requests add up to what it shows, and all sessions to the total."""
    total = library.explain(StatsQuestion(), NOW)
    assert sum(line.requests for line in total.sessions) == total.tokens.requests
    known = [line.total for line in total.sessions if line.total is not None]
    assert (sum(known) if known else None) == total.tokens.total
    assert sum(agent.requests for agent in total.agents) == total.tokens.requests
    used = []
    for line in total.sessions:
        session = library.explain_session(line.id)
        assert (session.usage.requests, session.usage.total) == (line.requests, line.total), line.id
        counted = [request for request in session.requests if request.counted]
        assert Usage.sum(request.usage for request in counted) == session.usage
        assert line.copies + line.taken_over == len(session.requests) - len(counted)
        assert all(request.why for request in session.requests if not request.counted)
        used.append(session.usage)
    whole = Usage.sum(used)
    assert {kind: getattr(whole, kind) for kind in KINDS} == {
        kind: getattr(total.tokens, kind) for kind in KINDS
    }
    return total


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{agent_of(case)}-{case.name}")
def test_every_total_adds_up(case: Path, tmp_path: Path) -> None:
    with Library([case / "home"], tmp_path / "data") as library:
        check_adds_up(library)


@pytest.mark.slow
@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not beside the repository")
@pytest.mark.parametrize("version", sorted(path.name for path in CORPUS.glob("real/*") if path.is_dir()))
def test_every_total_of_the_corpus_adds_up(version: str, tmp_path: Path) -> None:
    homes = sorted(path.parent for path in (CORPUS / "real" / version).glob("*/home/.gemini"))
    for number, home in enumerate(homes):
        with Library([home], tmp_path / str(number)) as library:
            check_adds_up(library)


def test_each_request_stands_where_it_is_said_to(tmp_path: Path) -> None:
    home = FIXTURES / "claude" / "tools" / "home"
    with Library([home], tmp_path / "data") as library:
        (line, *_) = library.explain(StatsQuestion(), NOW).sessions
        for request in library.explain_session(line.id).requests:
            written = Path(request.source.file).read_text("utf-8").splitlines()[request.source.line - 1]
            usage = json.loads(written)["message"]["usage"]
            read = usage["input_tokens"] + usage["cache_read_input_tokens"]
            assert request.usage.input == read + usage["cache_creation_input_tokens"]


@pytest.mark.parametrize(
    "name", ["claude/tools", "claude/thoughts", "codex/tools", "codex/compressed", "codex/legacy"]
)
def test_lines_that_are_named_tell_of_tokens(name: str, tmp_path: Path) -> None:
    source = agents.load(name.partition("/")[0])
    with Library([FIXTURES / name / "home"], tmp_path / "data") as library:
        requests = [
            request
            for line in library.explain(StatsQuestion(), NOW).sessions
            for request in library.explain_session(line.id).requests
        ]
    assert requests
    for request in requests:
        for place in (request.source, *request.copies):
            file = Path(place.file)
            content = source.files().unpacked(file) or file.read_bytes()
            assert b"_tokens" in content.split(b"\n")[place.line - 1]


@pytest.mark.parametrize("case", [case for case in CASES if agent_of(case) in ("claude", "codex")], ids=str)
def test_our_sums_agree_with_the_agents_own(case: Path, tmp_path: Path) -> None:
    """Where an agent keeps a total, it is ours, or the difference is known to be missing or still to come."""
    assert agent_of(case) in agents.available()
    with Library([case / "home"], tmp_path / "data") as library:
        assert library.explain(StatsQuestion(), NOW).checks.differs == 0


def test_a_compaction_is_known_to_be_missing(tmp_path: Path) -> None:
    case = FIXTURES / "claude" / "compact"
    billed = json.loads((case / "truth.json").read_bytes())["tokens"]["aux:compact"]
    with Library([case / "home"], tmp_path / "data") as library:
        (missing,) = library.explain(StatsQuestion(), NOW).unrecorded
    assert missing.usage is not None
    assert (missing.requests, missing.usage.total) == (billed["replies"], billed["total"])
