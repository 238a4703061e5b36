"""All JSON documents that commands print: what `docs/` has a schema of. No command needs them together."""

from __future__ import annotations

from geminids.faces.cli.attest_document import (
    AttestDocument,
    EntriesDocument,
    ExcerptDocument,
    StampedDocument,
    StatementsDocument,
)
from geminids.faces.cli.documents import (
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
from geminids.faces.cli.explain_document import ExplainDocument, ExplainedSessionDocument
from geminids.faces.cli.export_document import ExportDocument
from geminids.faces.cli.forget_document import ForgetDocument, ForgottenDocument
from geminids.faces.cli.keep_document import (
    KeepDocument,
    KeptExportDocument,
    KeptImportDocument,
    VerifiedDocument,
    VersionsDocument,
)
from geminids.faces.cli.key_document import KeyDocument, KeysDocument
from geminids.faces.cli.redact_document import RedactDocument
from geminids.faces.cli.rescue_document import RescueDocument
from geminids.faces.cli.restore_document import RestoreDocument
from geminids.faces.cli.resume_document import ResumeDocument
from geminids.faces.cli.search_document import SearchDocument
from geminids.faces.cli.stats_document import StatsDocument
from geminids.faces.cli.verify_document import VerifyDocument
from geminids.sharing.export.json_lines import MessageLine
from geminids.sharing.export.session_document import SessionDocument

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
