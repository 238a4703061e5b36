"""`csv`: messages or tool calls as a table (UTF-8, quoted as in RFC 4180), for spreadsheets and data frames.

A spreadsheet runs a cell that begins like a formula, and a session may hold one to harm its reader. A cell
of words that begins with = + - @ (also as the wide letters of East Asia), a tab or a line end therefore gets
an apostrophe in front, which spreadsheets take for "this is text". Numbers stay numbers.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from geminids.core.errors import FormatOptionError
from geminids.core.model import Attachment, FileReference, Message, Session, Text, Thought, Usage
from geminids.sharing.export.base import Manner, PlainFormat, encoded
from geminids.sharing.export.data import encode_harmless
from geminids.sharing.transcript import safe
from geminids.sharing.transcript.call_summary import (
    answer_lines,
    changed_lines,
    error_line,
    main_argument,
    output_text,
)
from geminids.sharing.transcript.entries import Detail
from geminids.sharing.transcript.visible import visible_messages

Row = Sequence[Any]

MESSAGES = (
    "session_id",
    "number",
    "message_id",
    "at",
    "role",
    "origin",
    "state",
    "model",
    "text",
    "thoughts",
    "tool_calls",
    "attachments",
    "input_tokens",
    "cached_tokens",
    "output_tokens",
    "thoughts_tokens",
    "tool_tokens",
    "total_tokens",
    "cache_write_tokens",
    "cache_write_hour_tokens",
    "request_id",
)
CALLS = (
    "session_id",
    "message_number",
    "call_id",
    "at",
    "tool",
    "kind",
    "status",
    "native_status",
    "exit_code",
    "argument",
    "arguments",
    "output",
    "error",
    "files",
    "added",
    "removed",
    "child_id",
)
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
APART = "; "
"""Between several values in one cell."""


class CsvTables(PlainFormat):
    """Messages or tool calls of any number of sessions as one table."""

    name = "csv"
    title = "CSV"
    summary = "Messages or tool calls as a table, for spreadsheets and data frames."
    suffix = ".csv"
    holds_many = True
    level = "everything"
    options = frozenset({"table"})

    def write(self, sessions: Iterable[Session], manner: Manner) -> Iterator[bytes]:
        """The heading, then the rows of one session after the other."""
        if manner.table not in TABLES:
            raise FormatOptionError(self.name, f"table={manner.table}")
        heading, rows_of = TABLES[manner.table]
        yield _written([heading])
        for session in sessions:
            yield _written(rows_of(session, manner.detail))


def _message_rows(session: Session, detail: Detail) -> Iterator[Row]:
    for number, message in visible_messages(session, detail):
        yield (
            session.id,
            number,
            message.id,
            message.at and message.at.isoformat(),
            message.role,
            message.origin,
            message.state,
            message.model,
            "\n\n".join(part.text for part in message.parts if isinstance(part, Text)),
            "\n\n".join(_thought(part) for part in message.parts if isinstance(part, Thought)),
            len(message.tool_calls),
            APART.join(_attached(message)),
            *_tokens(message.usage),
            message.request_id,
        )


def _call_rows(session: Session, detail: Detail) -> Iterator[Row]:
    for number, message in visible_messages(session, detail):
        for call in message.tool_calls:
            changed = changed_lines(call.changes)
            yield (
                session.id,
                number,
                call.call_id,
                call.at and call.at.isoformat(),
                call.name,
                call.kind,
                call.status,
                call.native_status,
                call.exit_code,
                main_argument(call, session.project.path),
                encode_harmless(call.arguments).decode(),
                output_text(call) if detail.tools else "\n".join(answer_lines(call)),
                error_line(call),
                APART.join(change.path for change in call.changes),
                *(changed or (None, None)),
                call.child_id,
            )


Rows = Callable[[Session, Detail], Iterator[Row]]
TABLES: dict[str, tuple[Row, Rows]] = {"messages": (MESSAGES, _message_rows), "calls": (CALLS, _call_rows)}
"""The tables there are, by name."""


def _thought(thought: Thought) -> str:
    return f"{thought.subject}\n{thought.text}".strip()


def _attached(message: Message) -> Iterator[str]:
    for part in message.parts:
        match part:
            case Attachment(mime_type=mime_type, uri=uri):
                yield mime_type or uri or "unknown"
            case FileReference(path=path):
                yield f"@{path}"


def _tokens(usage: Usage | None) -> Row:
    if usage is None:
        return (None,) * 8
    return (
        usage.input,
        usage.cached,
        usage.output,
        usage.thoughts,
        usage.tool,
        usage.total,
        usage.cache_write,
        usage.cache_write_hour,
    )


def _written(rows: Iterable[Row]) -> bytes:
    lines = io.StringIO(newline="")
    csv.writer(lines, lineterminator="\n").writerows([_cell(value) for value in row] for row in rows)
    return encoded(lines.getvalue())


def _cell(value: Any) -> Any:
    """A value that no spreadsheet runs and no terminal obeys."""
    if not isinstance(value, str):
        return value
    harmless = safe.text(value)
    return f"'{harmless}" if harmless.startswith(FORMULA_STARTS) else harmless
