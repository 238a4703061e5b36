"""Which sessions a list shows, in which order, and what it leaves out."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path

import msgspec

from geminids.config import expanded
from geminids.model import Problem, Project, SessionKind, SessionSummary
from geminids.query.moments import FIRST

_SEPARATOR = re.compile(r"[/\\]")
HASH_PREFIX = re.compile(r"[0-9a-f]{4,64}")


class Filter(msgspec.Struct, frozen=True, kw_only=True):
    """What a person wants to see; None and empty ask for everything."""

    kind: SessionKind | None = None
    project: str | None = None
    since: datetime | None = None
    until: datetime | None = None


class Listing(msgspec.Struct, frozen=True):
    """The sessions that were asked for, newest first, and what was left out."""

    sessions: tuple[SessionSummary, ...]
    considered: int
    """How many sessions there are of the kind that was asked for."""
    hidden: dict[str, int]
    """How many sessions a filter hid, by the filter's name."""
    projects: tuple[str, ...]
    """The names of all projects there are, whatever was asked for."""
    problems: tuple[Problem, ...]
    """What could not be read at all."""

    def nearest_projects(self, wanted: str) -> list[str]:
        """Names of projects that look like this one, or else a few of those there are."""
        from difflib import get_close_matches

        near = get_close_matches(wanted.casefold(), self.projects, n=3, cutoff=0.5)
        return near or list(self.projects[:5])


def listing(summaries: Iterable[SessionSummary], wanted: Filter, problems: Sequence[Problem] = ()) -> Listing:
    """Sort the sessions into those that were asked for and those that were not."""
    shown: list[SessionSummary] = []
    hidden: Counter[str] = Counter()
    projects: set[str] = set()
    considered = 0
    for summary in summaries:
        considered += wanted.kind in (None, summary.kind)
        projects.add(summary.project.name)
        if reason := _hidden_by(summary, wanted):
            hidden[reason] += 1
        else:
            shown.append(summary)
    shown.sort(key=newest_last, reverse=True)
    return Listing(tuple(shown), considered, dict(hidden), tuple(sorted(projects)), tuple(problems))


def newest_last(summary: SessionSummary) -> tuple[datetime, str]:
    """The order of time; a session without any time comes before all others."""
    return (summary.last_at or FIRST, summary.id)


def project_names(projects: Iterable[Project]) -> dict[Project, str]:
    """What to call each project where several stand together: namesakes by the folder above them too."""
    different: dict[str, set[str | None]] = {}
    for project in (known := list(projects)):
        different.setdefault(project.name, set()).add(project.path or project.hash)
    return {
        project: project.name if len(different[project.name]) == 1 else _longer_name(project)
        for project in known
    }


def _longer_name(project: Project) -> str:
    if project.path:
        return "/".join(_SEPARATOR.split(project.path.rstrip("/\\"))[-2:])
    return f"{project.name} ({project.hash[:8]})" if project.hash else project.name


def is_of_project(project: Project, wanted: str) -> bool:
    """Whether a project is meant by a name (or a piece of one), a path, a slug or the beginning of a hash."""
    if _is_path(wanted):
        is_end = bool(project.path and project.path.endswith(f"/{wanted.strip('/')}"))
        return is_end or _is_at_or_below(project, expanded(wanted))
    text = wanted.casefold()
    if text in project.name.casefold() or (project.slug and text in project.slug.casefold()):
        return True
    return bool(project.hash and HASH_PREFIX.fullmatch(text) and project.hash.startswith(text))


def _is_path(wanted: str) -> bool:
    return wanted in {".", "..", "~"} or "/" in wanted or os.sep in wanted


def _is_at_or_below(project: Project, folder: Path) -> bool:
    from hashlib import sha256

    # Agents hash the path as the shell spells it, which may lead through links; we know both spellings.
    for spelling in {os.path.abspath(folder), os.path.realpath(folder)}:  # noqa: PTH100
        if project.hash == sha256(os.fsencode(spelling)).hexdigest():
            return True
        if project.path and Path(project.path).is_relative_to(spelling):
            return True
    return False


def _hidden_by(summary: SessionSummary, wanted: Filter) -> str | None:
    if wanted.project is not None and not is_of_project(summary.project, wanted.project):
        return "project"
    if wanted.since and (summary.last_at or FIRST) < wanted.since:
        return "since"
    if wanted.until and (summary.started_at is None or summary.started_at >= wanted.until):
        return "until"
    if wanted.kind and summary.kind is not wanted.kind:
        return "kind"
    return None
