"""Settling in SQL: what stands in several sessions, or on several machines, counts once.

The same rules by which the index settles (`sync/cross_session.py`), as views over tables of any number of
machines. They are written in what DuckDB, Spark SQL and Sail have in common, and each engine runs them as
they stand: it is given the tables as they were written, by the names `all_sessions`, `all_messages` and so
on, with the hashes of forgotten sessions in `all_forgotten`, and gets `sessions`, `messages` and so on, which
add up to what `stats` says.

    all_sessions ─► copies_of_sessions ─► counted_sessions ─► copied_requests ─► copied_messages
                                                 └──────────────────┬─────────────────┘
                              sessions, messages, requests, calls, changes, problems

**Copies of a session.** The same id on several machines is one session: a backup, a home that was moved, a
folder that is synced. A whole copy is preferred: one without problems that ended as late as all others. Of
other copies, the one is preferred that has the most requests, then the most tokens, the fewest problems, the
most messages; then of damaged copies the one with the most calls, of others the one that knows more to be
imported; then the newer one. The preferred copy counts. Another copy counts beside it only where it went on
by itself: it has a request that no preferred copy has; then it is settled like a fork. (Of an agent that
writes no names of requests, one copy counts.) Beside a whole copy, a damaged one may have damaged names of
requests, so there a request is also recognised by its message, its time and its tokens. No session of the
machine whose copy counts is left out.

**Copies of a request.** Forks and resumed sessions repeat what was said before. What their own files tell of
that is `imported`, and never counts. Else a request, by the provider's name of it, counts in one session:
where it has the most tokens, then in one that a human led, then in the one that began first.

**What stands with requests.** Messages without tokens of their own (prompts, most of all) were taken over
with the request that follows them. What follows the last request that was taken over is a copy if a session
that holds one of the same requests, and came before, has a message of the same id.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from geminids.scale.schema import SESSIONS, TOKENS

EVERY = "all_"
"""What the names of tables as they were written begin with; without that they are the settled ones."""
_NAMED = re.compile(r"(?<=FROM )\w+|(?<=JOIN )\w+|sha2(?=\()")
"""Names of tables in a query, and the function that DuckDB has by another name."""

STEPS = {
    "copies_of_sessions": """
        SELECT id, machine,
            CASE WHEN problems > 0 AND max(is_whole) OVER (PARTITION BY id) = 1 THEN 1 ELSE 0 END
                AS is_doubtful,
            row_number() OVER (
                PARTITION BY id
                ORDER BY is_whole DESC, requests DESC, total DESC, problems, messages DESC,
                    CASE WHEN problems > 0 THEN -calls ELSE own END, last_at DESC, machine
            ) AS place
        FROM (
            SELECT *, CASE
                WHEN problems = 0 AND last_at >= max(last_at) OVER (PARTITION BY id) - INTERVAL '1' SECOND
                THEN 1 ELSE 0 END AS is_whole
            FROM (
                SELECT id, machine, sum(requests) AS requests, sum(coalesce(total, 0)) AS total,
                    sum(coalesce(problems, 0)) AS problems, sum(messages) AS messages,
                    sum(tool_calls) AS calls, sum(prompts + replies + tool_calls) AS own,
                    max(coalesce(ended_at, started_at, TIMESTAMP '1970-01-01 00:00:00')) AS last_at
                FROM all_sessions
                WHERE sha2(id, 256) NOT IN (SELECT session FROM all_forgotten)
                GROUP BY id, machine
            ) AS summed
        ) AS copies""",
    "counted_sessions": """
        SELECT s.key AS session_key, s.id, c.place, CASE WHEN s.kind = 'main' THEN 0 ELSE 1 END AS is_led,
            CASE WHEN s.started_at IS NULL THEN 1 ELSE 0 END AS has_no_beginning,
            coalesce(s.started_at, TIMESTAMP '1970-01-01 00:00:00') AS began
        FROM all_sessions s JOIN copies_of_sessions c ON c.id = s.id AND c.machine = s.machine
        WHERE c.place = 1 OR EXISTS (
            SELECT 1 FROM (
                SELECT r.session_id, h.place, h.is_doubtful,
                    min(h.place) OVER (PARTITION BY r.session_id, r.request_id) AS fullest,
                    least(
                        min(h.place) OVER (PARTITION BY r.session_id, r.message_id),
                        min(h.place) OVER (PARTITION BY r.session_id, date_trunc('second', r.at)),
                        min(h.place) OVER (PARTITION BY r.session_id, r.input, r.output, r.total)
                    ) AS fullest_alike
                FROM all_requests r
                JOIN copies_of_sessions h ON h.id = r.session_id AND h.machine = r.machine
                WHERE r.request_id <> ''
                    AND r.session_id IN (SELECT id FROM copies_of_sessions WHERE place > 1)
            ) AS held
            WHERE held.session_id = s.id AND held.place = c.place AND held.fullest = c.place
                AND (held.is_doubtful = 0 OR held.fullest_alike = c.place)
        )""",
    "copied_requests": """
        SELECT session_key, message_number FROM (
            SELECT r.session_key, r.message_number, first_value(r.session_key) OVER (
                PARTITION BY r.request_id
                ORDER BY coalesce(r.total, 0) DESC, s.is_led, s.has_no_beginning, s.began, s.id, s.place,
                    r.session_key
            ) AS owner_key
            FROM all_requests r JOIN counted_sessions s ON s.session_key = r.session_key
            WHERE r.request_id <> '' AND NOT r.imported
        ) AS held
        WHERE owner_key <> session_key""",
    "own_requests": """
        SELECT r.session_key, r.request_id, s.id, s.place, s.is_led, s.began
        FROM all_requests r JOIN counted_sessions s ON s.session_key = r.session_key
        WHERE r.request_id <> '' AND NOT r.imported AND NOT EXISTS (
            SELECT 1 FROM copied_requests c
            WHERE c.session_key = r.session_key AND c.message_number = r.message_number
        )""",
    "copied_messages": """
        SELECT session_key, message_number FROM copied_requests
        UNION ALL
        SELECT standing.session_key, standing.number
        FROM (
            SELECT m.session_key, m.number, m.id, m.imported, r.session_key IS NOT NULL AS has_tokens,
                -- Where the next request stands, times two; odd if that is a copy.
                min(CASE WHEN r.request_id <> '' AND NOT m.imported
                    THEN 2 * m.number + CASE WHEN c.session_key IS NULL THEN 0 ELSE 1 END
                END) OVER (
                    PARTITION BY m.session_key ORDER BY m.number DESC
                    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                ) AS next_request
            FROM all_messages m
            LEFT JOIN all_requests r ON r.session_key = m.session_key AND r.message_number = m.number
            LEFT JOIN copied_requests c ON c.session_key = m.session_key AND c.message_number = m.number
            WHERE m.session_key IN (SELECT session_key FROM copied_requests)
        ) AS standing
        LEFT JOIN (
            SELECT DISTINCT holding.session_key, m.id
            FROM (
                SELECT DISTINCT s.session_key, theirs.session_key AS owner_key
                FROM counted_sessions s
                JOIN all_requests ours ON ours.session_key = s.session_key
                JOIN own_requests theirs ON theirs.request_id = ours.request_id
                WHERE s.session_key IN (SELECT session_key FROM copied_requests)
                    AND (theirs.is_led < s.is_led OR (theirs.is_led = s.is_led AND (
                        theirs.began < s.began OR (theirs.began = s.began AND (
                            theirs.id < s.id OR (theirs.id = s.id AND theirs.place < s.place)
                        ))
                    )))
            ) AS holding
            JOIN all_messages m ON m.session_key = holding.owner_key
        ) AS told_before ON told_before.session_key = standing.session_key AND told_before.id = standing.id
        WHERE NOT standing.imported AND NOT standing.has_tokens
            AND (coalesce(standing.next_request, 0) % 2 = 1 OR told_before.id IS NOT NULL)""",
}
"""How it is told what counts, step by step."""

_COUNTS = {
    "prompts": "count(CASE WHEN origin = 'human' THEN 1 END)",
    "replies": "count(CASE WHEN origin = 'model' AND says THEN 1 END)",
    "dropped": "count(CASE WHEN state NOT IN ('current', 'unrecorded') THEN 1 END)",
}
_CALLED = {"tool_calls": "count(*)", "tool_errors": "count(CASE WHEN status = 'error' THEN 1 END)"}
_USED = {"requests": "sum(requests)"} | {column.name: f"sum({column.name})" for column in TOKENS}
_ALWAYS = frozenset({*_COUNTS, *_CALLED, "requests"})
"""What is 0 of a session that has none, and not unknown."""


def settled(columns: Collection[str] = SESSIONS.names) -> dict[str, str]:
    """The settled tables, each with the query that it is; `columns` are those that `all_sessions` has."""
    return {
        "messages": _own("messages", "number"),
        # Of copied messages only those of copied requests have tokens.
        "requests": _own("requests", "message_number", "copied_requests"),
        "calls": _own("calls", "message_number"),
        "changes": _own("changes", "message_number"),
        "problems": f"SELECT * FROM {EVERY}problems",
        "sessions": _sessions(columns),
    }


def statements(columns: Collection[str] = SESSIONS.names) -> Mapping[str, str]:
    """All steps and views by name, in the order in which they are made, for an engine with temporary tables.

    Steps are worked out once and stored, as each is used often; others store them as they can.
    """
    made = {"sha2": "CREATE OR REPLACE TEMPORARY MACRO sha2(text, bits) AS sha256(text)"}
    for name, query in STEPS.items():
        made[name] = f"CREATE OR REPLACE TEMPORARY TABLE {name} AS{_indented(query)}"
    for name, query in settled(columns).items():
        made[name] = f"CREATE OR REPLACE TEMPORARY VIEW {name} AS{_indented(query)}"
    return made


def made_of(tables: Collection[str]) -> set[str]:
    """Return the names of some tables and of all steps and tables that these are made of."""
    queries = STEPS | settled()
    found, next_names = set[str](), set(tables)
    while next_names:
        found |= next_names
        named = (_NAMED.findall(queries.get(name, "")) for name in next_names)
        next_names = {name for names in named for name in names} - found
    return found


def _own(table: str, number: str, copied: str = "copied_messages") -> str:
    return f"""
        SELECT * FROM {EVERY}{table} AS t
        WHERE NOT t.imported
            AND EXISTS (SELECT 1 FROM counted_sessions s WHERE s.session_key = t.session_key)
            AND NOT EXISTS (
                SELECT 1 FROM {copied} c
                WHERE c.session_key = t.session_key AND c.message_number = t.{number}
            )"""


def _sessions(columns: Collection[str]) -> str:
    """Sessions that hold something of their own; those that hold copies, with what is their own."""
    corrected = _COUNTS | _CALLED | _USED
    selected = ",\n            ".join(
        _corrected(name) if name in corrected else f"s.{name}" for name in SESSIONS.names if name in columns
    )
    return f"""
        SELECT {selected}
        FROM {EVERY}sessions s
        LEFT JOIN (SELECT DISTINCT session_key FROM copied_messages) AS holding ON holding.session_key = s.key
        LEFT JOIN ({_summed("messages", _COUNTS)}) AS said ON said.session_key = s.key
        LEFT JOIN ({_summed("calls", _CALLED)}) AS called ON called.session_key = s.key
        LEFT JOIN ({_summed("requests", _USED)}) AS used ON used.session_key = s.key
        WHERE EXISTS (SELECT 1 FROM messages m WHERE m.session_key = s.key)"""


def _corrected(name: str) -> str:
    table = "said" if name in _COUNTS else "called" if name in _CALLED else "used"
    own = f"coalesce({table}.{name}, 0)" if name in _ALWAYS else f"{table}.{name}"
    return f"CASE WHEN holding.session_key IS NULL THEN s.{name} ELSE {own} END AS {name}"


def _summed(table: str, sums: dict[str, str]) -> str:
    """What sessions that hold copies have of their own in a table."""
    selected = ", ".join(f"{expression} AS {name}" for name, expression in sums.items())
    return (
        f"SELECT session_key, {selected} FROM {table} "
        "WHERE session_key IN (SELECT session_key FROM copied_messages) GROUP BY session_key"
    )


def _indented(query: str) -> str:
    return query.replace("\n        ", "\n    ") if query.startswith("\n") else f"\n    {query}"
