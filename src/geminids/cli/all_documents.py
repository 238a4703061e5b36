"""All JSON documents that commands print: what `docs/` has a schema of. No command needs them together."""

from __future__ import annotations

from geminids.cli.attest_document import (
    AttestDocument,
    EntriesDocument,
    ExcerptDocument,
    StampedDocument,
    StatementsDocument,
)
from geminids.cli.documents import (
    AgentViewDocument,
    DoctorDocument,
    ListDocument,
    MarkDocument,
    MarksDocument,
    OverviewDocument,
    ProjectDocument,
    ProjectsDocument,
    ResolvedDocument,
    SyncDocument,
)
from geminids.cli.explain_document import ExplainDocument, ExplainedSessionDocument
from geminids.cli.export_document import ExportDocument
from geminids.cli.forget_document import ForgetDocument, ForgottenDocument
from geminids.cli.keep_document import (
    KeepDocument,
    KeptExportDocument,
    KeptImportDocument,
    VerifiedDocument,
    VersionsDocument,
)
from geminids.cli.key_document import KeyDocument, KeysDocument
from geminids.cli.redact_document import RedactDocument
from geminids.cli.rescue_document import RescueDocument
from geminids.cli.restore_document import RestoreDocument
from geminids.cli.resume_document import ResumeDocument
from geminids.cli.search_document import SearchDocument
from geminids.cli.stats_document import StatsDocument
from geminids.cli.verify_document import VerifyDocument
from geminids.library import MessageLine, SessionDocument

DOCUMENTS = (
    ListDocument,
    SessionDocument,
    MarkDocument,
    MarksDocument,
    SearchDocument,
    StatsDocument,
    ExplainDocument,
    ExplainedSessionDocument,
    OverviewDocument,
    DoctorDocument,
    AgentViewDocument,
    ProjectsDocument,
    ProjectDocument,
    ResolvedDocument,
    SyncDocument,
    MessageLine,
    ExportDocument,
    RedactDocument,
    ResumeDocument,
    KeepDocument,
    VersionsDocument,
    VerifiedDocument,
    KeptExportDocument,
    KeptImportDocument,
    RestoreDocument,
    RescueDocument,
    ForgetDocument,
    ForgottenDocument,
    KeysDocument,
    KeyDocument,
    AttestDocument,
    StatementsDocument,
    StampedDocument,
    EntriesDocument,
    ExcerptDocument,
    VerifyDocument,
)
