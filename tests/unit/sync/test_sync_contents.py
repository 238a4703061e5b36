"""The index says what the files say: compared with a plain reading of every fixture."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from geminids.core.model import Message, Problem, Project, Session, SessionSummary
from geminids.library import Library
from geminids.query.sessions.homes_reader import HomesReader
from geminids.storage.codec.packed import unpacked
from geminids.storage.codec.rows import own_titles
from geminids.storage.codec.texts import words
from geminids.storage.index.schema import COLUMNS
from geminids.storage.times import microseconds
from geminids.sync.intake import BESIDE_LIMIT
from tests.conftest import FIXTURES, RecordProperty
from tests.support.full_text import FullText
from tests.support.indexes import Connected, index_file

HOMES = sorted((FIXTURES / "gemini").glob("*/home"))
COLUMN = COLUMNS[0]


class Plain:
    """What some homes hold, read without any index."""

    def __init__(self, library: Library) -> None:
        stock = HomesReader(library._context.homes)
        readings = list(stock.readings(limit=BESIDE_LIMIT))
        self.sessions: list[Session] = [session for reading in readings for session in reading.sessions]
        self.problems: set[Problem] = {problem for reading in readings for problem in reading.problems}
        self.problems.update(problem for scan in stock.scans for problem in scan.problems)

    def messages(self) -> Iterator[tuple[Session, int, Message]]:
        """Every message, and its place in its session."""
        for session in self.sessions:
            for place, message in enumerate(session.messages):
                yield session, place, message


class Kept:
    """What the index holds, asked with SQL of our own."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def summaries(self) -> list[SessionSummary]:
        """Sessions as they were packed."""
        rows = self._database.execute("SELECT summary FROM sessions ORDER BY sid, file")
        return [unpacked(summary, SessionSummary) for (summary,) in rows]

    def facts(self) -> list[tuple[object, ...]]:
        """Sessions as a list shows them."""
        return self._database.execute(
            "SELECT sid, kind, parent_id, title, status, started, ended, prompts, replies, tool_calls, "
            "tool_errors, dropped, file, problems, told_path, told_hash, told_slug, told_certain "
            "FROM sessions JOIN projects ON projects.id = project ORDER BY sid, file"
        ).fetchall()

    def messages(self) -> list[tuple[object, ...]]:
        """Messages in their order."""
        return self._database.execute(
            "SELECT sid, file, place, mid, role, origin, state, imported, at, name FROM messages "
            "JOIN sessions ON sessions.id = session LEFT JOIN names ON names.id = model "
            "ORDER BY sid, file, place"
        ).fetchall()

    def calls(self) -> set[tuple[object, ...]]:
        """Which tools messages called, and what came of it."""
        rows = self._database.execute(
            "SELECT sid, file, place, name, calls.status FROM calls JOIN messages ON messages.id = message "
            "JOIN sessions ON sessions.id = session JOIN names ON names.id = tool"
        )
        return set(rows)

    def words(self) -> dict[tuple[object, ...], list[str]]:
        """The words of each message and column in their order, as FTS5 knows them."""
        self._database.execute("CREATE VIRTUAL TABLE temp.seen USING fts5vocab (main, texts, 'instance')")
        rows = self._database.execute(
            "SELECT sid, file, place, col, term FROM temp.seen JOIN messages ON messages.id = doc "
            "JOIN sessions ON sessions.id = session ORDER BY doc, col, offset"
        )
        found: dict[tuple[object, ...], list[str]] = {}
        for *where, term in rows:
            found.setdefault(tuple(where), []).append(term)
        return found


def _facts(session: Session) -> tuple[object, ...]:
    counts, project = session.counts, session.project
    return (
        session.id,
        session.kind.value,
        session.parent_id,
        session.title,
        session.status.value,
        microseconds(session.started_at),
        microseconds(session.ended_at),
        counts.prompts,
        counts.replies,
        counts.tool_calls,
        counts.tool_errors,
        counts.dropped,
        session.file,
        len(session.problems),
        project.path,
        project.hash,
        project.slug,
        int(project.certain),
    )


def _message_facts(session: Session, place: int, message: Message) -> tuple[object, ...]:
    return (
        session.id,
        session.file,
        place,
        message.id,
        message.role.value,
        message.origin.value,
        message.state.value,
        int(message.imported),
        microseconds(message.at),
        message.model,
    )


def _words(plain: Plain) -> dict[tuple[object, ...], list[str]]:
    where, texts = [], []
    for session, place, message in plain.messages():
        title = "" if place else own_titles(session, session.messages)
        for column, text in zip(COLUMNS, words(message, title), strict=True):
            where.append((session.id, session.file, place, column))
            texts.append({COLUMN: text})
    with FullText(texts) as full_text:
        found = dict(zip(where, full_text.words(), strict=True))
    return {key: terms for key, terms in found.items() if terms}


def _in_order(session: Session) -> tuple[str, str]:
    return session.id, session.file or ""


@pytest.mark.slow
@pytest.mark.parametrize("home", [*HOMES, None], ids=lambda home: home.parent.name if home else "all")
def test_the_index_holds_what_the_files_hold(
    home: Path | None, tmp_path: Path, record_property: RecordProperty
) -> None:
    homes = [home] if home else HOMES
    with Library(homes, tmp_path) as library:
        assert not library.sync().failed
        listed = library.sessions()
        problems = library.problems()
        plain = Plain(library)
    plain.sessions.sort(key=_in_order)
    with Connected(index_file(homes, tmp_path)) as database:
        kept = Kept(database)
        assert kept.summaries() == [session.without_messages() for session in plain.sessions]
        assert kept.facts() == [_facts(session) for session in plain.sessions]
        assert kept.messages() == [_message_facts(*each) for each in plain.messages()]
        assert kept.calls() == {
            (session.id, session.file, place, call.name, call.status.value)
            for session, place, message in plain.messages()
            for call in message.tool_calls
        }
        assert kept.words() == _words(plain)
    assert set(problems) == plain.problems
    assert sorted(summary.id for summary in listed) == [session.id for session in plain.sessions]
    assert {_told(summary.project) for summary in listed} == {_told(s.project) for s in plain.sessions}
    if home is None:
        messages = sum(len(session.messages) for session in plain.sessions)
        record_property("counts", f"index: {len(listed)} sessions, {messages} messages equal the files")


def _told(project: Project) -> str | None:
    return project.hash or project.slug
