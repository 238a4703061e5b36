"""Signed records, checked: what the verifier checks alone, and what only a reader of sessions can.

The verifier (`sharing/records/standalone.py`) checks signatures, hashes and proofs. Here the shape of the
record is checked too, time stamps, and whether the source, read anew, gives the entries that were signed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from geminids.core.errors import GeminidsError, NothingToReadError
from geminids.library.attest.attesting import SIGNATURE_SUFFIX
from geminids.library.attest.chaining import statement_files
from geminids.library.attest.retelling import (
    GivenFile,
    UntoldError,
    difference,
    entries_told,
    files_of,
    given_file,
    is_unchanged,
    laid_out,
    same_session,
    told_sessions,
)
from geminids.sharing.records import encoding
from geminids.sharing.records.errors import RecordError
from geminids.sharing.records.mismatches import Mismatch, check_envelope, check_record
from geminids.sharing.records.profile import SOURCE
from geminids.sharing.records.standalone import (
    ALGORITHMS,
    Check,
    PublicKey,
    Redaction,
    Verdict,
    entries_of,
    pointer_of,
    verify,
)
from geminids.sharing.records.timestamps import NAME as TIME_STAMP
from geminids.sharing.records.timestamps import check_tokens, signature_field
from geminids.sharing.records.vcon import record_in, vcon_of

if TYPE_CHECKING:
    from geminids.core.model import Session

TRANSLATION, PLACE, PAST = "translation", "place", "past"
"""What the checks are called that the verifier alone has not."""
NATIVE_EVENT = "native:"
"""How entries are called that are records of no message."""
COSE_TAG = b"\xd2"
"""The first byte of every COSE_Sign1 that has its tag."""


class Asked(NamedTuple):
    """What is to be checked, and with what."""

    keys: Sequence[PublicKey] = ()
    sources: Sequence[Path] = ()
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
    vcon: bytes | None = None
    """What both stood in."""

    @property
    def is_vcon(self) -> bool:
        """Whether both stood in a vCon."""
        return self.vcon is not None


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
        sources = [given_file(source, read_given(source)) for source in self._asked.sources]
        previous = read_given(self._asked.previous) if self._asked.previous else None
        verified = self._signed(path, given, sources, previous)
        if previous is None:
            return verified
        past = _past(verify(previous), verified.verdict)
        return verified._replace(checks=[*verified.checks, past])

    def folder(self, folder: Path) -> Iterator[VerifiedRecord]:
        """Check every statement in a folder, and that each is tied to the one before it."""
        for inside in sorted((folder, *(path for path in folder.iterdir() if path.is_dir()))):
            before: Verdict | None = None
            number = 0
            content: bytes | None = None
            for sequence, path in statement_files(inside):
                given = Given(read_given(path), None)
                verified = self._signed(path, given, (), content)
                linked = _linked(before, number, verified.verdict, sequence)
                yield verified._replace(checks=[*verified.checks, *linked])
                before, number, content = verified.verdict, sequence, given.signed

    def _signed(
        self,
        path: Path,
        given: Given,
        sources: Sequence[GivenFile],
        previous: bytes | None,
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
        checks += [
            *_shape(verdict.record, given.signed),
            *check_tokens(verdict, self._asked.authorities),
        ]
        if given.vcon is not None and verdict.record is not None:
            checks.append(_wrapping(given.vcon, verdict.record, given.signed or b""))
        if sources and verdict.record is not None:
            checks.append(self._told_again(verdict.record, sources))
        return VerifiedRecord(path, checks, verdict, verdict.record)

    def _unsigned(self, path: Path, content: bytes) -> VerifiedRecord:
        """What can be said of a record that nobody signed."""
        is_enough = self._asked.is_unsigned
        missing = Check("signature", None if is_enough else False, "there is none: nobody vouches for it")
        try:
            record, _ = encoding.decode(content)
        except RecordError as error:
            return VerifiedRecord(path, [missing, Check("record", False, str(error))], None, None)
        return VerifiedRecord(path, [missing, *_shape(record, None)], None, record)

    def _told_again(self, record: Mapping[str, Any], given: Sequence[GivenFile]) -> Check:
        """Whether the source, read anew, gives the entries of the record."""
        try:
            files = files_of(record, given)
            with laid_out(files) as laid:
                otherwise = self._otherwise(record, files, laid)
            if otherwise and is_unchanged(files):
                otherwise = self._otherwise(record, files, [file.path for _, file in files])
        except UntoldError as error:
            return Check(TRANSLATION, None, str(error))
        number = len(entries_told(record))
        same = f"read anew, the source gives the same {number:,} entries"
        return Check(TRANSLATION, otherwise is None, otherwise or same)

    def _otherwise(
        self, record: Mapping[str, Any], files: Sequence[tuple[str, GivenFile]], lying: Sequence[Path]
    ) -> str | None:
        """What a source tells otherwise than a record; None if it tells the same."""
        try:
            told = told_sessions(lying, self._read)
            session = same_session(record, told, lying)
            others = (entries_told(self._record(other)) for other in told if other is not session)
            contents = [file.content for _, file in files]
            return difference(record, contents, self._record(session), chain.from_iterable(others))
        except GeminidsError as error:
            return f"the source gives no session: {error}"


def taken_apart(path: Path, signature: Path | None) -> Given:
    """A signed file, or a record and the signature beside it."""
    content = read_given(path)
    if signature is not None:
        return Given(read_given(signature), content)
    if is_cose(content):
        return Given(content, None)
    if (vcon := _vcon(content)) is not None:
        record, signed = record_in(vcon)
        return Given(signed, encoding.encode_json(record), content)
    beside = path.with_name(path.name + SIGNATURE_SUFFIX)
    return Given(read_given(beside) if beside.exists() else None, content)


def is_cose(content: bytes) -> bool:
    """Whether bytes begin as a COSE_Sign1 does; no JSON and no record in CBOR does."""
    return content[:1] == COSE_TAG


def _vcon(content: bytes) -> dict[str, Any] | None:
    """The object, if it is a vCon: it names its version so, and no record does."""
    if not content.lstrip().startswith(b"{"):
        return None
    try:
        value, _ = encoding.decode(content)
    except RecordError:
        # What it is will be said by whoever takes it for a record.
        return None
    return value if "vcon" in value else None


def read_given(path: Path) -> bytes:
    """What is in a file that was named by hand. Raises NothingToReadError."""
    try:
        return path.read_bytes()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise NothingToReadError(str(path), reason or "it cannot be read") from error


def _wrapping(vcon: bytes, record: dict[str, Any], signed: bytes) -> Check:
    """Whether a vCon tells what its record tells, which alone is signed."""
    name = "vcon"
    told = vcon_of(record, signature=signed)
    otherwise: bool | None
    match record.get("recording-agent"):
        case {"name": "geminids"}:
            # What we write has one form; whoever writes it in another may mean other things.
            is_same, otherwise = vcon == encoding.encode_json(told), False
        case _:
            is_same, otherwise = encoding.decode(vcon)[0] == told, None
    if is_same:
        return Check(name, True, "all else in it is told from the record")
    return Check(name, otherwise, "it says other things than the record, which alone is signed")


def _shape(record: Mapping[str, Any] | None, signed: bytes | None) -> Iterator[Check]:
    """Whether everything has the shape it should have."""
    if signed is not None:
        yield _fits("envelope schema", check_envelope(signed))
    if record is not None:
        yield _fits("schema", check_record(record))


def _fits(name: str, mismatch: Mismatch | None) -> Check:
    if mismatch is None:
        return Check(name, True, "it has the shape that it should have")
    where = mismatch.path or "the whole"
    return Check(name, False, f"{where}: expected {mismatch.expected}, found {mismatch.found}")


def _linked(before: Verdict | None, number: int, verdict: Verdict | None, sequence: int) -> Iterator[Check]:
    """Whether a statement stands at its place in the chain, and still says what the one before it said."""
    said = (verdict.chain or {}).get("sequence") if verdict else None
    if said != sequence:
        detail = (
            f"it says that it is number {said}" if isinstance(said, int) else "it has no number in a chain"
        )
        yield Check(PLACE, False, f"{detail}, and stands at number {sequence}")
    elif sequence != number + 1:
        yield Check(PLACE, False, f"it is number {sequence}, and number {number + 1} is not there")
    if before is not None:
        yield _past(before, verdict)


def _past(before: Verdict, after: Verdict | None) -> Check:
    """Whether every native record of the earlier statement is in the later one, byte for byte."""
    earlier, later = _slices(before.record), _slices(after.record if after else None)
    if not earlier or not later:
        return Check(PAST, None, "it cannot be told: hashes of the source are withheld, or there are none")
    if missing := [place for digest, place in earlier.items() if digest not in later]:
        detail = f"rewritten: {len(missing):,} of {len(earlier):,} records that were signed before are gone"
        return Check(PAST, False, f"{detail}, first {missing[0]} of the earlier statement")
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
    formats = (
        [file.get("format") for file in files if isinstance(file, dict)] if isinstance(files, list) else []
    )
    return {number for number, name in enumerate(formats) if "jsonl" in str(name)}
