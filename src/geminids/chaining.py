"""A folder of statements, in which each is tied to the one before it of the same session.

    <folder>/statements.json            which states of sessions were signed last; can be made anew
    <folder>/<agent>-<id>-<key>/0001.acr, 0002.acr …

A statement names the SHA-256 of the file before it, in what is signed. Whoever changes an old statement, or
takes one out of the middle, breaks the chain. Whoever takes the last ones away does not: only a copy that
somebody else has keeps those.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from geminids.attesting import Attesting
from geminids.config import is_below
from geminids.errors import AgentFolderError, RedactionError, SessionGoneError
from geminids.export.files import naming, write_file
from geminids.records.errors import RecordError
from geminids.records.profile import COMMITMENT
from geminids.records.standalone import verify

if TYPE_CHECKING:
    from geminids.exporting import Item
    from geminids.model import Session

LIST_FILE = "statements.json"
SUFFIX = ".acr"
SAVED_EVERY = 100
"""Statements after which the list is written: more is not looked at twice if we are killed."""
_NUMBERED = re.compile(r"(\d{4,9})\.acr")
_PLAIN = re.compile(r"[^A-Za-z0-9]+")
_ID_LENGTH = 8
_KEY_LENGTH = 8

Progress = Callable[[int, int], None]


class Signed(msgspec.Struct, frozen=True):
    """The state of a session that was signed last."""

    sequence: int
    stamp: str
    """Of the session and of all that was chosen."""


class StatementList(msgspec.Struct, frozen=True, tag_field="schema", tag="geminids/statements/1"):
    """What `statements.json` holds."""

    sessions: dict[str, Signed]


class ChainOutcome(NamedTuple):
    """What became of a folder of statements."""

    signed: Sequence[Path]
    unchanged: int
    failed: Mapping[str, str]
    """Sessions for which there is no new statement though there should be, and why."""


class Statements:
    """A folder of statements."""

    def __init__(self, folder: Path, agents_folders: Sequence[str] = ()) -> None:
        if is_below(str(folder), agents_folders):
            raise AgentFolderError(str(folder))
        self.folder = folder
        self._list = dict(_listed(folder / LIST_FILE))

    def sign(
        self, items: Sequence[Item], attesting: Attesting, progress: Progress | None = None
    ) -> ChainOutcome:
        """Sign every session that is new or has changed."""
        signed: list[Path] = []
        failed: dict[str, str] = {}
        try:
            for number, item in enumerate(items):
                if progress:
                    progress(number, len(items))
                try:
                    path = self._brought_up_to_date(item, attesting)
                except (RecordError, RedactionError, SessionGoneError) as error:
                    failed[item.id] = str(error)
                    continue
                if path is not None:
                    signed.append(path)
                    if len(signed) % SAVED_EVERY == 0:
                        self._save()
        finally:
            if progress:
                progress(len(items), len(items))
            if items:
                self._save()
        return ChainOutcome(signed, len(items) - len(signed) - len(failed), failed)

    def _brought_up_to_date(self, item: Item, attesting: Attesting) -> Path | None:
        """The new statement of a session; None if the last one still says all of it."""
        name = name_of(item)
        stamp = f"{item.stamp.hex()} {attesting.describes}" if item.stamp else None
        last = last_statement(self.folder / name)
        known = self._list.get(name)
        if known and last and stamp == known.stamp and known.sequence == last.sequence:
            return None
        recorded = attesting.record(_read(item))
        if last and not attesting.is_redacting and _says_the_same(last, recorded.record):
            self._note(name, last.sequence, stamp)
            return None
        sequence = last.sequence + 1 if last else 1
        chain = {"sequence": sequence} | ({"previous": last.sha256} if last else {})
        path = self.folder / name / f"{sequence:04}{SUFFIX}"
        attested = attesting.signed(recorded, chain)
        with naming(path.parent):
            path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, [attested.signed], force=False)
        self._note(name, sequence, stamp)
        return path

    def _note(self, name: str, sequence: int, stamp: str | None) -> None:
        if stamp is not None:
            self._list[name] = Signed(sequence, stamp)

    def _save(self) -> None:
        with naming(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
        written = msgspec.json.format(msgspec.json.encode(StatementList(self._list)), indent=1)
        write_file(self.folder / LIST_FILE, [written, b"\n"], force=True)


class Last(NamedTuple):
    """The newest statement of a session."""

    sequence: int
    content: bytes

    @property
    def sha256(self) -> bytes:
        """What the next one names."""
        return hashlib.sha256(self.content).digest()


def statement_files(folder: Path) -> list[tuple[int, Path]]:
    """The statements of one session by their numbers, the first first."""
    try:
        names = [path for path in folder.iterdir() if _NUMBERED.fullmatch(path.name)]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted((int(path.stem), path) for path in names)


def last_statement(folder: Path) -> Last | None:
    """The newest statement in the folder of a session."""
    files = statement_files(folder)
    if not files:
        return None
    sequence, path = files[-1]
    return Last(sequence, path.read_bytes())


def name_of(item: Item) -> str:
    """The folder of a session's statements: always the same, and it tells no title."""
    agent, _, native_id = item.id.partition(":")
    short = _PLAIN.sub("", native_id)[:_ID_LENGTH]
    return f"{agent}-{short}-{item.key[:_KEY_LENGTH]}"


def _listed(path: Path) -> Mapping[str, Signed]:
    """What was signed last; a list that is not there, or is damaged, only costs looking at all again."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=StatementList).sessions
    except (FileNotFoundError, msgspec.DecodeError):
        return {}


def _read(item: Item) -> Session:
    session = item.read()
    if session is None:
        raise SessionGoneError(item.id, item.file)
    return session


def _says_the_same(last: Last, record: dict[str, Any]) -> bool:
    """Whether a statement is of this very record."""
    said = verify(last.content).record
    return said is not None and {**said, COMMITMENT: None} == {**record, COMMITMENT: None}
