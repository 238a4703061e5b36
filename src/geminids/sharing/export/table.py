"""The sessions of a folder, as every page that lists them tells of them. Times are UTC."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from geminids.sharing.export.base import Entry, Manner
from geminids.sharing.transcript import words
from geminids.sharing.transcript.labels import redacted_sentence

COLUMNS = ("Last", "Session", "Project", "Agent", "Prompts", "Tool calls", "Status")
_BEGINNING = datetime.min.replace(tzinfo=UTC)


class Row(NamedTuple):
    """What is told of one session, column by column."""

    last: str
    title: str
    note: str
    """What stands after the title, or nothing."""
    project: str
    agent: str
    prompts: int
    tool_calls: int
    status: str


def newest_first(entries: Iterable[Entry]) -> list[Entry]:
    """The sessions in the order of their last moments."""
    return sorted(entries, key=lambda entry: (last_moment(entry) or _BEGINNING, entry.file), reverse=True)


def last_moment(entry: Entry) -> datetime | None:
    """The last moment that is known of a session."""
    return entry.ended_at or entry.started_at


def row(entry: Entry, manner: Manner, *, shows_redaction: bool) -> Row:
    """A session as it is listed; where not all are alike, it tells whether it is redacted."""
    last = last_moment(entry)
    title = manner.names.get(entry.id) or entry.title
    mark = words.STATUS_MARKS.get(entry.status, ("", ""))[0]
    return Row(
        last=words.moment(last, UTC) if last else "no time",
        title=f"{words.KIND_MARKS.get(entry.kind, '')} {title}".strip(),
        note=_redacted(entry) if shows_redaction else "",
        project=entry.project,
        agent=manner.agent_titles.get(entry.agent, entry.agent),
        prompts=entry.prompts,
        tool_calls=entry.tool_calls,
        status=f"{mark} {entry.status}".strip(),
    )


def is_mixed(entries: Iterable[Entry]) -> bool:
    """Whether some sessions are redacted and others are not."""
    return len({entry.redacted for entry in entries}) > 1


def summary(entries: Sequence[Entry]) -> str:
    """How much there is of what."""
    return ", ".join(
        (
            words.count(len(entries), "session"),
            words.count(len({entry.project for entry in entries}), "project"),
            words.count(sum(entry.prompts for entry in entries), "prompt"),
            words.count(sum(entry.tool_calls for entry in entries), "tool call"),
        )
    )


def note(entries: Sequence[Entry], manner: Manner) -> str:
    """What is redacted, if anything is; what was hidden is only said if it is true of the whole folder."""
    redacted = sum(entry.redacted for entry in entries)
    if not redacted:
        return ""
    if redacted < len(entries):
        return redacted_sentence(f"{redacted:,} of {words.count(len(entries), 'session')}; each says whether")
    return redacted_sentence(manner.redacted or "all sessions")


def _redacted(entry: Entry) -> str:
    return "(redacted)" if entry.redacted else "(not redacted)"
