"""Files given by hand: what is meant by a path, what it holds, and what stands in the way."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from geminids.core import agents
from geminids.core.agents.base import Reading, may_exist
from geminids.core.config import expanded
from geminids.core.errors import (
    NoCustodyError,
    NotASessionError,
    NothingToReadError,
    NotLoadedByAgentError,
    SecretFileError,
)
from geminids.core.model import FileAccount, Session, SessionFile, SessionKind, Tally
from geminids.core.names import storable
from geminids.sharing.export.session_document import SCHEMA, is_session_document, read_document
from geminids.sharing.records.errors import RecordError, SignatureAloneError
from geminids.sharing.records.files import BEGINNING, is_record

_SESSION_FILE_SUFFIXES = (".json", ".jsonl", ".acr", ".cose", ".cbor", ".vcon")
_ReadDocument = Callable[[Path, bytes], Reading]


def file_meant(wanted: str) -> Path | None:
    """The file that is meant, there or not: what looks like a path, or is named as sessions are."""
    looks_like_path = "/" in wanted or os.sep in wanted or wanted in {".", ".."}
    if looks_like_path or wanted.lower().endswith(_SESSION_FILE_SUFFIXES):
        return Path(expanded(wanted))
    return None


def is_id_of_a_name(wanted: str, path: Path) -> bool:
    """Whether what looks like a path is the id of something that people named, slashes and all."""
    is_id = wanted.partition(":")[0] in agents.available() or "@" in wanted
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


def is_document(path: Path, *, of_records: bool = False) -> bool:
    """Whether a file is a session that was exported, or a record, of whomever: anybody may have written it.

    `of_records`: whether it is a record, signed or not, or the signature of one.
    """
    read = _document_in(path)
    return read is _read_record if of_records else read is not None


def _document_in(path: Path) -> _ReadDocument | None:
    """What reads a document; None for any other file."""
    try:
        if not path.is_file():
            return None
        with path.open("rb") as opened:
            beginning = opened.read(BEGINNING)
        if is_session_document(beginning):
            return _read_session_document
        return _read_record if is_record(beginning, path.read_bytes) else None
    except OSError:
        return None


def agent_view(path: Path) -> dict[str, Any]:
    """The record as the agent itself would load it. Raises the error that says why it would not."""
    with _naming_trouble(path):
        reading = _read_alone(path)
        of_agents = {session.agent for session in reading.sessions} if reading else set()
        if is_document(path):
            looks_like = "a record" if is_document(path, of_records=True) else _looks_like(path)
            raise NotLoadedByAgentError(str(path), looks_like, can_be_shown=True)
        # A file is loaded by the agent that wrote it; where we find no session, one of them may still.
        asked = of_agents.intersection(agents.available()) or agents.available()
        custodians = [custodian for name in asked if (custodian := agents.custodian(name))]
        if not custodians:
            raise NoCustodyError("how it loads a file", [agents.load(name).title for name in asked])
        for custodian in custodians:
            if path.is_file() and (record := custodian.agent_view(path)) is not None:
                return record
        raise NotLoadedByAgentError(str(path), _looks_like(path), can_be_shown=bool(of_agents))


def _read_alone(path: Path) -> Reading | None:
    """What one file holds that was given by hand; None if it is no session."""
    if read := _document_in(path):
        return read(path, path.read_bytes())
    for name in agents.available():
        if path.is_file() and (reading := agents.load(name).read_alone(path)):
            return reading
    return None


def _read_session_document(path: Path, content: bytes) -> Reading:
    """The sessions of a document of ours."""
    try:
        found = read_document(content)
    except msgspec.DecodeError as error:
        looks_like = f"a damaged session that geminids wrote ({error})"
        raise NotASessionError(str(path), looks_like) from error
    return _reading(path, content, found, "geminids-session", SCHEMA)


def _read_record(path: Path, content: bytes) -> Reading:
    """The session of a record, signed by somebody or not: only `verify` looks at that."""
    from geminids.sharing.records.any_record import FORMAT, session_in
    from geminids.sharing.records.files import record_in_file
    from geminids.sharing.records.profile import VERSION

    try:
        session = session_in(record_in_file(content), SessionFile(storable(str(path)), FORMAT, len(content)))
    except SignatureAloneError as error:
        raise NotASessionError(str(path), "a signature; give the file of the record that it signs") from error
    except RecordError as error:
        raise NotASessionError(str(path), f"a record that cannot be read ({error})") from error
    return _reading(path, content, [session], FORMAT, VERSION)


def _reading(path: Path, content: bytes, found: list[Session], file_format: str, era: str) -> Reading:
    used = {"session": Tally(len(found), len(content))}
    account = FileAccount(str(path), file_format, era, len(content), used, {}, {}, {})
    return Reading(tuple(found), (account,), ())


def _looks_like(path: Path) -> str:
    from geminids.reading.describe import describe

    return describe(path)


class _naming_trouble:  # noqa: N801 - reads as a phrase where it is used
    """Turns what the operating system says about a file given by hand into an error that names the file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        if any(source.files().keeps_secrets(self._path) for source in agents.every()):
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
