"""Answers as text, made of the same documents that are given as JSON. What is quoted stands behind `> `.

Names that sessions have given (folders, files, models, tools) stand in lines of ours: each is one line there.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from geminids.sharing.transcript import safe

if TYPE_CHECKING:
    from geminids.faces.documents.recalled import (
        BriefAnswer,
        BriefItem,
        CitedSession,
        EditingSession,
        EditsAnswer,
        FileEdit,
        FoundMessage,
        FoundSession,
        ListAnswer,
        ListedSession,
        ReadAnswer,
        ReadMessage,
        Recalled,
        SearchAnswer,
        UsageAnswer,
        UsageGroup,
    )


def search(answer: SearchAnswer) -> str:
    """What a search has found."""
    project = [safe.line(f"Project: {answer.project}")] if answer.project else []
    return _blocks(project, map(found_session, answer.sessions), answer)


def found_session(session: FoundSession) -> str:
    """A session with the messages that were found in it."""
    missing = f"; without {', '.join(session.missing)}" if session.missing else ""
    matches = f"  matches: {session.matches}{missing}"
    outcome = ["  outcome:", f"  > {session.outcome}"] if session.outcome else []
    return "\n".join([*_session(session), matches, *outcome, *map(_found_message, session.messages)])


def _found_message(found: FoundMessage) -> str:
    where = f", in {', '.join(found.where)}" if found.where else ""
    words = "(words left out)" if found.text is None else f"> {found.text}"
    head = f"  message {found.message}, {found.who}, {_when(found.at)}{where}{_command(found)}"
    return f"{head}\n  {words}"


def read(answer: ReadAnswer) -> str:
    """A window of a session."""
    counted = f"  messages: {answer.total}; detail: {answer.detail}"
    head = [*_session(answer.session), counted]
    return _blocks(head, map(read_message, answer.messages), answer)


def read_message(read: ReadMessage) -> str:
    """A message, each of its lines quoted."""
    head = f"message {read.message}, {read.who}, {_when(read.at)}{_command(read)}"
    quoted = [f"> {line}".rstrip() for line in read.text.split("\n")]
    left = [f"({read.left} more characters)"] if read.left else []
    return "\n".join([head, *quoted, *left])


def sessions(answer: ListAnswer) -> str:
    """A list of sessions."""
    project = [safe.line(f"Project: {answer.project}")] if answer.project else []
    total = [f"Sessions in all: {answer.total}"] if answer.total is not None else []
    return _blocks(project + total, map(listed_session, answer.sessions), answer)


def listed_session(session: ListedSession) -> str:
    """A session of a list."""
    least = "at least " if session.incomplete else ""
    counts = f"{least}prompts {session.prompts}, calls {session.calls}, errors {session.errors}"
    return "\n".join([*_session(session), f"  since {_when(session.started)}; {counts}"])


def brief(answer: BriefAnswer) -> str:
    """A session in brief."""
    counts = ", ".join(f"{kind} {number}" for kind, number in answer.counts.items())
    head = [*_session(answer.session), f"  messages: {answer.total}; {counts}"]
    return _blocks(head, ["\n".join(map(brief_item, answer.items))], answer)


def brief_item(item: BriefItem) -> str:
    """One thing of a brief."""
    return f"{item.kind}: message {item.message}, {_when(item.at)}{_command(item)}\n> {item.text}"


def usage(answer: UsageAnswer) -> str:
    """What was used."""
    head = [safe.line(f"By {answer.by}; {answer.show}"), usage_group(answer.total)]
    return _blocks(head, ["\n".join(map(usage_group, answer.groups))], answer)


def usage_group(group: UsageGroup) -> str:
    """What was used in one group."""
    name = group.key if group.name == group.key else f"{group.name} ({group.key})"
    done = {field: getattr(group, field) for field in ("sessions", "prompts", "calls", "errors")}
    used = (
        {field: getattr(group.tokens, field) for field in group.tokens.__struct_fields__}
        if group.tokens
        else {}
    )
    counted = [f"{field} {_number(field, value)}" for field, value in (done | used).items()]
    least = f"at least (incomplete sessions: {group.incomplete}) " if group.incomplete else ""
    return safe.line(f"{name}: {least}{', '.join(counted)}")


def edits(answer: EditsAnswer) -> str:
    """Sessions that changed a file."""
    paths = [safe.line(f"File: {path}") for path in answer.paths]
    head = [*paths, f"Sessions in all: {answer.total}"]
    return _blocks(head, map(editing_session, answer.sessions), answer)


def editing_session(session: EditingSession) -> str:
    """A session with what it did to a file."""
    before = [f"  (edits before these: {session.left})"] if session.left else []
    return "\n".join([*_session(session), *before, *map(_edit, session.edits)])


def _edit(edit: FileEdit) -> str:
    lines = f"+{_number('added', edit.added)} -{_number('removed', edit.removed)}"
    about = safe.line(f"{edit.tool} {edit.path}")
    return f"  message {edit.message}, {_when(edit.at)}, {about} {lines}{_command(edit)}"


def _command(shown: BriefItem | CitedSession | FileEdit | FoundMessage | ReadMessage) -> str:
    return f"; {shown.show}" if shown.show else ""


def _number(field: str, value: float | None) -> str:
    if value is None:
        return "unknown"
    return f"${value}" if field == "cost" else str(value)


def _session(session: CitedSession) -> list[str]:
    kind = "" if session.kind == "main" else f" ({session.kind})"
    place = safe.line(session.project or "project unknown")
    about = f"{session.agent}, {place}, {_when(session.at)}, {session.status}"
    return [f"{session.id}{kind}", f"> {session.title or '(no title)'}", f"  {about}{_command(session)}"]


def _blocks(head: Iterable[str], blocks: Iterable[str], answer: Recalled) -> str:
    following = [f"next: {answer.next}"] if answer.next else []
    return "\n\n".join(["\n".join([safe.line(answer.note), *head]), *blocks, *following])


def _when(at: datetime | None) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%SZ") if at else "time unknown"
