"""`usage`: what sessions used and cost, in groups."""

from __future__ import annotations

from shlex import join
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from geminids.faces.documents.recalled import UsageAnswer, UsageGroup
from geminids.faces.documents.tokens import used_tokens
from geminids.faces.mcp import told
from geminids.faces.mcp.asked import MOST_WORDS, Asked
from geminids.faces.mcp.desk import Desk
from geminids.faces.mcp.pages import next_of, start_of
from geminids.faces.mcp.room import size, that_fit
from geminids.query.usage.figures import Figures
from geminids.query.usage.stats import TIMES, StatsQuestion

Group = Literal["day", "week", "month", "model", "agent", "project", "session", "tool"]


class AskedForUsage(Asked, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which sessions, and how they are grouped."""

    by: Annotated[Group, Meta(description="How figures are grouped.")] = "day"
    since: Annotated[str, Meta(description="Only after this time: today, 7d, 2026-05.", max_length=100)] = ""
    project: Annotated[
        str, Meta(description="Only this project: a folder or name; `.` for this one.", max_length=MOST_WORDS)
    ] = ""
    agent: Annotated[str, Meta(description="Only sessions of this agent.", max_length=100)] = ""


def usage(desk: Desk, asked: AskedForUsage, room: int) -> UsageAnswer:
    """What sessions used and cost."""
    start = start_of(asked.after)
    project = (desk.here or asked.project) if asked.project == "." else asked.project
    question = StatsQuestion(
        by=asked.by,
        since=asked.since or None,
        project=project or None,
        agents=(asked.agent,) if asked.agent else (),
    )
    found = desk.library.stats(question, desk.now)
    every = list(reversed(found.groups)) if asked.by in TIMES else list(found.groups)
    answer = UsageAnswer(
        note="Tokens and list prices, as far as agents recorded them.",
        by=asked.by,
        total=_group("all", "all", found.total, asked.by),
        groups=(),
        show=_command(asked, project),
    )
    groups = [_group(one.key, one.name, one.figures, asked.by) for one in every[start:]]
    number = max(1, that_fit(groups, room - size(answer, told.usage(answer)), told.usage_group))
    following = next_of(start, number, len(every))
    return msgspec.structs.replace(answer, groups=groups[:number], next=following)


def _command(asked: AskedForUsage, project: str) -> str:
    given = (("--since", asked.since), ("--project", project), ("--agent", asked.agent))
    options = [word for name, value in given if value for word in (name, value)]
    return join(["geminids", "stats", "--by", asked.by, *options])


def _group(key: str, name: str, figures: Figures, by: str) -> UsageGroup:
    told_of = figures.by_name(by)
    tokens = told_of["tokens"]
    return UsageGroup(
        key=key,
        name=name,
        sessions=figures.sessions,
        prompts=told_of["prompts"],
        calls=told_of["calls"],
        errors=told_of["errors"],
        tokens=used_tokens(tokens) if tokens else None,
        incomplete=figures.incomplete,
    )
