"""A session as rows of the tables, in the order of their columns; made of nothing but the session."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

from geminids import __version__
from geminids.core.agents.base import Reading
from geminids.core.errors import RedactionError
from geminids.core.model import (
    Attachment,
    FileReference,
    Message,
    Problem,
    Project,
    Session,
    Text,
    Thought,
    ToolCall,
    Usage,
)
from geminids.core.model.summary import says_something
from geminids.scale.schema import TABLES, VERSION
from geminids.sharing.export.data import encode
from geminids.sharing.transcript.call_summary import error_line, main_argument, output_text
from geminids.storage.codec.estimates import estimates
from geminids.storage.codec.rows import DONE, lines_of_change
from geminids.storage.times import microseconds

if TYPE_CHECKING:
    from geminids.query.usage.request_costs import RequestCosts
    from geminids.sharing.redact import Redactor

UNKNOWN_MONTH = "unknown"
NOT_HIDDEN = "not-hidden"
"""The kind of problem that a session is whose secrets cannot be hidden."""
_MADE = (__version__, VERSION)
_NOT_ESTIMATED = (None, None)
_NO_COST = (None, None)
_NOTHING: Mapping[str, str] = {}

Row = tuple[Any, ...]
Rows = dict[str, list[Row]]
"""Rows of each table."""


class Whose(NamedTuple):
    """What the rows of things that are read together have in common."""

    agent: str
    month: str
    machine: str


def no_rows() -> Rows:
    """None of any table."""
    return {name: [] for name in TABLES}


def add_rows(
    rows: Rows,
    reading: Reading,
    agent: str,
    machine: str,
    *,
    words: bool,
    redactor: Redactor | None = None,
    costs: RequestCosts | None = None,
) -> None:
    """Add what was read to rows; without `words` or `costs`, columns of these stay empty."""
    whose = Whose(agent, month_of(reading.sessions), machine)
    hidden: dict[str, str] = {}
    for session in reading.sessions:
        if redactor is None:
            add_session(rows, session, whose, words=words, costs=costs)
        else:
            hidden |= _add_redacted(rows, session, whose, redactor, words=words, costs=costs)
    rows["problems"] += problem_rows(reading.problems, whose, redactor, hidden)


def _add_redacted(
    rows: Rows,
    session: Session,
    whose: Whose,
    redactor: Redactor,
    *,
    words: bool,
    costs: RequestCosts | None,
) -> Mapping[str, str]:
    """Add a session without its secrets, or the problem that they cannot be hidden; the names that are."""
    # What names it is told by what its files say, whatever of that is hidden.
    key = key_of(session, whose.machine)
    try:
        redacted = redactor.redact(session).session
    except RedactionError as error:
        detail = f"a session was left out, whose secrets cannot be hidden: {error}"
        file = redactor.redact_text(session.file or "")
        rows["problems"].append((*whose, file, NOT_HIDDEN, detail, None, None, None, *_MADE))
        return {}
    add_session(rows, redacted, whose, words=words, key=key, costs=costs)
    return hidden_names(session, redacted)


def hidden_names(session: Session, redacted: Session) -> Mapping[str, str]:
    """What also stands beside a session, each with what stands for it where its secrets are hidden.

    What is a secret may be told by the words of the session alone.
    """
    pairs = [
        (session.project.path, redacted.project.path),
        (session.project.slug, redacted.project.slug),
        *((file.path, hidden.path) for file, hidden in zip(session.files, redacted.files, strict=True)),
        *((one.file, hidden.file) for one, hidden in zip(session.problems, redacted.problems, strict=True)),
    ]
    return {name: hidden for name, hidden in pairs if name and hidden and name != hidden}


def month_of(sessions: Iterable[Session]) -> str:
    """The month in which the first of some sessions began, in UTC."""
    began = min((moment for one in sessions if (moment := one.started_at or one.ended_at)), default=None)
    return f"{began:%Y-%m}" if began else UNKNOWN_MONTH


def problem_rows(
    problems: Iterable[Problem],
    whose: Whose,
    redactor: Redactor | None = None,
    hidden: Mapping[str, str] = _NOTHING,
) -> Iterator[Row]:
    """What could not be read. The name of a file may tell as much as its words."""
    for one in problems:
        file, detail = one.file, one.detail
        if redactor is not None:
            file = redactor.redact_text(hidden.get(file, file))
            detail = redactor.redact_text(detail)
        yield (*whose, file, one.kind, detail, one.line, one.start, one.end, *_MADE)


def key_of(session: Session, machine: str) -> str:
    """What tells a session from all others, and from its copies in other places."""
    place = "\0".join((machine, session.id, session.file or ""))
    return blake2b(place.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def add_session(
    rows: Rows,
    session: Session,
    whose: Whose,
    *,
    words: bool,
    key: str | None = None,
    project: str | None = None,
    costs: RequestCosts | None = None,
) -> None:
    """Add a session to rows. Its key and the name of its project may be known better than it tells itself."""
    of = (*whose, project or project_name(session.project), session.id, key or key_of(session, whose.machine))
    rows["sessions"].append(_session_row(session, of, words=words))
    folder = session.project.path
    guessed = estimates(session)
    for number, message in enumerate(session.messages, 1):
        calls = message.tool_calls
        guess = guessed.get(message.id, _NOT_ESTIMATED)
        rows["messages"].append(_message_row(message, (*of, number), guess, len(calls), words=words))
        if message.usage is None and not calls:
            continue
        standing = (*of, number, message.id)
        if message.usage is not None:
            cost = costs.of(message, session.last_at) if costs else _NO_COST
            rows["requests"].append(_request_row(message, message.usage, standing, cost))
        for place, call in enumerate(calls, 1):
            rows["calls"].append(_call_row(call, message, folder, (*standing, place), words=words))
            rows["changes"] += _change_rows(call, message, folder, (*standing, place), words=words)


def project_name(project: Project) -> str | None:
    """What a project is called in all tables."""
    return project.path or project.hash or project.slug


def _session_row(session: Session, whose: Row, *, words: bool) -> Row:
    project, counts, usage = session.project, session.counts, session.usage
    return (
        *whose,
        session.native_id,
        session.kind,
        session.parent_id,
        project.path,
        project.hash,
        project.slug,
        project.known_by,
        project.certain,
        session.title if words else None,
        session.summary if words else None,
        session.branch,
        microseconds(session.started_at),
        microseconds(session.ended_at),
        session.status,
        session.models,
        session.directories,
        len(session.messages),
        counts.prompts,
        counts.replies,
        counts.tool_calls,
        counts.tool_errors,
        counts.dropped,
        usage.requests,
        *_tokens(usage),
        session.reported.total if session.reported else None,
        sum(one.requests or 0 for one in session.unrecorded),
        session.is_incomplete,
        [(file.path, file.format, file.size, file.kept) for file in session.files],
        session.kept,
        len(session.problems),
        *_MADE,
    )


def _message_row(message: Message, standing: Row, guess: Row, calls: int, *, words: bool) -> Row:
    source = message.source
    texts = [part.text for part in message.parts if type(part) is Text]
    return (
        *standing,
        message.id,
        microseconds(message.at),
        message.role,
        message.origin,
        message.state,
        message.imported,
        message.model,
        says_something(message),
        message.level,
        message.request_id,
        calls,
        sum(map(len, texts)),
        *guess,
        "\n\n".join(texts) if words else None,
        _thoughts(message) if words else None,
        list(_attached(message)),
        source.file,
        source.line,
        source.start,
        source.end,
        *_MADE,
    )


def _request_row(message: Message, usage: Usage, standing: Row, cost: Row) -> Row:
    return (
        *standing,
        message.request_id,
        microseconds(message.at),
        message.model,
        message.imported,
        usage.requests,
        *_tokens(usage),
        usage.reported_total,
        *cost,
        *_MADE,
    )


def _call_row(call: ToolCall, message: Message, folder: str | None, standing: Row, *, words: bool) -> Row:
    return (
        *standing,
        call.call_id,
        microseconds(call.at or message.at),
        call.name,
        call.kind,
        call.status,
        call.native_status,
        call.exit_code,
        call.child_id,
        message.imported,
        *(_words_of_call(call, folder) if words else (None,) * 4),
        *_MADE,
    )


def _words_of_call(call: ToolCall, folder: str | None) -> Sequence[str | None]:
    return (
        main_argument(call, folder) or None,
        encode(call.arguments).decode(),
        output_text(call) or None,
        error_line(call) or None,
    )


def _change_rows(
    call: ToolCall, message: Message, folder: str | None, standing: Row, *, words: bool
) -> Iterator[Row]:
    at = microseconds(call.at or message.at)
    for change in call.changes:
        yield (
            *standing,
            at,
            call.name,
            os.path.join(folder or "", change.path),  # noqa: PTH118 - may be no path of ours
            change.operation,
            call.status in DONE,
            *lines_of_change(change),
            message.imported,
            change.diff if words else None,
            *_MADE,
        )


def _tokens(usage: Usage) -> Row:
    return (
        usage.input,
        usage.cached,
        usage.cache_write,
        usage.cache_write_hour,
        usage.output,
        usage.thoughts,
        usage.tool,
        usage.total,
    )


def _thoughts(message: Message) -> str | None:
    thoughts = [part for part in message.parts if type(part) is Thought]
    if not thoughts:
        return None
    return (
        "\n".join(piece for thought in thoughts for piece in (thought.subject, thought.text) if piece) or None
    )


def _attached(message: Message) -> Iterator[str]:
    for part in message.parts:
        if type(part) is Attachment:
            # An address may hold all of a picture.
            is_address = part.uri and not part.uri.startswith("data:")
            yield (part.uri if is_address else part.mime_type) or "unknown"
        elif type(part) is FileReference:
            yield part.path
