"""`vac`, `vac-cbor`, `vac-simple`, `vcon`: sessions as records of Verifiable Agent Conversations, unsigned.

At the usual level of detail nothing of a session is left out. Where less is asked for, the agent's files are
not looked at either: what is left of their records would tell what was to be left out.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any

from geminids.core.model import Session
from geminids.sharing.export.base import Manner, PlainFormat
from geminids.sharing.export.data import encode_harmless
from geminids.sharing.records.encoding import encode_cbor, encode_json
from geminids.sharing.records.evidence import evidence_of
from geminids.sharing.records.natives import Natives
from geminids.sharing.records.translation import record_of
from geminids.sharing.transcript import safe
from geminids.sharing.transcript.visible import visible_session


class RecordFormat(PlainFormat, ABC):
    """One record a file, of all that there is."""

    level = "everything"
    options = frozenset({"natives"})

    def write(self, sessions: Iterable[Session], manner: Manner) -> Iterator[bytes]:
        """The record."""
        for session in sessions:
            yield self.written(session, manner)

    @abstractmethod
    def written(self, session: Session, manner: Manner) -> bytes:
        """The file of a session."""


class Vac(RecordFormat):
    """One record a file, as JSON. No character in it can steer a terminal; what it decodes to is the same."""

    name = "vac"
    title = "Verifiable Agent Conversations"
    summary = "The whole session as a record of Verifiable Agent Conversations; can be signed and read again."
    suffix = ".vac.json"

    def written(self, session: Session, manner: Manner) -> bytes:
        """The record."""
        return safe.json_bytes(encode_json(_record(session, manner))) + b"\n"


class VacCbor(RecordFormat):
    """One record a file, as CBOR."""

    name = "vac-cbor"
    title = "Verifiable Agent Conversations (CBOR)"
    summary = "The same record as CBOR: deterministic bytes for programs."
    suffix = ".vac.cbor"
    is_binary = True

    def written(self, session: Session, manner: Manner) -> bytes:
        """The record."""
        return encode_cbor(_record(session, manner))


class VacSimple(RecordFormat):
    """One record a file, in the plain translation that other tools make."""

    name = "vac-simple"
    title = "Verifiable Agent Conversations (simple)"
    summary = "The simpler record of other tools; values without a member of their own are dropped."
    suffix = ".vac-simple.json"

    def written(self, session: Session, manner: Manner) -> bytes:
        """The record."""
        from geminids.sharing.records.simple import simple_record

        visible = visible_session(session, manner.detail)
        return encode_harmless(simple_record(visible, _natives(session, manner))) + b"\n"


class Vcon(RecordFormat):
    """One vCon a file, which holds the record."""

    name = "vcon"
    title = "vCon"
    summary = "The record in a vCon, with the dialog in that format."
    suffix = ".vcon"

    def written(self, session: Session, manner: Manner) -> bytes:
        """The vCon."""
        from geminids.sharing.records.vcon import vcon_of

        return safe.json_bytes(encode_json(vcon_of(_record(session, manner)))) + b"\n"


def _record(session: Session, manner: Manner) -> dict[str, Any]:
    if (natives := _natives(session, manner)) is not None:
        return record_of(session, evidence_of(session, natives))
    return record_of(visible_session(session, manner.detail))


def _natives(session: Session, manner: Manner) -> Natives | None:
    """What the agent wrote, where all of it is asked for."""
    return manner.natives(session) if manner.natives and manner.detail.everything else None
