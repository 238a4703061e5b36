"""Signed records, checked: what the verifier checks alone, and what only a reader of sessions can.

The verifier (`sharing/records/standalone.py`) checks signatures, hashes and proofs. Here the shape of the
record is checked too, time stamps, and whether the source, read anew, gives the entries that were signed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from geminids.core.errors import GeminidsError
from geminids.library.attest.agent_files import (
    NotRereadError,
    SourceFile,
    difference,
    entries_of,
    files_of,
    is_unchanged,
    laid_out,
    opened_source,
    same_session,
    sessions_in,
)
from geminids.library.attest.chain import Progress, statement_files
from geminids.library.attest.history import linked, past
from geminids.library.attest.signed_files import Given, read_given, taken_apart
from geminids.library.attest.verified import TrustedKey, VerifiedRecord
from geminids.sharing.records import encoding
from geminids.sharing.records.errors import RecordError
from geminids.sharing.records.mismatches import Mismatch, check_envelope, check_record
from geminids.sharing.records.standalone import (
    ALGORITHMS,
    Check,
    PublicKey,
    Verdict,
    key_id,
    verify,
)
from geminids.sharing.records.timestamps import NAME as TIME_STAMP
from geminids.sharing.records.timestamps import check_tokens
from geminids.sharing.records.vcon import vcon_of

if TYPE_CHECKING:
    from geminids.core.model import Session

TRANSLATION = "translation"
"""What the check is called that reads the source anew."""


class Asked(NamedTuple):
    """What is to be checked, and with what."""

    keys: Sequence[PublicKey] = ()
    sources: Sequence[Path] = ()
    authorities: Sequence[bytes] = ()
    """Certificates of whom time stamps are believed, as PEM."""
    previous: Path | None = None
    is_unsigned: bool = False
    """Whether a record without a signature is enough."""
    trusted: Sequence[TrustedKey] = ()
    """What each of the keys is called."""
    are_chosen: bool = True
    """Whether these keys were given: no other is good enough. Else they are all that is known here."""


class RecordVerifier:
    """Checks files with all that was chosen."""

    def __init__(
        self, asked: Asked, read: Callable[[Path], list[Session]], record: Callable[[Session], dict[str, Any]]
    ) -> None:
        """`read` gives the sessions in a file of an agent, `record` translates one."""
        self._asked = asked
        self._read = read
        self._record = record

    def file(self, path: Path, signature: Path | None = None) -> VerifiedRecord:
        """Check one file: a statement, an excerpt, a vCon, or a record with its signature beside it."""
        given = taken_apart(path, signature)
        if given.signed is None:
            return self._unsigned(path, given.content or b"")
        sources = [opened_source(source, read_given(source)) for source in self._asked.sources]
        previous = read_given(self._asked.previous) if self._asked.previous else None
        verified = self._signed(path, given, sources, previous)
        if previous is None:
            return verified
        is_kept = past(verify(previous), verified.verdict)
        return verified._replace(checks=[*verified.checks, is_kept])

    def folder(self, folder: Path, progress: Progress | None = None) -> Iterator[VerifiedRecord]:
        """Check every statement in a folder, and that each is tied to the one before it."""
        folders = sorted((folder, *(path for path in folder.iterdir() if path.is_dir())))
        chains = [statement_files(inside) for inside in folders]
        done, total = 0, sum(map(len, chains))
        for files in chains:
            before: Verdict | None = None
            number = 0
            content: bytes | None = None
            for sequence, path in files:
                if progress:
                    progress(done, total)
                done += 1
                given = Given(read_given(path), None)
                verified = self._signed(path, given, (), content)
                checks = [*verified.checks, *linked(before, number, verified.verdict, sequence)]
                yield verified._replace(checks=checks)
                before, number, content = verified.verdict, sequence, given.signed

    def _signed(
        self, path: Path, given: Given, sources: Sequence[SourceFile], previous: bytes | None
    ) -> VerifiedRecord:
        verdict = verify(
            given.signed or b"",
            record=given.content,
            keys=self._asked.keys,
            sources=[(source.path.name, source.content) for source in sources],
            previous=previous,
        )
        # Of time stamps the verifier checks only what they are over; here also whose they are.
        checks = [check for check in verdict.checks if check.name != TIME_STAMP]
        checks += [*_shape(verdict.record, given.signed), *check_tokens(verdict, self._asked.authorities)]
        if given.vcon is not None and verdict.record is not None:
            checks.append(_wrapping(given.vcon, verdict.record, given.signed or b""))
        if sources and verdict.record is not None:
            checks.append(self._reread(verdict.record, sources))
        known = {
            key_id(key): trusted for key, trusted in zip(self._asked.keys, self._asked.trusted, strict=False)
        }
        key = known.get(verdict.key_id or b"")
        unknown = self._unknown_key(verdict) if key is None else None
        if unknown:
            why = next(check.detail for check in checks if check.name == "signature")
            checks = [check._replace(detail=unknown) if check.detail == why else check for check in checks]
        return VerifiedRecord(path, checks, verdict, verdict.record, key, unknown)

    def _unknown_key(self, verdict: Verdict) -> str | None:
        """What is to be said of a key that nobody gave; None if there is nothing to check with it."""
        is_legible = verdict.record is not None and verdict.algorithm in ALGORITHMS
        if self._asked.are_chosen or verdict.holds or not is_legible:
            return None
        named = f"key {verdict.key_id.hex()[:16]}…" if verdict.key_id else "a key that it does not name"
        return f"signed with {named}, which is not one of yours"

    def _unsigned(self, path: Path, content: bytes) -> VerifiedRecord:
        """What can be said of a record that nobody signed."""
        is_enough = self._asked.is_unsigned
        missing = Check("signature", None if is_enough else False, "there is none")
        try:
            record, _ = encoding.decode(content)
        except RecordError as error:
            return VerifiedRecord(path, [missing, Check("record", False, str(error))], None, None)
        return VerifiedRecord(path, [missing, *_shape(record, None)], None, record)

    def _reread(self, record: Mapping[str, Any], sources: Sequence[SourceFile]) -> Check:
        """Whether the source, read anew, gives the entries of the record."""
        try:
            files = files_of(record, sources)
            with laid_out(files) as laid:
                otherwise = self._otherwise(record, files, laid)
            if otherwise and is_unchanged(files):
                otherwise = self._otherwise(record, files, [file.path for _, file in files])
        except NotRereadError as error:
            return Check(TRANSLATION, None, str(error))
        number = len(entries_of(record))
        same = f"the source gives the same {number:,} entries"
        return Check(TRANSLATION, otherwise is None, otherwise or same)

    def _otherwise(
        self, record: Mapping[str, Any], files: Sequence[tuple[str, SourceFile]], lying: Sequence[Path]
    ) -> str | None:
        """What a source tells otherwise than a record; None if it tells the same."""
        try:
            sessions = sessions_in(lying, self._read)
            session = same_session(record, sessions, lying)
            others = (entries_of(self._record(other)) for other in sessions if other is not session)
            contents = [file.content for _, file in files]
            return difference(record, contents, self._record(session), chain.from_iterable(others))
        except GeminidsError as error:
            return f"the source gives no session: {error}"


def _wrapping(vcon: bytes, record: dict[str, Any], signed: bytes) -> Check:
    """Whether a vCon tells what its record tells, which alone is signed."""
    name = "vcon"
    expected = vcon_of(record, signature=signed)
    otherwise: bool | None
    match record.get("recording-agent"):
        case {"name": "geminids"}:
            # What we write has one form; whoever writes it in another may mean other things.
            is_same, otherwise = vcon == encoding.encode_json(expected), False
        case _:
            is_same, otherwise = encoding.decode(vcon)[0] == expected, None
    if is_same:
        return Check(name, True, "everything else in it follows from the record")
    return Check(name, otherwise, "it differs from the record; only the record is signed")


def _shape(record: Mapping[str, Any] | None, signed: bytes | None) -> Iterator[Check]:
    """Whether everything has the shape it should have."""
    if signed is not None:
        yield _fits("envelope schema", check_envelope(signed))
    if record is not None:
        yield _fits("schema", check_record(record))


def _fits(name: str, mismatch: Mismatch | None) -> Check:
    if mismatch is None:
        return Check(name, True, "it conforms to the schema")
    where = mismatch.path or "the whole"
    return Check(name, False, f"{where}: expected {mismatch.expected}, found {mismatch.found}")
