"""All there is, in little."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from enum import StrEnum

import msgspec

from geminids.core.model import Problem, SessionKind, SessionSummary
from geminids.query.health.forecast import SOON, ForecastReport
from geminids.query.projects.report import ProjectReport
from geminids.query.sessions.ids import newest_last, short_ids
from geminids.query.sessions.listing import LED_BY_HUMANS, each_file_once

NEWEST = 5
MOST_PROJECTS = 5


class NextStep(StrEnum):
    """What a person may want to do next, the most pressing first."""

    SEE_FORECAST = "see-forecast"
    """See what an agent is about to delete of which no copy is kept."""
    READ_LOST = "read-lost"
    """Read what remains of a session that is gone."""
    SEE_DAMAGE = "see-damage"
    FIND_FOLDERS = "find-folders"
    """Look for the folders of projects that are known by a hash alone."""
    READ_NEWEST = "read-newest"


class AgentOverview(msgspec.Struct, frozen=True, kw_only=True):
    """What one agent has left."""

    agent: str
    title: str
    sessions: int
    subagents: int
    checkpoints: int
    lost: int
    projects: int
    bytes: int
    first: datetime | None
    last: datetime | None


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """What there is: counts per agent, projects, the newest sessions, what is lost or damaged, what next."""

    agents: tuple[AgentOverview, ...]
    projects: tuple[ProjectReport, ...]
    """Those last used, the last first."""
    project_count: int
    """How many there are; an agent counts those it worked in, others may have too."""
    newest: tuple[SessionSummary, ...]
    lost: tuple[SessionSummary, ...]
    """The newest sessions of which only the words remain that were typed."""
    unknown_folders: int
    """Projects that are known by a hash alone."""
    damaged_files: int
    problems: tuple[Problem, ...]
    """What could not be read at all."""
    homes: tuple[str, ...]
    next_step: NextStep | None
    next_id: str | None
    """The session that the next step is about, in as many letters as tell it apart."""
    left_unread: tuple[Problem, ...]
    """What is too large to be read for this."""
    sample: bool = False
    kept: int = 0
    """Sessions whose files are gone, and that are read from copies alone."""
    endangered: int = 0
    """Sessions that agents are going to delete within a week."""
    deleting: tuple[str, ...] = ()
    """The agents that are going to do so."""
    unkept: int = 0
    """Of how many of these sessions no copies are kept."""
    forecast: ForecastReport | None = None
    """All that agents are going to delete by themselves, the soonest first."""


def overview(
    summaries: Sequence[SessionSummary],
    projects: Sequence[ProjectReport],
    titles: dict[str, str],
    problems: Sequence[Problem],
    homes: Sequence[str],
    *,
    damaged_files: int,
    sample: bool,
    forecast: ForecastReport | None = None,
    now: datetime | None = None,
) -> Overview:
    """Sum up the sessions, agent by agent."""
    by_agent: dict[str, list[SessionSummary]] = {}
    for summary in summaries:
        by_agent.setdefault(summary.agent, []).append(summary)
    newest = sorted((s for s in summaries if s.kind in LED_BY_HUMANS), key=newest_last, reverse=True)
    lost = [summary for summary in newest if summary.kind is SessionKind.LOST]
    unknown = sum(report.project.path is None for report in projects)
    soon = forecast.sessions((now or datetime.now(UTC)) + SOON) if forecast else []
    unkept = sum(not one.kept for one in soon)
    step = _next_step(newest, lost, unkept, damaged_files, unknown)
    about = lost if step is NextStep.READ_LOST else newest
    return Overview(
        agents=tuple(
            _agent(name, titles.get(name, name), theirs, projects)
            for name, theirs in sorted(by_agent.items())
        ),
        projects=tuple(projects[:MOST_PROJECTS]),
        project_count=len(projects),
        newest=tuple(newest[:NEWEST]),
        lost=tuple(lost[:NEWEST]),
        unknown_folders=unknown,
        damaged_files=damaged_files,
        problems=tuple(problem for problem in problems if problem.is_unreadable),
        homes=tuple(homes),
        next_step=step,
        next_id=short_ids(s.native_id for s in summaries)[about[0].native_id] if about else None,
        left_unread=each_file_once(problem for problem in problems if not problem.is_damage),
        sample=sample,
        kept=sum(summary.kept for summary in newest),
        endangered=len(soon),
        deleting=tuple(sorted({one.first.agent for one in soon})),
        unkept=unkept,
        forecast=forecast,
    )


def _next_step(
    newest: Sequence[SessionSummary],
    lost: Sequence[SessionSummary],
    unkept: int,
    damaged_files: int,
    unknown: int,
) -> NextStep | None:
    """What helps most: what was lost is told until it is old news."""
    if unkept:
        return NextStep.SEE_FORECAST
    if lost and lost[0] in newest[:NEWEST]:
        return NextStep.READ_LOST
    if damaged_files:
        return NextStep.SEE_DAMAGE
    if unknown:
        return NextStep.FIND_FOLDERS
    return NextStep.READ_NEWEST if newest else None


def _agent(
    name: str, title: str, summaries: Sequence[SessionSummary], projects: Sequence[ProjectReport]
) -> AgentOverview:
    moments = [moment for s in summaries for moment in (s.started_at, s.ended_at) if moment]
    kinds = [summary.kind for summary in summaries]
    return AgentOverview(
        agent=name,
        title=title,
        sessions=kinds.count(SessionKind.MAIN),
        subagents=kinds.count(SessionKind.SUBAGENT),
        checkpoints=kinds.count(SessionKind.CHECKPOINT),
        lost=kinds.count(SessionKind.LOST),
        projects=sum(name in report.agents for report in projects),
        bytes=_bytes(summaries),
        first=min(moments, default=None),
        last=max(moments, default=None),
    )


def _bytes(summaries: Iterable[SessionSummary]) -> int:
    # One file may hold several sessions; it is counted once.
    return sum({file.path: file.size for summary in summaries for file in summary.files}.values())
