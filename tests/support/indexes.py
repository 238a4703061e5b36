"""What an index says, without the numbers that depend on when what was read; and what a new one would say."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from geminids.library import Library
from geminids.storage.index.schema import USAGE
from geminids.storage.index.usage import SUMS
from tests.support.connections import to_be_closed

Dump = dict[str, list[str]]

_SHELF = "shelves.agent || ' ' || shelves.key"
_OF_SESSIONS = "JOIN sessions ON sessions.id = session"
_OF_MESSAGES = "JOIN messages ON messages.id = message JOIN sessions ON sessions.id = messages.session"
_TOKENS = ", ".join(USAGE)
_QUESTIONS = {
    "meta": "SELECT name, value FROM meta WHERE name NOT IN ('dead', 'last message', 'numbered', 'kept')",
    "folders": f"SELECT path, folders.agent, footprint, {_SHELF} "
    "FROM folders LEFT JOIN shelves ON shelves.id = shelf",
    "shelves": "SELECT agent, key, companions, told_path, told_hash, told_slug, told_by, told_certain "
    "FROM shelves JOIN projects ON projects.id = project",
    "bundles": f"SELECT {_SHELF}, bundles.key, stamp FROM bundles JOIN shelves ON shelves.id = shelf",
    "problems": f'SELECT {_SHELF}, bundles.key, file, kind, detail, line, start, "end" FROM problems '
    "LEFT JOIN bundles ON bundles.id = bundle LEFT JOIN shelves ON shelves.id = shelf",
    "fates": f"SELECT {_SHELF}, bundles.key, path, used, traits FROM fates JOIN files ON files.id = file "
    "JOIN bundles ON bundles.id = bundle JOIN shelves ON shelves.id = shelf",
    "projects": "SELECT told_path, told_hash, told_slug, told_by, told_certain, "
    "path, slug, known_by, certain FROM projects",
    "sessions": f"SELECT {_SHELF}, bundles.key, sid, sessions.agent, native_id, kind, parent_id, "
    "told_path, told_hash, told_slug, title, status, started, ended, last, prompts, replies, tool_calls, "
    "tool_errors, dropped, file, problems, kept, summary, trace FROM sessions "
    "JOIN bundles ON bundles.id = bundle JOIN shelves ON shelves.id = shelf "
    "JOIN projects ON projects.id = sessions.project",
    "messages": "SELECT sid, file, place, mid, role, messages.origin, state, imported, at, name, spans "
    "FROM messages JOIN sessions ON sessions.id = session LEFT JOIN names ON names.id = model",
    "calls": f"SELECT sid, file, place, name, calls.status, number FROM calls {_OF_MESSAGES} "
    "JOIN names ON names.id = tool",
    "requests": f"SELECT sid, file, place, key, requests, {_TOKENS} FROM requests {_OF_MESSAGES}",
    "estimates": f"SELECT sid, file, place, input, output FROM estimates {_OF_MESSAGES}",
    "changes": f"SELECT sid, sessions.file, place, path, name, added, removed FROM changes {_OF_MESSAGES} "
    "JOIN names ON names.id = tool JOIN files ON files.id = changes.file",
    "days": "SELECT sid, file, day, subagent, days.prompts, days.replies, active, calls, errors, cancelled, "
    f"added, removed FROM days {_OF_SESSIONS}",
    "spent": f"SELECT sid, file, day, name, band, requests, unmeasured, {_TOKENS} FROM spent {_OF_SESSIONS} "
    "LEFT JOIN names ON names.id = model",
    "day totals": "SELECT * FROM day_totals",
    "spent totals": f"SELECT day, name, band, requests, unmeasured, {_TOKENS} FROM spent_totals "
    "LEFT JOIN names ON names.id = model",
    "estimated": f"SELECT sid, file, day, band, requests, input, output FROM estimated {_OF_SESSIONS}",
    "called": f"SELECT sid, file, day, name, calls, errors, cancelled FROM called {_OF_SESSIONS} "
    "JOIN names ON names.id = tool",
    "changed": f"SELECT sid, sessions.file, day, path, added, removed FROM changed {_OF_SESSIONS} "
    "JOIN files ON files.id = changed.file",
    "words": "SELECT sid, file, place, col, offset, term FROM temp.instances "
    "JOIN messages ON messages.id = doc JOIN sessions ON sessions.id = session",
    "orphans": "SELECT 'message', id FROM messages WHERE session NOT IN (SELECT id FROM sessions) "
    + "".join(
        f"UNION ALL SELECT '{table}', message FROM {table} WHERE message NOT IN (SELECT id FROM messages) "
        for table in ("calls", "changes", "requests", "estimates")
    )
    + "".join(
        f"UNION ALL SELECT '{table}', session FROM {table} WHERE session NOT IN (SELECT id FROM sessions) "
        for table in SUMS
    )
    + "UNION ALL SELECT 'session', id FROM sessions WHERE bundle NOT IN (SELECT id FROM bundles) "
    "UNION ALL SELECT 'bundle', id FROM bundles WHERE shelf NOT IN (SELECT id FROM shelves)",
}


def index_file(homes: Iterable[Path], data: Path) -> Path:
    """The complete index of some homes in a data folder."""
    place = to_be_closed(Library(list(homes), data))._context.place()
    file = place and place.current()
    assert file
    return Path(file)


def dump(homes: Iterable[Path], data: Path) -> Dump:
    """All that the index of some homes says, in an order of its own."""
    with Connected(index_file(homes, data)) as database:
        return dump_of(database)


def dump_of(database: sqlite3.Connection) -> Dump:
    """The same of an open index."""
    database.execute("CREATE VIRTUAL TABLE temp.instances USING fts5vocab (main, texts, 'instance')")
    try:
        files = dict(database.execute("SELECT id, path FROM files"))
        found = {name: database.execute(sql).fetchall() for name, sql in _QUESTIONS.items()}
    finally:
        database.execute("DROP TABLE temp.instances")
    found["messages"] = [(*row[:-1], _places(row[-1], files)) for row in found["messages"]]
    return {name: sorted(map(repr, rows)) for name, rows in found.items()}


def _places(spans: str, files: dict[int, Any]) -> Sequence[object]:
    parts = (span.split(":") for span in spans.split())
    return [(files[int(file)], start, end) for file, start, end in parts]


class Connected:
    """A while in which a database is open, as SQLite alone sees it."""

    def __init__(self, file: Path) -> None:
        self._database = sqlite3.connect(file, isolation_level=None)

    def __enter__(self) -> sqlite3.Connection:
        return self._database

    def __exit__(self, *_: object) -> None:
        self._database.close()


def fresh_dump(homes: Sequence[Path], data: Path, new_data: Path) -> Dump:
    """What an index made from nothing says, by somebody who remembers the same."""
    if new_data.exists():
        shutil.rmtree(new_data)
    shutil.copytree(data, new_data, ignore=lambda *_: ["index"])
    sync(homes, new_data, full=True)
    return dump(homes, new_data)


def sync(homes: Iterable[Path], data: Path, *, full: bool = False) -> None:
    """Bring an index up to date."""
    with Library(list(homes), data) as library:
        outcome = library.sync(full=full)
    assert not outcome.failed, outcome


def differences(one: Dump, other: Dump) -> dict[str, list[str]]:
    """What only one of them says, each line with a sign."""
    return {
        name: [f"- {line}" for line in sorted(set(one[name]) - set(other[name]))]
        + [f"+ {line}" for line in sorted(set(other[name]) - set(one[name]))]
        + ([] if len(one[name]) == len(other[name]) else [f"{len(one[name])} != {len(other[name])}"])
        for name in one
        if one[name] != other[name]
    }


def assert_equals_a_fresh_build(homes: Sequence[Path], data: Path, new_data: Path) -> Dump:
    """Compare an index with one made from nothing; what it says."""
    found = dump(homes, data)
    wrong = differences(found, fresh_dump(homes, data, new_data))
    assert not wrong, "\n".join(f"{name}\n" + "\n".join(lines[:9]) for name, lines in wrong.items())
    assert not found["orphans"], found["orphans"]
    return found


def hits(home: Path, data: Path, word: str) -> int:
    """In how many messages a word stands."""
    sql = "SELECT count(*) FROM texts JOIN messages ON messages.id = texts.rowid WHERE texts MATCH ?"
    with Connected(index_file([home], data)) as database:
        return int(database.execute(sql, (word,)).fetchone()[0])
