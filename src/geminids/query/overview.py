"""All there is, in little."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

import msgspec

from geminids.model import Problem, SessionKind, SessionSummary
from geminids.query.listing import newest_last

NEWEST = 5


class AgentOverview(msgspec.Struct, frozen=True, kw_only=True):
    """What one agent has left."""

    agent: str
    title: str
    sessions: int
    subagents: int
    projects: int
    bytes: int
    first: datetime | None
    last: datetime | None


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """What there is: counts per agent, the newest sessions, what is damaged."""

    agents: tuple[AgentOverview, ...]
    newest: tuple[SessionSummary, ...]
    damaged_files: int
    problems: tuple[Problem, ...]
    """What could not be read at all."""
    homes: tuple[str, ...]
    sample: bool = False


def overview(
    summaries: Sequence[SessionSummary],
    titles: dict[str, str],
    problems: Sequence[Problem],
    homes: Sequence[str],
    *,
    damaged_files: int,
    sample: bool,
) -> Overview:
    """Sum up the sessions, agent by agent."""
    by_agent: dict[str, list[SessionSummary]] = {}
    for summary in summaries:
        by_agent.setdefault(summary.agent, []).append(summary)
    main = [summary for summary in summaries if summary.kind is SessionKind.MAIN]
    return Overview(
        agents=tuple(
            _agent(name, titles.get(name, name), theirs) for name, theirs in sorted(by_agent.items())
        ),
        newest=tuple(sorted(main, key=newest_last, reverse=True)[:NEWEST]),
        damaged_files=damaged_files,
        problems=tuple(problems),
        homes=tuple(homes),
        sample=sample,
    )


def _agent(name: str, title: str, summaries: Sequence[SessionSummary]) -> AgentOverview:
    moments = [moment for s in summaries for moment in (s.started_at, s.ended_at) if moment]
    main = sum(summary.kind is SessionKind.MAIN for summary in summaries)
    return AgentOverview(
        agent=name,
        title=title,
        sessions=main,
        subagents=len(summaries) - main,
        projects=len({_project(summary) for summary in summaries}),
        bytes=_bytes(summaries),
        first=min(moments, default=None),
        last=max(moments, default=None),
    )


def _project(summary: SessionSummary) -> str:
    return summary.project.hash or summary.project.name


def _bytes(summaries: Iterable[SessionSummary]) -> int:
    # One file may hold several sessions; it is counted once.
    return sum({file.path: file.size for summary in summaries for file in summary.files}.values())
