"""Sessions on their way into signed records: translated with their evidence, made redactable, signed.

This is where records meet redaction and the disk. What is hidden in a statement is hidden by taking pieces
out of the record that was committed to, so that the rest still proves to be what was signed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from geminids.core.config import is_below
from geminids.core.errors import AgentFolderError, FileExistsAlreadyError
from geminids.core.model import Location, Message, Origin, Role, Session, State, Unrecognised
from geminids.library.attest.changed_files import changed_file
from geminids.library.attest.choices import SigningManner
from geminids.sharing.export.files import write_file
from geminids.sharing.records import encoding
from geminids.sharing.records.commitment import commit
from geminids.sharing.records.errors import BadTokenError, RecordError
from geminids.sharing.records.evidence import Evidence, evidence_of
from geminids.sharing.records.mismatches import check_record
from geminids.sharing.records.natives import Natives
from geminids.sharing.records.record_maker import Recorded, RecordMaker
from geminids.sharing.records.redaction import places_missing, withhold
from geminids.sharing.records.signature import Claims, PrivateKey, statement
from geminids.sharing.records.standalone import key_id, session_id_of
from geminids.sharing.records.timestamps import check_token
from geminids.sharing.records.translation import record_of
from geminids.sharing.records.unwanted import differences, with_repeats

if TYPE_CHECKING:
    from geminids.sharing.records.standalone import PublicKey
    from geminids.sharing.redact import Redactor

ATTEMPTS = 5
"""So often a session is read whose file is written anew meanwhile."""
SIGNATURE_SUFFIX = ".cose"
"""What a detached signature is called after the record beside it."""


class Signer(NamedTuple):
    """Who signs."""

    key: PrivateKey
    issuer: str
    now: Callable[[], float] = time.time

    def claims(self, subject: str) -> Claims:
        """What is said of a statement made at this moment."""
        return Claims(self.issuer, subject, int(self.now()))


class Presented(NamedTuple):
    """A record as it is to be signed."""

    record: dict[str, Any]
    withheld: Sequence[str]
    """Places of the whole record that were taken out."""


class Attested(NamedTuple):
    """A signed record, as it goes to the disk."""

    id: str
    """The record's."""
    signed: bytes
    """The statement; of a vCon, the object that holds it."""
    beside: bytes | None
    """The record, where it goes into a file of its own."""
    entries: int
    withheld: Sequence[str]
    """Places of the whole record that were taken out."""
    missing: int
    """At how many places something is missing, as `verify` counts: some would tell what stood in others."""


class Attester:
    """All that was chosen for signed records."""

    def __init__(
        self,
        maker: RecordMaker,
        signer: Signer,
        manner: SigningManner,
        redactor: Redactor | None = None,
        agents_folders: Sequence[str] = (),
    ) -> None:
        """With a redactor, what it finds is taken out of what is written, and stays committed to."""
        self._maker = maker
        self._signer = signer
        self._manner = manner
        self._redactor = redactor
        self._agents_folders = agents_folders
        self.hidden = 0
        """How many different things were hidden in sessions so far."""

    @property
    def issuer(self) -> str:
        """Who vouches for it."""
        return self._signer.issuer

    @property
    def key_id(self) -> str:
        """SHA-256 of the public key, in hex."""
        return key_id(self.public_key).hex()

    @property
    def is_redacting(self) -> bool:
        """Whether secrets are taken out."""
        return self._redactor is not None

    @property
    def describes(self) -> str:
        """All that is chosen, in little: with another choice, a session is looked at anew."""
        hiding = self._redactor.fingerprint if self._redactor else ""
        return f"{self._manner.form} {self._manner.simple} {self._signer.issuer} {hiding}"

    @property
    def public_key(self) -> PublicKey:
        """What its signatures are checked with."""
        return self._signer.key.public_key()

    def record(self, read: Callable[[], Session]) -> Recorded:
        """The record of a session, whole and not yet committed to.

        The session is read anew if a file of it is written anew just then; agents mostly append. Raises
        RecordError if that goes on.
        """
        changed = None
        for _ in range(ATTEMPTS):
            session = read()
            natives = self._maker.natives(session)
            if (changed := changed_file(session, natives)) is None:
                return self._recorded(session, natives)
        raise RecordError(f"{changed} is being written right now; its session was not signed. Try again.")

    def presented(self, recorded: Recorded) -> Presented:
        """What is shown of the record of a session, with a commitment to all of it."""
        if recorded.evidence is None:
            return Presented(recorded.record, ())
        whole = commit(recorded.record)
        withheld = self._secrets(recorded)
        return Presented(withhold(whole, withheld) if withheld else whole, withheld)

    def signed(self, presented: Presented, chain: dict[str, Any] | None = None) -> Attested:
        """The record of a session, signed; in a folder of statements with a link to the one before it."""
        if self._manner.token is not None:
            raise RecordError(
                "A time stamp needs an existing record. Write one with `geminids export -f vac`, then sign "
                "it with `geminids attest FILE --timestamp TOKEN`."
            )
        return self._statement(presented, self._encoded(presented.record), chain)

    def given(self, content: bytes) -> Attested:
        """A record that somebody else made, signed in the bytes it has."""
        if self._redactor is not None:
            raise RecordError(
                "A record file is signed as it is. To remove parts of a signed record, use `geminids "
                "redact-record`."
            )
        record, _ = encoding.decode(content)
        if mismatch := check_record(record):
            raise RecordError(f"This record does not conform to the schema. {mismatch.sentence}")
        if self._manner.wrap is not None and content != encoding.encode_json(record):
            raise RecordError(
                "A vCon would change the bytes of this record, so that its signature would not be valid. "
                "Sign it without --wrap."
            )
        if self._manner.token is not None and not (check := check_token(self._manner.token, content)).holds:
            raise BadTokenError(None, check.reason)
        return self._statement(Presented(record, ()), content, None)

    def to_file(self, attested: Attested, target: Path, *, force: bool = False) -> list[Path]:
        """Write a signed record, whole or not at all; the files that were written."""
        if is_below(str(target), self._agents_folders):
            raise AgentFolderError(str(target))
        return write_signed(target, attested.signed, attested.beside, force=force)

    def _secrets(self, recorded: Recorded) -> list[str]:
        """The places in the record of a session that hold something to hide."""
        if self._redactor is None or recorded.evidence is None:
            return []
        session, evidence, found = _hidden(recorded.session, recorded.evidence, self._redactor)
        self.hidden += found
        return with_repeats(recorded.record, differences(recorded.record, record_of(session, evidence)))

    def _encoded(self, record: dict[str, Any]) -> bytes:
        is_json = self._manner.form == "json"
        return encoding.encode_json(record) if is_json else encoding.encode_cbor(record)

    def _recorded(self, session: Session, natives: Natives) -> Recorded:
        if self._manner.simple:
            from geminids.sharing.records.simple import simple_record

            return Recorded(session, None, simple_record(session, natives))
        evidence = evidence_of(session, natives)
        return Recorded(session, evidence, record_of(session, evidence))

    def _statement(self, presented: Presented, content: bytes, chain: dict[str, Any] | None) -> Attested:
        record = presented.record
        is_apart = self._manner.detached or self._manner.wrap is not None
        signed = statement(
            content,
            record,
            self._signer.key,
            self._signer.claims(session_id_of(record) or ""),
            detached=is_apart,
            chain=chain,
            token=self._manner.token,
        )
        beside = content if self._manner.detached else None
        if self._manner.wrap is not None:
            signed = wrapped(record, signed)
        entries, missing = len(record["session"]["entries"]), places_missing(record)
        return Attested(record["id"], signed, beside, entries, presented.withheld, missing)


def write_signed(target: Path, signed: bytes, beside: bytes | None, *, force: bool) -> list[Path]:
    """Write a signed record: in one file, or the record and the signature beside it."""
    if beside is None:
        write_file(target, [signed], force=force)
        return [target]
    signature = target.with_name(target.name + SIGNATURE_SUFFIX)
    if os.path.lexists(signature) and not force:
        # Found out before anything is written: a record beside the signature of another one would be a trap.
        raise FileExistsAlreadyError(str(signature))
    write_file(target, [beside], force=force)
    try:
        write_file(signature, [signed], force=force)
    except BaseException:
        if not force:
            # A record without its signature is half of what was meant.
            target.unlink(missing_ok=True)
        raise
    return [target, signature]


def wrapped(record: dict[str, Any], signature: bytes) -> bytes:
    """A record and its signature in a vCon."""
    from geminids.sharing.records.vcon import vcon_of

    return encoding.encode_json(vcon_of(record, signature=signature))


def _hidden(session: Session, evidence: Evidence, redactor: Redactor) -> tuple[Session, Evidence, int]:
    """A session and its evidence without secrets, and how many were found.

    The evidence is looked through as if it were the last message of the session: the same secret stands in
    both, and what is found in one is hidden in the other.
    """
    redacted = redactor.redact(_carrying(session, msgspec.to_builtins(evidence)))
    *messages, carrier = redacted.session.messages
    (carried,) = carrier.parts
    if not isinstance(carried, Unrecognised):
        raise RecordError("What the agent wrote besides its messages could not be searched for secrets.")
    without = msgspec.structs.replace(redacted.session, messages=tuple(messages))
    return without, msgspec.convert(carried.raw, Evidence), len(redacted.findings)


def _carrying(session: Session, value: Any) -> Session:
    """A session with one more message, in which a value is looked through like everything that was said."""
    message = Message(
        id="",
        role=Role.SYSTEM,
        origin=Origin.NOTICE,
        state=State.CURRENT,
        at=None,
        model=None,
        parts=(Unrecognised(value),),
        usage=None,
        source=Location("", 0, 0, 0),
    )
    return msgspec.structs.replace(session, messages=(*session.messages, message))
