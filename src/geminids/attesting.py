"""Sessions on their way into signed records: translated with their evidence, made redactable, signed.

This is where records meet redaction and the disk. What is hidden in a statement is hidden by taking pieces
out of the record that was committed to, so that the rest still proves to be what was signed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec

from geminids.config import is_below
from geminids.errors import AgentFolderError, FileExistsAlreadyError
from geminids.export.files import write_file
from geminids.model import Message, Origin, Role, Session, Source, State, Unrecognised
from geminids.records import encoding
from geminids.records.commitment import commit
from geminids.records.errors import RecordError
from geminids.records.evidence import Evidence
from geminids.records.recorder import Recorded, Recorder
from geminids.records.redacting import differences, with_repeats, withhold
from geminids.records.signing import Claims, PrivateKey, statement
from geminids.records.standalone import key_id
from geminids.records.translating import record_of

if TYPE_CHECKING:
    from geminids.redact import Redactor

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


class SigningManner(NamedTuple):
    """How records are to be made and signed."""

    form: Literal["json", "cbor"] = "json"
    simple: bool = False
    """The plainer translation that other tools make. It cannot be redacted later."""
    detached: bool = False
    """The record as a file of its own, and the signature beside it."""
    wrap: Literal["vcon"] | None = None
    token: bytes | None = None
    """A time stamp over the bytes of the record."""


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
    """Places in the record that were taken out."""


class Attesting:
    """All that was chosen for signed records."""

    def __init__(
        self,
        recorder: Recorder,
        signer: Signer,
        manner: SigningManner,
        redactor: Redactor | None = None,
        agents_folders: Sequence[str] = (),
    ) -> None:
        """With a redactor, what it finds is taken out of what is written, and stays committed to."""
        self._recorder = recorder
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
        return key_id(self._signer.key.public_key()).hex()

    @property
    def is_redacting(self) -> bool:
        """Whether secrets are taken out."""
        return self._redactor is not None

    @property
    def describes(self) -> str:
        """All that is chosen, in little: with another choice, an unchanged session is signed anew."""
        hiding = self._redactor.fingerprint if self._redactor else ""
        return f"{self._manner.form} {self._manner.simple} {self._signer.issuer} {hiding}"

    def record(self, session: Session) -> Recorded:
        """The record of a session, whole and not yet committed to."""
        return self._recorder.simple(session) if self._manner.simple else self._recorder.whole(session)

    def signed(self, recorded: Recorded, chain: dict[str, Any] | None = None) -> Attested:
        """The record of a session, signed."""
        if recorded.evidence is None:
            return self._statement(recorded.record, (), chain)
        whole = commit(recorded.record)
        withheld = self._secrets(recorded)
        return self._statement(withhold(whole, withheld) if withheld else whole, withheld, chain)

    def given(self, content: bytes) -> Attested:
        """A record that somebody else made, signed in the bytes it has."""
        record, _ = encoding.decode(content)
        if self._redactor is not None:
            raise RecordError(
                "A record file is signed as it is. `geminids redact-record` takes pieces out of a signed one."
            )
        return self._statement(record, (), None, content)

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

    def _statement(
        self,
        record: dict[str, Any],
        withheld: Sequence[str],
        chain: dict[str, Any] | None,
        given: bytes | None = None,
    ) -> Attested:
        content = given if given is not None else self._encoded(record)
        is_apart = self._manner.detached or self._manner.wrap is not None
        claims = self._signer.claims(str(record["session"]["session-id"]))
        signed = statement(
            content,
            record,
            self._signer.key,
            claims,
            detached=is_apart,
            chain=chain,
            token=self._manner.token,
        )
        beside = content if self._manner.detached else None
        if self._manner.wrap is not None:
            signed = _wrapped(record, signed)
        return Attested(str(record["id"]), signed, beside, len(record["session"]["entries"]), withheld)


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
    write_file(signature, [signed], force=force)
    return [target, signature]


def _wrapped(record: dict[str, Any], signature: bytes) -> bytes:
    from geminids.records.vcon import vcon_of

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
        raise RecordError("What the agent wrote beside its messages could not be looked through.")
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
        source=Source("", 0, 0, 0),
    )
    return msgspec.structs.replace(session, messages=(*session.messages, message))
