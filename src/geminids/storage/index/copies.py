"""Copies of requests: which sessions hold the same ones, and which of them made them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from geminids.core.values import NamedTuple
from geminids.storage.index.database import Index
from geminids.storage.index.schema import USAGE
from geminids.storage.index.usage import TOKEN_SUMS, few

_OWN, _TAKEN_OVER, _COPIED = 0, 1, 2
"""Whose a message is, in `messages.imported`: as its own file tells, or as this comparison does."""


class _Holder(NamedTuple):
    """A message that holds a request. Of several, the least counts.

    Copies may have lost their numbers, so the one with the most tokens comes first. Then that of a session
    which a human led, since subagents are handed what was said; then that of the session which began earlier.
    """

    less_tokens: int
    is_led_by_agent: int
    has_no_beginning: int
    began: int
    sid: str
    session: int
    message: int
    imported: int


def mark_copies(index: Index, sessions: Collection[int] | None) -> set[int]:
    """Note which messages are copies of what other sessions hold; the sessions for which that is news.

    All sessions are looked at, or some, and then what others hold of their requests.
    """
    marks: list[tuple[int, int]] = []
    changed: set[int] = set()
    concerned = set(sessions or ())
    for holders in _holders(index, sessions).values():
        concerned.update(holder.session for holder in holders)
        owner = min(holders).session
        for holder in holders:
            # A session may hold a request twice; that is its reader's to tell.
            wanted = _OWN if holder.session == owner else _COPIED
            if holder.imported != wanted:
                marks.append((wanted, holder.message))
                changed.add(holder.session)
    _mark(index, marks)
    # Also where no request is news: what stands with them depends on all that hold the same.
    for session in with_copies(index, concerned):
        if _mark_what_stands_with_requests(index, session):
            changed.add(session)
    return changed


def with_copies(index: Index, sessions: Collection[int] | None) -> list[int]:
    """Those of some sessions, or of all, that hold copies."""
    asked = f"SELECT DISTINCT session FROM messages WHERE imported = {_COPIED} AND "
    rows = (row for which in _portions(sessions) for row in index.connection.execute(asked + which))
    return sorted({number for (number,) in rows})


def _holders(index: Index, sessions: Collection[int] | None) -> dict[int, list[_Holder]]:
    """Who holds the requests of some sessions, or those that several sessions hold."""
    holders: dict[int, list[_Holder]] = {}
    for keys in few(sorted(_keys(index, sessions))):
        rows = index.connection.execute(
            "SELECT key, -coalesce(total, 0), kind != 'main', started IS NULL, coalesce(started, 0), sid, "
            "requests.session, message, imported FROM requests JOIN messages ON messages.id = message "
            "JOIN sessions ON sessions.id = requests.session "
            f"WHERE imported != {_TAKEN_OVER} AND key IN ({', '.join(map(str, keys))})"
        )
        for key, *holder in rows:
            holders.setdefault(key, []).append(_Holder._make(holder))
    return holders


def _keys(index: Index, sessions: Collection[int] | None) -> set[int]:
    """The requests to look at: those that several sessions hold, and of some sessions also former copies."""
    if sessions is None:
        shared = (
            "SELECT key FROM requests WHERE key IS NOT NULL GROUP BY key HAVING min(session) != max(session)"
        )
        return {key for (key,) in index.connection.execute(shared)}
    held = (
        "SELECT key FROM requests AS held WHERE key IS NOT NULL AND (EXISTS "
        "(SELECT 1 FROM requests AS other WHERE other.key = held.key AND other.session != held.session) "
        f"OR (SELECT imported FROM messages WHERE id = message) = {_COPIED}) AND "
    )
    return {key for which in _portions(sessions) for (key,) in index.connection.execute(held + which)}


class _Standing(NamedTuple):
    """A message in its place."""

    number: int
    mid: str
    imported: int
    key: int | None
    has_tokens: int


def _mark_what_stands_with_requests(index: Index, session: int) -> bool:
    """Note which messages without tokens were taken over with requests; whether that is news.

    What stands before a request that was taken over, back to the one before it, was taken over with it,
    whatever ids it was given. After the last one ids tell.
    """
    rows = index.connection.execute(
        "SELECT messages.id, mid, imported, key, requests.message IS NOT NULL FROM messages "
        "LEFT JOIN requests ON requests.message = messages.id WHERE messages.session = ? ORDER BY place DESC",
        (session,),
    )
    standing = list(map(_Standing._make, rows))
    if all(one.imported != _COPIED for one in standing):
        return False
    known: Collection[str] | None = None
    follows = _OWN
    marks: list[tuple[int, int]] = []
    for one in standing:
        if one.key is not None and one.imported != _TAKEN_OVER:
            follows = one.imported
        elif not one.has_tokens and one.imported != _TAKEN_OVER:
            if follows == _OWN and known is None:
                known = _mids_of_owners(index, session)
            wanted = _COPIED if follows == _COPIED or (known and one.mid in known) else _OWN
            if one.imported != wanted:
                marks.append((wanted, one.number))
    _mark(index, marks)
    return bool(marks)


def _mids_of_owners(index: Index, session: int) -> set[str]:
    """The ids of messages in those sessions that began before this one and hold its requests."""
    owners = (
        "SELECT DISTINCT theirs.session FROM requests AS ours "
        "JOIN requests AS theirs ON theirs.key = ours.key "
        "JOIN messages ON messages.id = theirs.message AND imported = 0 "
        "JOIN sessions AS other ON other.id = theirs.session JOIN sessions AS this ON this.id = ours.session "
        "WHERE ours.session = ? AND theirs.session != ours.session AND "
        "(other.kind != 'main', coalesce(other.started, 0), other.sid) "
        "< (this.kind != 'main', coalesce(this.started, 0), this.sid)"
    )
    rows = index.connection.execute(f"SELECT mid FROM messages WHERE session IN ({owners})", (session,))
    return {mid for (mid,) in rows}


def _mark(index: Index, marks: Iterable[tuple[int, int]]) -> None:
    index.connection.executemany("UPDATE messages SET imported = ? WHERE id = ?", marks)


def _portions(sessions: Collection[int] | None) -> Iterator[str]:
    """Conditions, of which one holds for each of some sessions, or for all."""
    if sessions is None:
        yield "1"
        return
    for numbers in few(sorted(sessions)):
        yield f"session IN ({', '.join(map(str, numbers))})"


class OwnCounts(NamedTuple):
    """How much there is of what in a session, copies left out."""

    prompts: int
    replies: int
    tool_calls: int
    tool_errors: int
    dropped: int
    requests: int
    tokens: dict[str, int | None]
    """By their kinds."""


def own_counts(index: Index, session: int) -> OwnCounts:
    """Count what a session holds of its own."""
    own = "m.session = ? AND m.imported = 0"
    spoken = index.connection.execute(
        "SELECT count(CASE WHEN origin = 'human' THEN 1 END), "
        "count(CASE WHEN origin = 'model' AND says THEN 1 END), "
        "count(CASE WHEN state NOT IN ('current', 'unrecorded') THEN 1 END) "
        f"FROM messages m WHERE {own}",
        (session,),
    ).fetchone()
    called = index.connection.execute(
        "SELECT coalesce(sum(number), 0), coalesce(sum(CASE calls.status WHEN 'error' THEN number END), 0) "
        f"FROM calls JOIN messages m ON m.id = message WHERE {own}",
        (session,),
    ).fetchone()
    requests, *tokens = index.connection.execute(
        f"SELECT coalesce(sum(requests), 0), {TOKEN_SUMS} FROM requests "
        f"JOIN messages m ON m.id = message WHERE {own}",
        (session,),
    ).fetchone()
    by_kind = dict(zip(USAGE, tokens, strict=True))
    return OwnCounts(spoken[0], spoken[1], called[0], called[1], spoken[2], requests, by_kind)


def summary_of(index: Index, session: int) -> bytes | None:
    """All that is kept of a session but its messages."""
    row = index.connection.execute("SELECT summary FROM sessions WHERE id = ?", (session,)).fetchone()
    return row[0] if row else None


def correct(index: Index, session: int, own: OwnCounts, summary: bytes) -> None:
    """Write other counts for a session than its file alone tells."""
    index.connection.execute(
        "UPDATE sessions SET prompts = ?, replies = ?, tool_calls = ?, tool_errors = ?, dropped = ?, "
        "summary = ? WHERE id = ?",
        (*own[:5], summary, session),
    )


def copied_messages(index: Index, sid: str, file: str | None) -> set[str]:
    """The ids of those messages of a session that are copies, as a comparison with others told."""
    rows = index.connection.execute(
        "SELECT mid FROM messages JOIN sessions ON sessions.id = session "
        "WHERE imported = 2 AND native_id = ? COLLATE NOCASE AND sid = ? AND sessions.file IS ?",
        (sid.partition(":")[2], sid, file),
    )
    return {mid for (mid,) in rows}


class Held(NamedTuple):
    """Requests that a session holds and that are counted elsewhere."""

    copies: int
    """As a comparison with other sessions told."""
    taken_over: int
    """As its own file tells."""
    tokens: dict[str, int | None]
    """What they used, by kinds."""


def copies_by_session(index: Index) -> dict[str, Held]:
    """The sessions that hold requests of others."""
    rows = index.connection.execute(
        f"SELECT sid, sum(imported = 2), sum(imported = 1), {TOKEN_SUMS} FROM requests "
        "JOIN messages ON messages.id = message JOIN sessions ON sessions.id = messages.session "
        "WHERE imported != 0 GROUP BY sid"
    )
    return {
        sid: Held(copied, taken_over, dict(zip(USAGE, tokens, strict=True)))
        for sid, copied, taken_over, *tokens in rows
    }


def summaries(index: Index) -> Iterable[tuple[str, bytes]]:
    """All sessions without their messages, by their ids."""
    return index.connection.execute("SELECT sid, summary FROM sessions")
