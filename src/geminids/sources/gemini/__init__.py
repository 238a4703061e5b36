"""Gemini CLI sessions.

    ~/.gemini/tmp/<project>/chats/session-<minute>-<id>.jsonl    since 0.39, April 2026
    ~/.gemini/tmp/<project>/chats/session-<minute>-<id>.json     0.4 to 0.38
    …/chats/<session id>/<agent id>.jsonl                        subagents, since 0.37

A `.jsonl` file is a log of changes, not a list of messages: a record with a known id replaces the
earlier one, `$rewindTo` takes back a message and all after it, `$set` changes the session itself and,
since 0.44, may replace its messages. Checked against releases 0.4 to 0.61.

What lies beside the sessions (saved chats, what the human typed, outputs, plans) is read after them,
and tied to them by what they hold in common. Credentials are never opened.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from geminids.model import FileAccount, Problem, ProblemKind, Project, Session, Tally
from geminids.sources.base import Bundle, Companions, FoundFile, Home, Reading, Scan
from geminids.sources.gemini import homes as gemini_homes
from geminids.sources.gemini.agent_view import agent_view
from geminids.sources.gemini.beside import read_beside
from geminids.sources.gemini.companions import keeps_secrets
from geminids.sources.gemini.evidence import named_folders
from geminids.sources.gemini.files import Segment, read_file, segments
from geminids.sources.gemini.layout import scan
from geminids.sources.gemini.projects import read_registry
from geminids.sources.gemini.records import SESSION_FIELDS, Kind, Record
from geminids.sources.gemini.sessions import sessions
from geminids.sources.traces import Trace

_PROMPT_LOG = "logs.json"
"""How the names of logs begin of what the human typed."""
_PEEK = 4_096
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class GeminiSource:
    """Reads what Gemini CLI leaves in its home."""

    name = "gemini"
    title = "Gemini CLI"
    revision = 1

    def homes(self, environment: Mapping[str, str], user_home: Path) -> Sequence[Home]:
        """The homes this machine has."""
        return gemini_homes.homes(environment, user_home)

    def homes_below(self, folder: Path) -> Sequence[Home]:
        """The homes in a folder that stands for a user's home."""
        return gemini_homes.homes_below(folder)

    def scan(self, home: Home) -> Scan:
        """The session files of a home, in bundles."""
        return scan(home)

    def read(self, bundle: Bundle) -> Reading:
        """The sessions of a bundle, and where every byte of its files went."""
        found: list[Segment] = []
        accounts: list[FileAccount] = []
        problems: list[Problem] = []
        for file in bundle.files:
            try:
                content = file.path.read_bytes()
            except OSError as error:
                accounts.append(_unread(file))
                reason = error.strerror or "cannot be read"
                problems.append(Problem(str(file.path), ProblemKind.UNREADABLE, reason))
                continue
            log = read_file(file.path, content)
            accounts.append(log.account())
            problems.extend(log.problems)
            found.extend(segments(log))
        read = sessions(bundle, found, problems)
        told = dict.fromkeys([*problems, *(p for session in read for p in session.problems)])
        return Reading(tuple(read), tuple(accounts), tuple(told))

    def read_alone(self, path: Path) -> Reading | None:
        """What one file given by hand holds: a session, or a conversation that was saved or printed."""
        if path.name.startswith(_PROMPT_LOG) and _begins_a_list(path):
            # A log may be of any size: it is not read as a whole.
            from geminids.sources.gemini.beside.lost import read_log

            return read_log(path, path.stat().st_size)
        content = path.read_bytes()
        log = read_file(path, content)
        if not any(_tells_of_a_session(record) for record in log.records):
            # Few files need it, and every command would pay for loading it.
            from geminids.sources.gemini.beside.captures import read_copy

            return read_copy(path, content)
        facts = path.stat()
        file = FoundFile(path, facts.st_size, facts.st_mtime_ns, facts.st_ino)
        folder = _project_folder(path)
        project = _project_of(folder) if folder else Project(None, None, None, None)
        return self.read(Bundle(self.name, path.stem, project, (folder,) if folder else (), (file,)))

    def read_beside(self, companions: Companions, traces: Sequence[Trace], limit: int | None) -> Reading:
        """Saved chats and lost sessions of a project, and what became of every file beside its sessions."""
        return read_beside(companions, traces, limit)

    def with_outputs(self, session: Session) -> Session:
        """The session with the whole outputs of its tools, as far as they are there."""
        from geminids.sources.gemini.beside.outputs import with_outputs

        return with_outputs(session)

    def named_ids(self, session: Session) -> Collection[str]:
        """The ids under which the session's own records say that files were put away."""
        from geminids.sources.gemini.beside.outputs import named_ids

        return named_ids(session)

    def named_folders(self, session: Session) -> Iterable[str]:
        """Every folder that a session names in any way."""
        return named_folders(session.messages)

    def keeps_secrets(self, path: Path) -> bool:
        """Whether Gemini CLI keeps credentials in this file."""
        return keeps_secrets(str(path))

    def agent_view(self, path: Path) -> dict[str, Any] | None:
        """The record exactly as Gemini CLI's own loader returns it from this file."""
        content = path.read_bytes()
        return agent_view(read_file(path, content), content)


def _unread(file: FoundFile) -> FileAccount:
    problem = {str(ProblemKind.UNREADABLE): Tally(1, file.size)}
    return FileAccount(str(file.path), "unknown", "unknown", file.size, {}, {}, problem, {})


def _begins_a_list(path: Path) -> bool:
    """Whether the first character of a file opens a list."""
    with path.open("rb") as opened:
        return opened.read(_PEEK).removeprefix(_BYTE_ORDER_MARK).lstrip().startswith(b"[")


def _tells_of_a_session(record: Record) -> bool:
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
