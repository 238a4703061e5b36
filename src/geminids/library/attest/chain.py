"""A folder of statements, in which each is tied to the one before it of the same session.

    <folder>/statements.json            which states of sessions were signed last; can be made anew
    <folder>/<agent>-<id>-<key>/0001.acr, 0002.acr …

A statement names the SHA-256 of the file before it, in what is signed. Whoever changes an old statement, or
takes one out of the middle, breaks the chain. Whoever takes the last ones away does not: only a copy that
somebody else has keeps those.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from geminids.core.atomic_files import remove_left_over
from geminids.core.config import is_below
from geminids.core.errors import AgentFolderError, FileExistsAlreadyError, RedactionError, SessionGoneError
from geminids.library.attest.attestation import ATTEMPTS, Attester
from geminids.sharing.export.files import naming, write_file
from geminids.sharing.records.errors import RecordError
from geminids.sharing.records.standalone import body_of, key_id, verify

if TYPE_CHECKING:
    from geminids.core.model import Session
    from geminids.library.export_items import Item
    from geminids.sharing.records.standalone import PublicKey, Verdict

LIST_FILE = "statements.json"
SUFFIX = ".acr"
SAVED_EVERY = 100
"""Statements after which the list is written: more is not looked at twice if we are killed."""
_NUMBERED = re.compile(r"(\d{4,9})\.acr")
_PLAIN = re.compile(r"[^A-Za-z0-9]+")
_SEPARATORS = re.compile(r"[/\\]")
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
        self._list = _listed(folder / LIST_FILE)
        self._noted: dict[str, Signed] = {}

    def sign(
        self, items: Sequence[Item], attesting: Attester, progress: Progress | None = None
    ) -> ChainOutcome:
        """Sign every session that is new or has changed."""
        signed: list[Path] = []
        failed: dict[str, str] = {}
        names = _names_of(items)
        try:
            for number, item in enumerate(items):
                if progress:
                    progress(number, len(items))
                try:
                    path = self._brought_up_to_date(names[number], item, attesting)
                except (RecordError, RedactionError, SessionGoneError) as error:
                    failed[item.id] = str(error)
                    continue
                if path is not None:
                    signed.append(path)
                    if len(signed) % SAVED_EVERY == 0:
                        self._save()
            if progress:
                progress(len(items), len(items))
        finally:
            if self._noted:
                self._save()
        return ChainOutcome(signed, len(items) - len(signed) - len(failed), failed)

    def _brought_up_to_date(self, name: str, item: Item, attesting: Attester) -> Path | None:
        """The new statement of a session; None if the last one still says all of it."""
        for _ in range(ATTEMPTS):
            try:
                return self._continued(name, item, attesting)
            except FileExistsAlreadyError:
                # Somebody else signs into this folder and was faster.
                continue
        raise RecordError(f"Another process signs {item.id} at the same time. Run `geminids attest` again.")

    def _continued(self, name: str, item: Item, attesting: Attester) -> Path | None:
        stamp = f"{item.stamp.hex()} {attesting.describes}" if item.stamp else None
        files = statement_files(self.folder / name)
        sequence = files[-1][0] if files else 0
        known = self._list.get(name)
        if known and files and stamp == known.stamp and sequence == known.sequence:
            return None
        presented = attesting.presented(attesting.record(partial(_read, item)))
        last = last_statement(files[-1][1], attesting.public_key) if files else None
        # What is taken out of a record may have changed unseen; the list knows, unless it is lost.
        is_comparable = not attesting.is_redacting or known is None
        if last and is_comparable and body_of(last.record) == body_of(presented.record):
            # Whoever was killed after it was written may have left its other name.
            remove_left_over(str(self.folder / name))
            self._note(name, sequence, stamp)
            return None
        chain = {"sequence": sequence + 1} | ({"previous": last.sha256} if last else {})
        path = self.folder / name / f"{sequence + 1:04}{SUFFIX}"
        attested = attesting.signed(presented, chain)
        with naming(path.parent):
            path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, [attested.signed], force=False)
        self._note(name, sequence + 1, stamp)
        return path

    def _note(self, name: str, sequence: int, stamp: str | None) -> None:
        if stamp is not None:
            self._noted[name] = Signed(sequence, stamp)

    def _save(self) -> None:
        with naming(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
        # Others may have written their own since.
        sessions = {**_listed(self.folder / LIST_FILE), **self._noted}
        written = msgspec.json.format(msgspec.json.encode(StatementList(sessions)), indent=1)
        write_file(self.folder / LIST_FILE, [written, b"\n"], force=True)


class Last(NamedTuple):
    """The newest statement of a session."""

    sha256: bytes
    """What the next one names."""
    record: dict[str, Any]


def statement_files(folder: Path) -> list[tuple[int, Path]]:
    """The statements of one session by their numbers, the first first."""
    try:
        names = [path for path in folder.iterdir() if _NUMBERED.fullmatch(path.name)]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted((int(path.stem), path) for path in names)


def last_statement(path: Path, key: PublicKey) -> Last:
    """The statement that the next one is to be tied to. Raises RecordError if it is none, or damaged.

    If it was signed with another key, all but the signature is checked.
    """
    with naming(path):
        content = path.read_bytes()
    verdict = verify(content, keys=[key])
    fault = fault_of(verdict, [key])
    if fault or verdict.record is None:
        raise RecordError(
            f"{path} is damaged, and no statement can follow it: {fault}. Restore it from a backup, or "
            "remove it."
        )
    return Last(sha256(content).digest(), verdict.record)


def fault_of(verdict: Verdict, keys: Sequence[PublicKey]) -> str | None:
    """What is wrong with a signed record; None if nothing is.

    Where it was signed with none of the keys, all but the signatures is looked at.
    """
    is_known = verdict.key_id in {key_id(key) for key in keys}
    unasked = () if is_known else ("signature", "seal")
    failed = [check for check in verdict.checks if check.holds is False and check.name not in unasked]
    if failed:
        return failed[0].detail
    return None if verdict.record is not None else "it holds no record"


def name_of(item: Item) -> str:
    """The folder of a session's statements: it tells no title, and is the same wherever the file lies.

    Agents move files to an archive, pack them, and give them another suffix.
    """
    agent, _, native_id = item.id.partition(":")
    short = _PLAIN.sub("", native_id)[:_ID_LENGTH]
    stem = _SEPARATORS.split(item.file or "")[-1].partition(".")[0]
    digest = sha256(f"{item.id}\0{stem}".encode("utf-8", "surrogatepass")).hexdigest()
    return f"{agent}-{short}-{digest[:_KEY_LENGTH]}"


def _names_of(items: Sequence[Item]) -> list[str]:
    """A folder for each session; where two would share one, their places tell them apart."""
    names = [name_of(item) for item in items]
    shared = {name for name, number in Counter(names).items() if number > 1}
    return [
        f"{name}-{item.key[:_KEY_LENGTH]}" if name in shared else name
        for name, item in zip(names, items, strict=True)
    ]


def _listed(path: Path) -> Mapping[str, Signed]:
    """What was signed last; a list that is not there, or is damaged, only costs looking at all again."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=StatementList).sessions
    except (FileNotFoundError, NotADirectoryError, UnicodeDecodeError, msgspec.DecodeError):
        return {}


def _read(item: Item) -> Session:
    try:
        session = item.read()
    except OSError as error:
        raise RecordError(f"{item.file or item.id} cannot be read: {error.strerror}.") from error
    if session is None:
        raise SessionGoneError(item.id, item.file)
    return session
