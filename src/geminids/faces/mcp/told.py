"""Answers as text, made of the same documents that are given as JSON. What is quoted stands behind `> `."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from geminids.faces.documents.recalled import (
        CitedSession,
        FoundMessage,
        FoundSession,
        ReadAnswer,
        ReadMessage,
        Recalled,
        SearchAnswer,
    )


def search(answer: SearchAnswer) -> str:
    """What a search has found."""
    project = [f"Project: {answer.project}"] if answer.project else []
    return _blocks([answer.note, *project], map(found_session, answer.sessions), answer)


def found_session(session: FoundSession) -> str:
    """A session with the messages that were found in it."""
    missing = f"; without {', '.join(session.missing)}" if session.missing else ""
    matches = f"  {session.matches} matches{missing}"
    return "\n".join([*_session(session), matches, *map(_found_message, session.messages)])


def _found_message(found: FoundMessage) -> str:
    where = ", ".join(found.where)
    words = "(words not told)" if found.text is None else f"> {found.text}"
    return f"  message {found.message}, {found.who}, {_when(found.at)}, in {where}; {found.show}\n  {words}"


def read(answer: ReadAnswer) -> str:
    """A window of a session."""
    counted = f"  {answer.total} messages; detail: {answer.detail}"
    head = [answer.note, *_session(answer.session), counted]
    return _blocks(head, map(read_message, answer.messages), answer)


def read_message(read: ReadMessage) -> str:
    """A message, each of its lines quoted."""
    head = f"message {read.message}, {read.who}, {_when(read.at)}; {read.show}"
    quoted = [f"> {line}".rstrip() for line in read.text.split("\n")]
    left = [f"({read.left} more characters)"] if read.left else []
    return "\n".join([head, *quoted, *left])


def _session(session: CitedSession) -> list[str]:
    kind = "" if session.kind == "main" else f" ({session.kind})"
    place = session.project or "project unknown"
    about = f"{session.agent}, {place}, {_when(session.at)}, {session.status}"
    return [f"{session.id}{kind}: {session.title or 'no title'}", f"  {about}; {session.show}"]


def _blocks(head: Iterable[str], blocks: Iterable[str], answer: Recalled) -> str:
    following = [f"next: {answer.next}"] if answer.next else []
    return "\n\n".join(["\n".join(head), *blocks, *following])


def _when(at: datetime | None) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%SZ") if at else "time unknown"
