"""What `geminids keep` prints as JSON."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from geminids.query.health.kept_copies import KeepStatus, SessionVersions
from geminids.storage.archive.values import Exported, Imported, Verified


class KeepDocument(KeepStatus, frozen=True, kw_only=True, tag_field="schema", tag="geminids/keep/1"):
    """How things stand with the kept copies, and what agents are about to delete."""


class VersionsDocument(
    SessionVersions, frozen=True, kw_only=True, tag_field="schema", tag="geminids/versions/1"
):
    """All states of a session's files that are kept, the oldest first."""


class DamagedCopy(msgspec.Struct, frozen=True, kw_only=True):
    """A copy that is not what was kept, or was not."""

    file: str
    """The file of which it is a copy."""
    digest: str
    """SHA-256 of what was in it."""
    what: str
    """What is wrong, in words."""
    pack: int
    offset: int
    """Where: the number of the pack, and a byte in it."""
    healed: bool
    """Whether it is right again, made anew from the file itself."""


class VerifiedDocument(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="schema", tag="geminids/verified/1"
):
    """What came of reading every copy."""

    sound: bool
    """Whether every copy can be read now."""
    versions: int
    bytes: int
    """That were read."""
    damaged: Sequence[DamagedCopy]
    mended: Sequence[str]
    """What else was wrong and is right again, in sentences."""
    cut: int
    """Bytes that a killed process had left half-written; no copy was in them."""


class LeftOutCopy(msgspec.Struct, frozen=True, kw_only=True):
    """A copy that could not be written."""

    file: str
    reason: str


class KeptExportDocument(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="schema", tag="geminids/kept-export/1"
):
    """Copies that were written into a file."""

    file: str
    versions: int
    bytes: int
    """Of content, each one once."""
    damaged: Sequence[LeftOutCopy]
    """Those that were left out."""


class ImportedHome(msgspec.Struct, frozen=True, kw_only=True):
    """The folder of an agent, on this machine or another, of which copies were taken over."""

    agent: str
    folder: str


class KeptImportDocument(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="schema", tag="geminids/kept-import/1"
):
    """Copies that were taken over from a file."""

    file: str
    versions: int
    known: int
    """Those that were there already."""
    homes: Sequence[ImportedHome]


def verified_document(found: Verified) -> VerifiedDocument:
    """What was found as a document."""
    return VerifiedDocument(
        sound=found.is_sound,
        versions=found.versions,
        bytes=found.size,
        damaged=[
            DamagedCopy(
                file=damage.version.path,
                digest=damage.version.digest,
                what=damage.what,
                pack=damage.pack,
                offset=damage.offset,
                healed=damage.is_healed,
            )
            for damage in found.damage
        ],
        mended=found.mended,
        cut=found.cut,
    )


def exported_document(done: Exported, file: str) -> KeptExportDocument:
    """What was written as a document."""
    damaged = [LeftOutCopy(file=version.path, reason=reason) for version, reason in done.damaged]
    return KeptExportDocument(file=file, versions=done.versions, bytes=done.size, damaged=damaged)


def imported_document(done: Imported, file: str) -> KeptImportDocument:
    """What was taken over as a document."""
    homes = [ImportedHome(agent=agent, folder=folder) for agent, folder in done.homes]
    return KeptImportDocument(file=file, versions=done.versions, known=done.known, homes=homes)
