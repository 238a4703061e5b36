"""Signed records, checked: what the verifier checks alone, and what only a reader of sessions can.

The verifier (`records/standalone.py`) checks signatures, hashes and proofs. Here the shape of the record is
checked too, time stamps, and whether the source, read anew, gives the entries that were signed.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import cbor2

from geminids.attesting import SIGNATURE_SUFFIX
from geminids.chaining import statement_files
from geminids.errors import GeminidsError, NothingToReadError
from geminids.records import encoding, schema
from geminids.records.errors import RecordError
from geminids.records.profile import OURS, SOURCE
from geminids.records.standalone import ALGORITHMS, Check, PublicKey, Redaction, Verdict, verify
from geminids.records.timestamps import check_tokens, signature_field
from geminids.records.vcon import record_in

if TYPE_CHECKING:
    from geminids.model import Session
    from geminids.records.cddl import Mismatch, Schema

RecordCheck = Check

COSE_TAG = b"\xd2"
"""The first byte of every COSE_Sign1 that has its tag."""


class Asked(NamedTuple):
    """What is to be checked, and with what."""

    keys: Sequence[PublicKey] = ()
    sources: Sequence[Path] = ()
    schema: Schema | None = None
    """Another schema that the record must have the shape of."""
    authorities: Sequence[bytes] = ()
    """Certificates of whom time stamps are believed, as PEM."""
    previous: Path | None = None
    is_unsigned: bool = False
    """Whether a record without a signature is enough."""


class VerifiedRecord(NamedTuple):
    """What became of every check of one file."""

    path: Path
    checks: Sequence[Check]
    verdict: Verdict | None
    """What the verifier found out; None for a record without a signature."""
    record: Mapping[str, Any] | None

    @property
    def holds(self) -> bool:
        """Whether everything that was asked for holds."""
        return all(check.holds is not False for check in self.checks)

    @property
    def algorithm(self) -> str | None:
        """What it was signed with."""
        return ALGORITHMS.get(self.verdict.algorithm or 0) if self.verdict else None

    @property
    def issued_at(self) -> datetime | None:
        """When it was signed, as the signer says."""
        claims = self.verdict.claims if self.verdict else None
        if claims is None or claims.issued_at is None:
            return None
        try:
            return datetime.fromtimestamp(claims.issued_at, UTC)
        except (OverflowError, OSError, ValueError):
            return None

    @property
    def signature_sha256(self) -> str | None:
        """What a time stamp over the signature is asked for."""
        if self.verdict is None or self.verdict.signature is None:
            return None
        return hashlib.sha256(signature_field(self.verdict.signature)).hexdigest()

    @property
    def redactions(self) -> Sequence[Redaction]:
        """What was taken out after the record was committed to."""
        return self.verdict.redactions if self.verdict else ()


class Given(NamedTuple):
    """A file to be checked, taken apart."""

    signed: bytes | None
    """The signature; None if there is none."""
    content: bytes | None
    """The bytes of the record, where they are not in the signature's own file."""


class Verifying:
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
        contents = [(source.name, _content(source)) for source in self._asked.sources]
        previous = _content(self._asked.previous) if self._asked.previous else None
        return self._signed(path, given, contents, previous)

    def folder(self, folder: Path) -> Iterator[VerifiedRecord]:
        """Check every statement in a folder, and that each is tied to the one before it."""
        for inside in sorted((folder, *(path for path in folder.iterdir() if path.is_dir()))):
            before: VerifiedRecord | None = None
            content: bytes | None = None
            for sequence, path in statement_files(inside):
                given = Given(_content(path), None)
                verified = self._signed(path, given, (), content)
                yield verified._replace(checks=[*verified.checks, *_linked(before, verified, sequence)])
                before, content = verified, given.signed

    def _signed(
        self,
        path: Path,
        given: Given,
        sources: Sequence[tuple[str, bytes]],
        previous: bytes | None,
    ) -> VerifiedRecord:
        verdict = verify(
            given.signed or b"",
            record=given.content,
            keys=self._asked.keys,
            sources=sources,
            previous=previous,
        )
        checks = [*verdict.checks, *self._shape(verdict.record, given.signed)]
        checks += check_tokens(verdict, self._asked.authorities)
        if sources and verdict.record is not None:
            checks.append(self._told_again(verdict, sources))
        return VerifiedRecord(path, checks, verdict, verdict.record)

    def _unsigned(self, path: Path, content: bytes) -> VerifiedRecord:
        """What can be said of a record that nobody signed."""
        is_enough = self._asked.is_unsigned
        missing = Check("signature", None if is_enough else False, "there is none: nobody vouches for it")
        try:
            record, _ = encoding.decode(content)
        except RecordError as error:
            return VerifiedRecord(path, [missing, Check("record", False, str(error))], None, None)
        return VerifiedRecord(path, [missing, *self._shape(record, None)], None, record)

    def _shape(self, record: Mapping[str, Any] | None, signed: bytes | None) -> Iterator[Check]:
        """Whether everything has the shape it should have."""
        if signed is not None:
            yield _envelope(signed)
        if record is None:
            return
        yield _fits("schema", schema.check_record(record))
        if self._asked.schema is not None:
            yield _fits(f"schema {self._asked.schema.name}", self._asked.schema.mismatch(record))

    def _told_again(self, record: Mapping[str, Any], given: Sequence[GivenFile]) -> Check:
        """Whether the source, read anew, gives the entries of the record."""
        try:
            files = files_of(record, given)
            with laid_out(files) as laid:
                told = told_sessions(laid, self._read)
                session = same_session(record, told, laid)
                others = (self._entries(other) for other in told if other is not session)
                contents = [file.content for _, file in files]
                otherwise = difference(record, contents, self._entries(session), chain.from_iterable(others))
        except UntoldError as error:
            return Check(TRANSLATION, None, str(error))
        except GeminidsError as error:
            return Check(TRANSLATION, False, f"the source gives no session: {error}")
        number = len(record["session"]["entries"])
        same = f"read anew, the source gives the same {number:,} entries"
        return Check(TRANSLATION, otherwise is None, otherwise or same)

    def _entries(self, session: Session) -> list[Any]:
        entries: list[Any] = self._record(session)["session"]["entries"]
        return entries


def taken_apart(path: Path, signature: Path | None) -> Given:
    """A signed file, or a record and the signature beside it."""
    content = _content(path)
    if signature is not None:
        return Given(_content(signature), content)
    if is_cose(content):
        return Given(content, None)
    if (vcon := _vcon(content)) is not None:
        record, signed = record_in(vcon)
        return Given(signed, encoding.encode_json(record))
    beside = path.with_name(path.name + SIGNATURE_SUFFIX)
    return Given(_content(beside) if beside.exists() else None, content)


def is_cose(content: bytes) -> bool:
    """Whether bytes begin as a COSE_Sign1 does; no JSON and no record in CBOR does."""
    return content[:1] == COSE_TAG


def _vcon(content: bytes) -> dict[str, Any] | None:
    """The object, if it is a vCon: it names its version so, and no record does."""
    if not content.lstrip().startswith(b"{"):
        return None
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and "vcon" in value else None


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise NothingToReadError(str(path), reason or "it cannot be read") from error


def _envelope(signed: bytes) -> Check:
    """Whether a signature has the shape that the format gives it."""
    name = "envelope schema"
    try:
        tagged = cbor2.loads(signed)
    except (cbor2.CBORError, ValueError, RecursionError):
        return Check(name, False, "it cannot be read as CBOR")
    return _fits(name, schema.check_envelope(tagged))


def _fits(name: str, mismatch: Mismatch | None) -> Check:
    return Check(
        name, mismatch is None, str(mismatch) if mismatch else "it has the shape that it should have"
    )


def _linked(before: VerifiedRecord | None, verified: VerifiedRecord, sequence: int) -> Iterator[Check]:
    """Whether a statement stands at its place in the chain, and still says what the one before it said."""
    said = dict(verified.verdict.chain or {}) if verified.verdict else {}
    if said.get("sequence") != sequence:
        yield Check("place", False, f"it says that it is number {said.get('sequence')}, not {sequence}")
    elif before is None and sequence != 1:
        yield Check("place", False, f"the statements before number {sequence} are gone")
    if before is None:
        return
    yield _past(before, verified)


def _past(before: VerifiedRecord, after: VerifiedRecord) -> Check:
    """Whether every native record of the earlier statement is in the later one, byte for byte."""
    earlier, later = _slices(before.record), _slices(after.record)
    if before.redactions or after.redactions or not earlier:
        return Check(PAST, None, "it cannot be told: hashes of the source are withheld, or there are none")
    if missing := [place for digest, place in earlier.items() if digest not in later]:
        detail = f"rewritten: {len(missing):,} of {len(earlier):,} records that were signed before are gone"
        return Check(PAST, False, f"{detail}, first {missing[0]}")
    return Check(PAST, True, f"all {len(earlier):,} records that were signed before are in it")


def _slices(record: Mapping[str, Any] | None) -> dict[str, str]:
    """The hashes of all native records that later versions of a file repeat, and where each stands."""
    found: dict[str, str] = {}
    logs = _logs(record or {})
    for at, entry in entries_of(dict(record or {})):
        places = entry.get(SOURCE)
        is_of_message = not str(entry.get("event-type", "")).startswith(NATIVE_EVENT)
        for place in places if isinstance(places, list) else ():
            match place:
                # The head of a document is written anew with every message.
                case {"file": file, "sha256": str(digest)} if is_of_message or file in logs:
                    found.setdefault(digest, pointer_of(at))
    return found


def _logs(record: Mapping[str, Any]) -> set[int]:
    """Which files of a record are logs, to which their agent only appends."""
    files = record.get(SOURCE)
    formats = [file.get("format") for file in files if isinstance(file, dict)] if isinstance(files, list) else []
    return {number for number, name in enumerate(formats) if "jsonl" in str(name)}
