"""Rows of sessions, as `list` and the overview draw them, and what is said beside them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from geminids.cli import words
from geminids.cli.page import Page, Span
from geminids.cli.talk import say
from geminids.library import Library, project_name
from geminids.model import Problem, SessionKind, SessionSummary


def draw_table(page: Page, sessions: Sequence[SessionSummary], now: datetime) -> None:
    """Draw numbered rows for a terminal."""
    rows = [_row(number, session, now) for number, session in enumerate(sessions, start=1)]
    page.table((">#", "when", "project", "title", ">asked", ">calls", ""), rows, flexible=3)


def draw_lines(page: Page, sessions: Iterable[SessionSummary]) -> None:
    """Draw one line a session for a pipe: nothing cut, the title last."""
    page.table((), [_line(session) for session in sessions], flexible=0)


def remember(library: Library, sessions: Sequence[SessionSummary]) -> None:
    """Keep the order of what was shown, so that its numbers mean something to `show`."""
    try:
        library.remember(sessions)
    except OSError as error:
        say(f"The numbers of this list cannot be kept ({error.strerror}); give `show` an id instead.")


def tell_unreadable(problems: Sequence[Problem]) -> int:
    """Name each place that could not be read; the exit code that follows from it."""
    for problem in problems:
        say(f"Cannot read {words.path(problem.file)}: {problem.detail}")
    return 3 if problems else 0


def _row(number: int, session: SessionSummary, now: datetime) -> list[Span]:
    mark = words.STATUS_MARKS[session.status]
    damage = (" ⚠", "warning") if session.problems else ""
    return [
        (str(number), "quiet"),
        words.when(session.ended_at or session.started_at, now),
        (project_name(session.project), "human"),
        _title(session),
        str(session.counts.prompts),
        _calls(session),
        (mark[0] + damage[0], mark[1]) if damage else mark,
    ]


def _line(session: SessionSummary) -> list[Span]:
    at = session.ended_at or session.started_at
    return [
        session.id,
        f"{at.astimezone():%Y-%m-%dT%H:%M}" if at else "-",
        str(session.status),
        str(session.counts.prompts),
        str(session.counts.tool_calls),
        project_name(session.project),
        session.title or "",
    ]


def _title(session: SessionSummary) -> Span:
    if not session.title:
        return ("untitled", "quiet")
    return f"↳ {session.title}" if session.kind is SessionKind.SUBAGENT else session.title


def _calls(session: SessionSummary) -> str:
    return str(session.counts.tool_calls) if session.counts.tool_calls else ""
