"""Copies of requests: which sessions hold the same ones, and which of them made them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from geminids.store.index import Index
from geminids.store.schema import USAGE
from geminids.store.usage import TOKEN_SUMS, few


class Sharing(NamedTuple):
    """A session that holds requests which others hold as well."""

    session: int
    others: tuple[int, ...]
    """Those that are nearer to where the requests were made."""


def sharing(index: Index, sessions: Collection[int] | None) -> list[Sharing]:
    """The sessions that share requests with some, or with any; the some are among them.

    Of two that hold a request, the one that a human led made it before a subagent did, and the one that
    began earlier before the other.
    """
    groups = _connected(_pairs(index, sessions))
    order = {
        number: place
        for place, number in enumerate(_by_beginning(index, sorted({*groups, *(sessions or ())})))
    }
    return [
        Sharing(number, tuple(other for other in groups.get(number, ()) if order[other] < order[number]))
        for number in order
    ]


def _pairs(index: Index, sessions: Collection[int] | None) -> Iterable[tuple[int, int]]:
    pairs = (
        "SELECT DISTINCT one.session, other.session FROM requests AS one JOIN requests AS other "
        "ON other.key = one.key AND other.session != one.session WHERE "
    )
    if sessions is None:
        twice = (
            "one.key IN (SELECT key FROM requests WHERE key IS NOT NULL GROUP BY key "
            "HAVING min(session) != max(session))"
        )
        return index.connection.execute(pairs + twice).fetchall()
    found: list[tuple[int, int]] = []
    for numbers in few(sorted(sessions)):
        found += index.connection.execute(f"{pairs} one.session IN ({', '.join(map(str, numbers))})")
    return found


def _connected(pairs: Iterable[tuple[int, int]]) -> dict[int, list[int]]:
    groups: dict[int, set[int]] = {}
    for one, other in pairs:
        groups.setdefault(one, set()).add(other)
        groups.setdefault(other, set()).add(one)
    return {number: sorted(others) for number, others in groups.items()}


def _by_beginning(index: Index, sessions: Sequence[int]) -> list[int]:
    found: list[tuple[int, int, int, str, int]] = []
    for numbers in few(sessions):
        found += index.connection.execute(
            "SELECT kind != 'main', started IS NULL, coalesce(started, 0), sid, id FROM sessions "
            f"WHERE id IN ({', '.join(map(str, numbers))})"
        )
    return [
        int(str(row[-1])) for row in sorted(found, key=lambda row: (row[0], row[1], row[2] or 0, *row[3:]))
    ]


def mark_copies(index: Index, found: Sharing) -> bool:
    """Note which messages of a session are copies of what others hold; whether that is news.

    All that stands before the last request that is shared was taken over with it, whatever ids it was given.
    """
    others = ", ".join(map(str, found.others)) or "NULL"
    (last,) = index.connection.execute(
        "SELECT max(place) FROM messages JOIN requests ON message = messages.id WHERE messages.session = ? "
        f"AND key IN (SELECT key FROM requests WHERE session IN ({others}))",
        (found.session,),
    ).fetchone()
    held = f"SELECT mid FROM messages WHERE session IN ({others})"
    fate = f"CASE WHEN ?1 IS NOT NULL AND (place <= ?1 OR mid IN ({held})) THEN 2 ELSE 0 END"
    changed = index.connection.execute(
        f"UPDATE messages SET imported = {fate} WHERE session = ?2 AND imported != 1 AND imported != {fate}",
        (last, found.session),
    )
    return changed.rowcount > 0


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
        f"count(CASE WHEN state != 'current' THEN 1 END) FROM messages m WHERE {own}",
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
