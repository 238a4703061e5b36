"""Files given by hand: what is meant by a path, what it holds, and what stands in the way."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from geminids import sources
from geminids.config import expanded
from geminids.errors import (
    NotASessionError,
    NothingToReadError,
    NotLoadedByAgentError,
    SecretFileError,
)
from geminids.export.session_document import SCHEMA, is_session_document, read_document
from geminids.model import FileAccount, Session, SessionKind, Tally
from geminids.records.errors import RecordError
from geminids.records.profile import VERSION
from geminids.sources.base import Reading, may_exist

_SESSION_FILE_SUFFIXES = (".json", ".jsonl")
_RECORD = re.compile(rb'\s*\{\s*"version"\s*:\s*"%b"' % re.escape(VERSION.encode()))
_BEGINNING = 256
"""Bytes that tell a document of ours."""


def file_meant(wanted: str) -> Path | None:
    """The file that is meant, there or not: what looks like a path, or is named as sessions are."""
    looks_like_path = "/" in wanted or os.sep in wanted or wanted in {".", ".."}
    if looks_like_path or wanted.lower().endswith(_SESSION_FILE_SUFFIXES):
        return Path(expanded(wanted))
    return None


def is_id_of_a_name(wanted: str, path: Path) -> bool:
    """Whether what looks like a path is the id of something that people named, slashes and all."""
    is_id = wanted.partition(":")[0] in sources.available() or "@" in wanted
    return is_id and not may_exist(path)


def sessions_in(path: Path) -> list[Session]:
    """The sessions in one file, the first first. Raises the error that says why there is none."""
    sessions = reading_of(path).sessions
    if not sessions:
        raise NotASessionError(str(path), _looks_like(path))
    return sorted(sessions, key=_as_they_began)


def reading_of(path: Path) -> Reading:
    """What one file holds. Raises the error that says why it is nothing of an agent's."""
    with _naming_trouble(path):
        if reading := _read_alone(path):
            return reading
        raise NotASessionError(str(path), _looks_like(path))


def is_document(path: Path) -> bool:
    """Whether a file is a session that was exported as a document of ours: anybody may have written it."""
    return _document_in(path) is not None


def _document_in(path: Path) -> Callable[[bytes], list[Session]] | None:
    """What reads a document of ours; None for any other file."""
    try:
        if not path.is_file():
            return None
        with path.open("rb") as opened:
            beginning = opened.read(_BEGINNING)
    except OSError:
        return None
    if is_session_document(beginning):
        return read_document
    return _read_record if _RECORD.match(beginning) else None


def agent_view(path: Path) -> dict[str, Any]:
    """The record as the agent itself would load it. Raises the error that says why it would not."""
    with _naming_trouble(path):
        reading = _read_alone(path)
        of_agents = {session.agent for session in reading.sessions} if reading else set()
        # A file is loaded by the agent that wrote it; where we find no session, one of them may still.
        for name in of_agents.intersection(sources.available()) or sources.available():
            if path.is_file() and (record := sources.load(name).agent_view(path)) is not None:
                return record
        raise NotLoadedByAgentError(str(path), _looks_like(path), can_be_shown=bool(of_agents))


def _read_alone(path: Path) -> Reading | None:
    """What one file holds that was given by hand; None if it is no session."""
    if read := _document_in(path):
        return _read_document(path, read)
    for name in sources.available():
        if path.is_file() and (reading := sources.load(name).read_alone(path)):
            return reading
    return None


def _read_record(content: bytes) -> list[Session]:
    """The session of a record, signed by somebody or not: only `verify` looks at that."""
    from geminids.records.encoding import decode
    from geminids.records.reading import session_of

    record, _ = decode(content)
    return [session_of(record)[0]]


def _read_document(path: Path, read: Callable[[bytes], list[Session]]) -> Reading:
    """The sessions of a document of ours."""
    content = path.read_bytes()
    try:
        found = read(content)
    except RecordError as error:
        raise NotASessionError(str(path), f"a record that cannot be read back ({error})") from error
    except msgspec.DecodeError as error:
        looks_like = f"a session that geminids has written and something has damaged ({error})"
        raise NotASessionError(str(path), looks_like) from error
    used = {"session": Tally(len(found), len(content))}
    account = FileAccount(str(path), "geminids-session", SCHEMA, len(content), used, {}, {}, {})
    return Reading(tuple(found), (account,), ())


def _looks_like(path: Path) -> str:
    from geminids.sources.describe import describe

    return describe(path)


class _naming_trouble:  # noqa: N801 - reads as a phrase where it is used
    """Turns what the operating system says about a file given by hand into an error that names the file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        if any(sources.load(name).keeps_secrets(self._path) for name in sources.available()):
            raise SecretFileError(str(self._path))
        if not may_exist(self._path):
            raise NothingToReadError(str(self._path), "there is no such file")

    def __exit__(self, _kind: object, error: object, _trace: object) -> None:
        if isinstance(error, OSError):
            raise NothingToReadError(str(self._path), error.strerror or str(error)) from error


def _as_they_began(session: Session) -> tuple[bool, bool, datetime | None, str]:
    # A file belongs to the session that the human led; subagents in it come after.
    began = session.started_at
    return (session.kind is not SessionKind.MAIN, began is None, began, session.id)
