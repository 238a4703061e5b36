"""The SQL of searches: plain values in, plain values out.

Rows of `texts` whose message is gone stay there, so whoever asks for messages joins `messages`. What narrows
a search is a list of `Condition`s over the message (`m`) and its session (`s`), all of which must hold.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from geminids.core.values import NamedTuple
from geminids.storage.index.database import DamagedValueError, Index
from geminids.storage.index.reader import Condition, session_kinds
from geminids.storage.index.schema import COLUMNS
from geminids.storage.paths import opened
from geminids.storage.times import moment

WINDOW = 5_000
"""So many matches are ranked, the newest of them: a word that everybody uses must not take a second."""
_WEIGHT = {
    "human": 4.0,
    "model": 3.0,
    "path": 2.0,
    "thought": 1.5,
    "tool": 1.5,
    "output": 0.7,
    "other": 0.5,
}
WEIGHTS = tuple(_WEIGHT[column] for column in COLUMNS)
"""How much a match counts in each column: words meant for somebody above those that a tool printed."""
DROPPED = "('rewound', 'failed', 'cancelled', 'superseded')"
"""States of messages that no longer belong to the conversation. A compressed one still does, to people."""
_WORTH = f"""
    CASE WHEN m.imported OR s.kind IN ('checkpoint', 'copy') THEN 0.5
        WHEN s.kind = 'subagent' THEN 0.8 ELSE 1 END
    * CASE WHEN m.state IN {DROPPED} THEN 0.5 ELSE 1 END
    * (1 + 0.25 / (1 + (? - coalesce(s.last, 0)) / 2.592e12))
"""
"""How much a match counts for what it is: originals more than copies, what was kept more than what was
dropped, and a session of today a quarter more than one that is long past; half of that is lost in a month."""


_FEW = 1_000
"""Messages that are looked up one by one; of more, all of their sessions are gone through."""

Match = tuple[float, int, int]
"""A message that matches: how well, its number, and in which columns, as bits."""


class Worth(NamedTuple):
    """How much a match counts for what its message is, and what its session is called."""

    message: int
    session: int
    worth: float
    title: str | None
    project: int


class MessageRow(NamedTuple):
    """What is shown of a message, and where it stands."""

    number: int
    session: int
    place: int
    id: str
    role: str
    origin: str
    state: str
    imported: int
    at: datetime | None
    model: str | None
    spans: str
    """Where it stands: file:start:end, with blanks between."""


# Conditions


NOTHING = Condition("0")
"""What no message fulfils."""


def together(any_of: Sequence[Condition], none_of: Sequence[Condition]) -> Condition:
    """One of the first, if there are any, and none of the others."""
    all_of = [condition.negated() for condition in none_of]
    if any_of:
        sql = " OR ".join(f"({condition.sql})" for condition in any_of)
        all_of.insert(0, Condition(f"({sql})", values_of(any_of)))
    return Condition(" AND ".join(condition.sql for condition in all_of), values_of(all_of))


def calls_one_of(tools: Sequence[int]) -> Condition:
    """A message that calls one of these tools."""
    marks = ", ".join("?" * len(tools))
    return Condition(f"EXISTS (SELECT 1 FROM calls WHERE message = m.id AND tool IN ({marks}))", tuple(tools))


def in_hour(weekday: int | None, hour: int | None) -> Condition:
    """A message of a weekday (0 is Monday), of an hour, or both, in local time."""
    local = "m.at / 1000000, 'unixepoch', 'localtime'"
    asked = {
        f"(strftime('%w', {local}) + 6) % 7": weekday,
        f"CAST(strftime('%H', {local}) AS INTEGER)": hour,
    }
    wanted = {sql: number for sql, number in asked.items() if number is not None}
    return Condition(" AND ".join(f"{sql} = ?" for sql in wanted), tuple(wanted.values()))


def not_before(moment: int) -> Condition:
    """A message of this time or later; the session's time stands for one that is not known."""
    return Condition("coalesce(m.at, s.last) >= ?", (moment,))


def before(moment: int) -> Condition:
    """A message from before this time."""
    return Condition("coalesce(m.at, s.last) < ?", (moment,))


def says(match: str) -> Condition:
    """A message that matches, whatever else is looked for."""
    return Condition("m.id IN (SELECT rowid FROM texts WHERE texts MATCH ?)", (match,))


FAILED_CALL = Condition("EXISTS (SELECT 1 FROM calls WHERE message = m.id AND status = 'error')")
"""A message with a call that failed."""


# Matches


def newest_scored(
    index: Index, match: str, conditions: Sequence[Condition], most: int = WINDOW
) -> list[Match]:
    """The newest messages that match, `most` of them, and how well their words fit; newest first."""
    return index.connection.execute(
        f"SELECT -bm25(texts, {_numbers(WEIGHTS)}), texts.rowid, "
        f"{_COLUMN_BITS} FROM {_living(index, conditions)} "
        f"WHERE texts MATCH ?{all_hold(conditions)} ORDER BY texts.rowid DESC LIMIT {most}",
        (match, *values_of(conditions)),
    ).fetchall()


def matching_between(index: Index, match: str, first: int, last: int) -> set[int]:
    """The rows from one message to another that match, gone ones included."""
    rows = index.connection.execute(
        "SELECT rowid FROM texts WHERE texts MATCH ? AND rowid BETWEEN ? AND ?", (match, first, last)
    )
    return {number for (number,) in rows}


def newest_matches(index: Index, match: str, conditions: Sequence[Condition], most: int) -> list[int]:
    """The newest messages that match, however well they do."""
    rows = index.connection.execute(
        f"SELECT texts.rowid FROM {_living(index, conditions)} WHERE texts MATCH ?{all_hold(conditions)} "
        f"ORDER BY texts.rowid DESC LIMIT {most}",
        (match, *values_of(conditions)),
    )
    return [number for (number,) in rows]


def newest(index: Index, conditions: Sequence[Condition]) -> list[Match]:
    """The messages of the newest sessions, whatever they say: at most WINDOW of them."""
    return index.connection.execute(
        "SELECT 0.0, m.id, 0 FROM sessions AS s CROSS JOIN messages AS m ON m.session = s.id "
        f"WHERE 1{all_hold(conditions)} ORDER BY s.last DESC LIMIT {WINDOW}",
        values_of(conditions),
    ).fetchall()


def worths(index: Index, messages: Iterable[int]) -> dict[int, Worth]:
    """How much a match counts for what each of these messages is."""
    wanted = list(messages)
    rows = index.connection.execute(
        f"SELECT m.id, m.session, {_WORTH}, s.title, s.project "
        "FROM messages AS m JOIN sessions AS s ON s.id = m.session "
        f"WHERE m.id IN ({_numbers(wanted)})",
        (newest_moment(index),),
    )
    found = {row[0]: Worth._make(row) for row in rows}
    if len(found) < len(wanted):
        raise DamagedValueError("the full text knows messages that are not there")
    return found


def sessions_of(index: Index, messages: Iterable[int]) -> dict[int, int]:
    """The sessions of messages."""
    rows = index.connection.execute(f"SELECT id, session FROM messages WHERE id IN ({_numbers(messages)})")
    return dict(rows.fetchall())


def messages_of(
    index: Index, sessions: Sequence[int], matches: Collection[int]
) -> dict[int, dict[int, bool]]:
    """Those of some messages that are of these sessions, by session, and whether each of them was kept."""
    found: dict[int, dict[int, bool]] = {session: {} for session in sessions}
    few = f" AND id IN ({_numbers(matches)})" if len(matches) <= _FEW else ""
    for session, message, is_kept in index.connection.execute(
        f"SELECT session, id, state NOT IN {DROPPED} FROM messages "
        f"WHERE {'+' if few else ''}session IN ({_numbers(sessions)}){few}"
    ):
        if message in matches:
            found[session][message] = bool(is_kept)
    return found


def sessions_with(index: Index, sessions: Sequence[int], conditions: Sequence[Condition]) -> set[int]:
    """Those of some sessions that have a message of which all of this is true."""
    rows = index.connection.execute(
        "SELECT DISTINCT s.id FROM sessions AS s CROSS JOIN messages AS m ON m.session = s.id "
        f"WHERE s.id IN ({_numbers(sessions)}){all_hold(conditions)}",
        values_of(conditions),
    )
    return {number for (number,) in rows}


def last_moments(index: Index, sessions: Iterable[int]) -> dict[int, int]:
    """The last time that is known of these sessions."""
    rows = index.connection.execute(
        f"SELECT id, coalesce(last, 0) FROM sessions WHERE id IN ({_numbers(sessions)})"
    )
    return dict(rows.fetchall())


def count(index: Index, match: str | None, conditions: Sequence[Condition], counted: str = "message") -> int:
    """How many messages match, or of how many sessions they are; up to WINDOW messages are looked at."""
    texts = _TEXTS if match else "messages AS m"
    row = index.connection.execute(
        f"SELECT count(DISTINCT {counted}) FROM "
        f"(SELECT m.id AS message, m.session AS session FROM {texts} "
        "CROSS JOIN sessions AS s ON s.id = m.session "
        f"WHERE {'texts MATCH ?' if match else 1}{all_hold(conditions)} LIMIT {WINDOW})",
        (*([match] if match else []), *values_of(conditions)),
    ).fetchone()
    return int(row[0])


def newest_sessions(index: Index, match: str, conditions: Sequence[Condition]) -> tuple[list[int], bool]:
    """Sessions in which some message matches, those taken in last first, and whether they are all."""
    rows = index.connection.execute(
        f"SELECT m.session FROM {_TEXTS} CROSS JOIN sessions AS s ON s.id = m.session "
        f"WHERE texts MATCH ?{all_hold(conditions)} ORDER BY texts.rowid DESC LIMIT {WINDOW}",
        (match, *values_of(conditions)),
    ).fetchall()
    return list(dict.fromkeys(number for (number,) in rows)), len(rows) < WINDOW


def sessions_of_projects(index: Index, projects: Sequence[int], conditions: Sequence[Condition]) -> list[int]:
    """The sessions of projects that people led, and of which all of this is true; the newest first."""
    having = f" AND EXISTS (SELECT 1 FROM messages AS m WHERE m.session = s.id{all_hold(conditions)})"
    rows = index.connection.execute(
        f"SELECT s.id FROM sessions AS s WHERE s.project IN ({_numbers(projects)}) "
        f"AND s.kind IN ('main', 'lost'){having if conditions else ''} ORDER BY s.last DESC, s.id DESC",
        values_of(conditions),
    )
    return [number for (number,) in rows]


def every_session(index: Index, match: str | None, conditions: Sequence[Condition]) -> list[int]:
    """All sessions in which some message matches, however many there are, the newest first."""
    texts = _TEXTS if match else "messages AS m"
    rows = index.connection.execute(
        f"SELECT DISTINCT s.id FROM {texts} CROSS JOIN sessions AS s ON s.id = m.session "
        f"WHERE {'texts MATCH ?' if match else 1}{all_hold(conditions)} ORDER BY s.last DESC, s.sid DESC",
        (*([match] if match else []), *values_of(conditions)),
    )
    return [number for (number,) in rows]


def is_in_session(index: Index, match: str, session: int, conditions: Sequence[Condition]) -> bool:
    """Whether some message of a session matches."""
    # Its messages were taken in together, so nearly all of the full text can be left out.
    row = index.connection.execute(
        f"SELECT 1 FROM {_TEXTS} CROSS JOIN sessions AS s ON s.id = m.session WHERE texts MATCH ? "
        "AND texts.rowid BETWEEN (SELECT min(id) FROM messages WHERE session = ?) "
        "AND (SELECT max(id) FROM messages WHERE session = ?) "
        f"AND m.session = ?{all_hold(conditions)} LIMIT 1",
        (match, session, session, session, *values_of(conditions)),
    ).fetchone()
    return row is not None


# What is shown of them


def message_rows(index: Index, numbers: Iterable[int]) -> dict[int, MessageRow]:
    """What is shown of these messages."""
    return _message_rows(index, f"m.id IN ({_numbers(numbers)})")


def messages_at(index: Index, session: int, places: Iterable[int]) -> dict[int, MessageRow]:
    """The same for messages of one session, by their places in it."""
    return _message_rows(index, f"m.session = {int(session)} AND m.place IN ({_numbers(places)})")


def tools_of(index: Index, messages: Iterable[int]) -> dict[int, tuple[str, ...]]:
    """The names of the tools that these messages call."""
    found: dict[int, tuple[str, ...]] = {}
    for message, name in index.connection.execute(
        "SELECT DISTINCT message, name FROM calls JOIN names ON names.id = tool "
        f"WHERE message IN ({_numbers(messages)})"
    ):
        found[message] = (*found.get(message, ()), name)
    return found


def file_paths(index: Index, numbers: Iterable[int]) -> dict[int, str]:
    """Where these files are."""
    rows = index.connection.execute(f"SELECT id, path FROM files WHERE id IN ({_numbers(numbers)})")
    return {number: opened(path) for number, path in rows}


# What there is


def agents(index: Index) -> list[str]:
    """The agents that have sessions."""
    return [agent for (agent,) in index.connection.execute("SELECT DISTINCT agent FROM sessions ORDER BY 1")]


def tools(index: Index) -> dict[str, int]:
    """The numbers of the tools that were called, by their names."""
    return dict(
        index.connection.execute(
            "SELECT name, id FROM names WHERE id IN (SELECT DISTINCT tool FROM calls) ORDER BY name"
        ).fetchall()
    )


def models(index: Index) -> dict[str, int]:
    """The numbers of the models that answered, by their names."""
    return dict(
        index.connection.execute(
            "SELECT name, id FROM names WHERE id IN (SELECT DISTINCT model FROM messages) ORDER BY name"
        ).fetchall()
    )


def extent(index: Index) -> tuple[dict[str, int], int]:
    """How many sessions of each kind there are, and how many messages."""
    # Counting the messages themselves would take longer than many a search.
    return session_kinds(index), int(index.meta("numbered") or 0) - int(index.meta("dead") or 0)


def newest_moment(index: Index) -> int:
    """The last time that any session has."""
    (last,) = index.connection.execute("SELECT max(last) FROM sessions").fetchone()
    return int(last or 0)


# Vocabulary


def is_anywhere(index: Index, match: str) -> bool:
    """Whether anything matches, gone messages included: good enough for a suggestion."""
    row = index.connection.execute("SELECT 1 FROM texts WHERE texts MATCH ? LIMIT 1", (match,)).fetchone()
    return row is not None


def occurs(index: Index, term: str) -> bool:
    """Whether any message has this word."""
    row = index.connection.execute("SELECT 1 FROM vocabulary WHERE term = ?", (term,)).fetchone()
    return row is not None


def messages_with(index: Index, terms: Sequence[str]) -> dict[str, int]:
    """Those of some words that occur, and in how many messages each."""
    rows = index.connection.execute(
        f"SELECT term, doc FROM vocabulary WHERE term IN ({', '.join('?' * len(terms))})", terms
    )
    return dict(rows.fetchall())


def terms_from(index: Index, prefix: str, most: int) -> list[tuple[str, int]]:
    """Words that begin like this, and in how many messages each is."""
    rows = index.connection.execute(
        "SELECT term, doc FROM vocabulary WHERE term >= ? AND term < ? LIMIT ?",
        (prefix, prefix + "\U0010ffff", most),
    )
    return rows.fetchall()


def _living(index: Index, conditions: Sequence[Condition]) -> str:
    """The full text, joined with no more than is asked about or needed to leave out what is gone."""
    if conditions:
        return f"{_TEXTS} CROSS JOIN sessions AS s ON s.id = m.session"
    return _TEXTS if index.meta("dead") else "texts"


def _message_rows(index: Index, which: str) -> dict[int, MessageRow]:
    rows = index.connection.execute(
        "SELECT m.id, session, place, mid, role, origin, state, imported, at, name, spans "
        f"FROM messages AS m LEFT JOIN names ON names.id = m.model WHERE {which}"
    )
    return {row[0]: MessageRow._make((*row[:8], moment(row[8]), *row[9:])) for row in rows}


def _weights_of_one(column: int) -> str:
    return ", ".join("1" if place == column else "0" for place in range(len(COLUMNS)))


_TEXTS = "texts CROSS JOIN messages AS m ON m.id = texts.rowid"
_COLUMN_BITS = " + ".join(
    f"(bm25(texts, {_weights_of_one(column)}) <> 0) * {1 << column}" for column in range(len(COLUMNS))
)
"""With no weight but one, the rank of a row is something only if that column matched."""


def all_hold(conditions: Sequence[Condition]) -> str:
    """The conditions as the end of a WHERE."""
    return "".join(f" AND ({condition.sql})" for condition in conditions)


def values_of(conditions: Sequence[Condition]) -> tuple[object, ...]:
    """What stands for the question marks in conditions."""
    return tuple(value for condition in conditions for value in condition.values)


def _numbers(numbers: Iterable[float]) -> str:
    return ", ".join(map(str, numbers))
