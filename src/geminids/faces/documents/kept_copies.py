"""Kept copies: how things stand with them, what is in them, and what was moved, put back or forgotten."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from geminids.core.agents.rescue import Obstacle, Severity, Stranded
from geminids.core.model import SessionSummary
from geminids.faces.documents.base import Document, Printed, filled
from geminids.query.health.kept_copies import Forgotten, KeepStatus, SessionVersions

if TYPE_CHECKING:
    from geminids.storage.archive.values import Exported, Imported, Verified
    from geminids.storage.durable.values import Tombstone


# How things stand


class KeepDocument(KeepStatus, Printed, frozen=True, kw_only=True, tag="geminids/keep/1"):
    """The state of the kept copies, and what agents will delete."""


class VersionsDocument(SessionVersions, Printed, frozen=True, kw_only=True, tag="geminids/versions/1"):
    """All states of a session's files that are kept, the oldest first."""


class KeptPlace(Document, frozen=True, kw_only=True):
    """A home of which copies are kept."""

    agent: str
    folder: str
    files: int
    bytes: int
    is_there: bool


class KeptCopies(Document, frozen=True, kw_only=True):
    """How things stand with the kept copies."""

    is_on: bool
    folder: str | None
    files: int
    versions: int
    bytes: int
    bytes_on_disk: int
    last_kept_at: datetime | None
    sessions_gone: int
    """Sessions that are known by their copies alone."""
    left_out: Sequence[str]
    troubles: Sequence[str]
    homes: Sequence[KeptPlace]


def kept_copies(status: KeepStatus) -> KeptCopies:
    """How things stand, for the page."""
    return filled(KeptCopies, status, homes=[filled(KeptPlace, home) for home in status.homes])


# Checked, written into a file, taken over from one


class DamagedCopy(Document, frozen=True, kw_only=True):
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


class VerifiedDocument(Printed, frozen=True, kw_only=True, tag="geminids/verified/1"):
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


class LeftOutCopy(Document, frozen=True, kw_only=True):
    """A copy that could not be written."""

    file: str
    reason: str


class KeptExportDocument(Printed, frozen=True, kw_only=True, tag="geminids/kept-export/1"):
    """Copies that were written into a file."""

    file: str
    versions: int
    bytes: int
    """Of content, each one once."""
    damaged: Sequence[LeftOutCopy]
    """Those that were left out."""


class ImportedHome(Document, frozen=True, kw_only=True):
    """The folder of an agent, on this machine or another, of which copies were taken over."""

    agent: str
    folder: str


class KeptImportDocument(Printed, frozen=True, kw_only=True, tag="geminids/kept-import/1"):
    """Copies that were taken over from a file."""

    file: str
    versions: int
    known: int
    """Those that were there already."""
    homes: Sequence[ImportedHome]


def verified_document(found: Verified) -> VerifiedDocument:
    """What was found."""
    damaged = [
        filled(
            DamagedCopy,
            damage,
            file=damage.version.path,
            digest=damage.version.digest,
            healed=damage.is_healed,
        )
        for damage in found.damage
    ]
    return filled(VerifiedDocument, found, sound=found.is_sound, bytes=found.size, damaged=damaged)


def exported_document(done: Exported, file: str) -> KeptExportDocument:
    """What was written."""
    damaged = [LeftOutCopy(file=version.path, reason=reason) for version, reason in done.damaged]
    return filled(KeptExportDocument, done, file=file, bytes=done.size, damaged=damaged)


def imported_document(done: Imported, file: str) -> KeptImportDocument:
    """What was taken over."""
    homes = [ImportedHome(agent=agent, folder=folder) for agent, folder in done.homes]
    return filled(KeptImportDocument, done, file=file, homes=homes)


# Put back


class RestoredFile(Document, frozen=True, kw_only=True):
    """A file that is put back."""

    path: str
    """Where it goes."""
    origin: str
    """Where the file lay of which a copy was kept."""
    size: int
    changes: Sequence[str]
    """What is not as it was, in sentences that say why; none: it is the same byte for byte."""
    written: bool


class RestoredSession(Document, frozen=True, kw_only=True):
    """How a session is put back, whether that was done, or why it cannot be."""

    id: str
    files: Sequence[RestoredFile]
    warnings: Sequence[str]
    refusal: str | None
    """Why nothing is written."""
    written: bool
    """Whether it was done. It is not with --dry-run."""


class RestoreDocument(Printed, frozen=True, kw_only=True, tag="geminids/restore/1"):
    """How sessions are put back, one or several."""

    folder: str | None
    """The folder that they were to go to; null: where their agents find them."""
    sessions: Sequence[RestoredSession]


class StrandedSession(Document, frozen=True, kw_only=True):
    """A session that its agent cannot show or resume, or not all of it."""

    session: SessionSummary
    severity: Severity
    hidden: int
    """How many of the human's prompts the agent would not show."""
    hidden_replies: int
    """How many answers of the model."""
    obstacles: Sequence[Obstacle]
    target: str | None
    """The file to be written so that the agent can; null where that is not possible."""
    changes: Sequence[str]
    """What is written otherwise than it was, in sentences that say why."""
    refusal: str | None
    """Why there is no target."""
    written: str | None
    """The file that was written, with --apply."""


class RescueDocument(Printed, frozen=True, kw_only=True, tag="geminids/rescue/1"):
    """The sessions that agents can no longer show though they are on the disk, the worst first."""

    sessions: Sequence[StrandedSession]
    left_out: int
    """Of so many more only a title or a mistyped command is missing; --all shows them."""
    checked: Sequence[str]
    """The agents whose sessions were checked; of other agents it is unknown what they cannot show."""


def rescue_document(
    found: Sequence[Stranded], written: Mapping[str, str], left_out: int, checked: Sequence[str]
) -> RescueDocument:
    """What was found, and what was written."""
    sessions = [
        filled(
            StrandedSession,
            one,
            session=one.session.without_messages(),
            written=written.get(one.session.id),
        )
        for one in found
    ]
    return RescueDocument(sessions=sessions, left_out=left_out, checked=checked)


# Forgotten


class ForgetDocument(Forgotten, Printed, frozen=True, kw_only=True, tag="geminids/forget/1"):
    """The sessions that were forgotten, and what remains of them."""


class ForgottenSession(Document, frozen=True, kw_only=True):
    """A session that is not to come back."""

    id: str
    at: datetime
    """When it was forgotten."""
    until_changed: bool
    """Whether it comes back when its files change."""


class ForgottenDocument(Printed, frozen=True, kw_only=True, tag="geminids/forgotten/1"):
    """All sessions that are forgotten, the first first."""

    sessions: Sequence[ForgottenSession]


def forgotten_document(stones: Sequence[Tombstone]) -> ForgottenDocument:
    """All that is forgotten."""
    return ForgottenDocument(
        sessions=[
            ForgottenSession(
                id=stone.session, at=datetime.fromisoformat(stone.at), until_changed=stone.until_changed
            )
            for stone in stones
        ]
    )
