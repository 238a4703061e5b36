"""Reading the files of a bundle, or one file given by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from geminids.agents.gemini.homes import AGENT
from geminids.agents.gemini.read.files import Segment, read_file, segments
from geminids.agents.gemini.read.projects import read_registry
from geminids.agents.gemini.read.records import SESSION_FIELDS, Kind, Record
from geminids.agents.gemini.read.sessions import sessions
from geminids.core.agents.base import Bundle, Reading
from geminids.core.agents.fates import Fate
from geminids.core.disk import GIVEN
from geminids.core.model import FileAccount, Problem, Project
from geminids.core.timestamps import parse_time
from geminids.reading.bounded import read_bounded
from geminids.reading.file_log import given_file, reading_of, refused

_PROMPT_LOG = "logs.json"
"""How the names of logs begin of what the human typed."""
_PEEK = 4_096
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read(bundle: Bundle) -> Reading:
    """The sessions of a bundle, and where every byte of its files went."""
    return _read(bundle, None)


def read_with_fates(bundle: Bundle) -> Reading:
    """The same, with what Gemini CLI's own cleaning would see of the files."""
    from geminids.agents.gemini.read.fates import fates_of

    return _read(bundle, fates_of)


def _read(bundle: Bundle, fates_of: Callable[..., tuple[Fate, ...]] | None) -> Reading:
    found: list[Segment] = []
    accounts: list[FileAccount] = []
    problems: list[Problem] = []
    fates: list[Fate] = []
    for file in bundle.files:
        try:
            text = read_bounded(file.path, bundle.disk)
        except OSError as error:
            account, problem = refused(file, error)
            accounts.append(account)
            problems.append(problem)
            if fates_of:
                fates += fates_of(file)
            continue
        log = read_file(file.path, text)
        accounts.append(log.account())
        problems.extend(log.problems)
        found.extend(segments(log))
        if fates_of:
            fates += fates_of(file, log, text.whole or b"")
    held = sessions(bundle, found, problems)
    if bundle.logs:
        # Headless sessions have none, and every command would pay for loading it.
        from geminids.agents.gemini.companions.typed_words import with_typed_words

        last_updated = (parse_time(segment.meta.get("lastUpdated")) for segment in found)
        held = with_typed_words(bundle, held, max(filter(None, last_updated), default=None))
    return reading_of(held, accounts, problems, fates)


def read_alone(path: Path) -> Reading | None:
    """What one file given by hand holds: a session, or a conversation that was saved or printed."""
    if path.name.startswith(_PROMPT_LOG) and _begins_a_list(path):
        # A log may be of any size: it is not read as a whole.
        from geminids.agents.gemini.companions.lost import read_log

        return read_log(path, path.stat().st_size)
    text = read_bounded(path, GIVEN)
    log = read_file(path, text)
    if not any(_is_of_session(record) for record in log.records):
        # Few files need it, and every command would pay for loading it.
        from geminids.agents.gemini.companions.captures import read_copy

        return None if text.whole is None else read_copy(path, text.whole)
    folder = _project_folder(path)
    project = _project_of(folder) if folder else Project(None, None, None, None)
    folders, files = (folder,) if folder else (), (given_file(path),)
    return read(Bundle(AGENT, path.stem, project, folders, files, disk=GIVEN))


def read_as_agent(path: Path) -> dict[str, Any] | None:
    """The record exactly as Gemini CLI's own loader returns it from this file."""
    from geminids.agents.gemini.read.agent_view import agent_view

    text = read_bounded(path, GIVEN)
    return None if text.whole is None else agent_view(read_file(path, text), text.whole)


def _begins_a_list(path: Path) -> bool:
    """Whether the first character of a file opens a list."""
    with path.open("rb") as opened:
        return opened.read(_PEEK).removeprefix(_BYTE_ORDER_MARK).lstrip().startswith(b"[")


def _is_of_session(record: Record) -> bool:
    is_message = record.kind is Kind.MESSAGE and isinstance(record.value.get("type"), str)
    # What is left of a damaged document may be a header, or the beginning of something else.
    is_header = record.kind is Kind.HEADER and not SESSION_FIELDS.isdisjoint(record.value)
    return is_message or is_header


def _project_folder(path: Path) -> Path | None:
    """The folder of the project that a session file lies in, if it lies where the CLI puts them."""
    above = path.absolute().parents
    return next((folder.parent for folder in above[:2] if folder.name == "chats"), None)


def _project_of(folder: Path) -> Project:
    home = folder.parent.parent
    return read_registry(home).project(folder, home)
