"""The records of a session file, before anything is made of them.

A line is a record. Records of the tree (user, assistant, system, attachment, progress) name the record they
hang on; the others state facts about the session, of which the last one counts, or keep books. What a record
is, its `type` says, for some kinds together with a `subtype` or the type of what they carry.
"""

from __future__ import annotations

from typing import Any

import msgspec

from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.model import FileAccount, Location
from geminids.reading import file_log
from geminids.reading.file_log import count, printable

FORMAT = "claude-jsonl"

USER, ASSISTANT, SYSTEM, ATTACHMENT, PROGRESS = "user", "assistant", "system", "attachment", "progress"
TREE = frozenset({USER, ASSISTANT, SYSTEM, ATTACHMENT, PROGRESS})
SPOKEN = frozenset({USER, ASSISTANT})
LAST_PROMPT, COST_STATE, QUEUE = "last-prompt", "cost-state", "queue-operation"
FACTS = frozenset({LAST_PROMPT, COST_STATE, QUEUE, "summary", "custom-title", "ai-title"})
"""What says something about a session that we tell as well."""

_COPIES = "copies of what was sent"
_STATE = "state of the CLI for its next start"
_FILES = "states of files, kept for going back"
IGNORED = {
    "api-request": _COPIES,
    "api-request-shape": _COPIES,
    "api-request-blob": _COPIES,
    "api-request-resumed": _COPIES,
    "file-history-snapshot": _FILES,
    "file-history-delta": _FILES,
    "attribution-snapshot": _FILES,
    "content-replacement": "outputs that were shortened for the model; the records hold them whole",
    **dict.fromkeys(("data-flow-records", "data-flow-incomplete", "derived-from"), "where data came from"),
    **dict.fromkeys(("fork-context-ref", "observer-ref", "continued-in", "resume-head-vouch"), _STATE),
    **dict.fromkeys(("frame-link", "artifact-comment-monitor", "artifact-autoreact-ledger"), _STATE),
    **dict.fromkeys(("memory-mode", "mode", "permission-mode", "isolation-latch", "atis-latch"), _STATE),
    **dict.fromkeys(("session-owner", "dev-mods", "worktree-state", "bridge-session", "repl-mode"), _STATE),
    **dict.fromkeys(("history-suppression", "ended-by-model", "agent-color", "agent-setting"), _STATE),
    **dict.fromkeys(("agent-name", "tag", "pr-link", "tools-used", "relocated"), _STATE),
}
"""Records that we know and leave out, and why."""
SILENT_SYSTEM = {
    "turn_duration": "how long a turn took, which the times tell",
    "stop_hook_summary": "hooks that ran and said nothing",
}
"""The same for kinds of `system`."""
SILENT_ATTACHMENTS = {
    "prompt_snapshot": "what the model is told before every conversation",
    "session_context": "what the model is told before every conversation",
    "command_permissions": "which tools a command may use",
}
"""The same for kinds of `attachment`; they carry no words of the conversation."""
SEEN_WORKING = "what a tool or a subagent was seen doing; its result or its own file tells more"

_NOT_READ = {
    **dict.fromkeys(("fallbackModel", "originalModel", "trigger"), "the notice says it in words"),
    "failedHookErrorIndexes": "which of the errors of hooks are failures; all of them are told",
    "refusedMessageId": "the answer before, which says that it was refused",
    "toolDenialBeforeRun": "that a call was declined, which `toolDenialKind` says too",
    **dict.fromkeys(("attributionPlugin", "attributionPluginHash"), "which plugin a request counts for"),
}
"""Fields of records that are known and not read, and why."""
_RECORD_FIELDS = frozenset(
    {"type", "uuid", "parentUuid", "logicalParentUuid", "sessionId", "session_id", "timestamp", "isSidechain"}
    | {"userType", "cwd", "version", "gitBranch", "entrypoint", "slug", "agentId", "message", "requestId"}
    | {"isMeta", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage", "apiErrorStatus"}
    | {"toolUseResult", "sourceToolAssistantUUID", "sourceToolUseID", "permissionMode", "permissionDecision"}
    | {"promptId", "promptSource", "turnOrigin", "turnPosition", "turnCompanion", "origin", "error"}
    | {"queueSkipAttachments", "thinkingMetadata", "todos", "imagePasteIds", "mcpMeta", "planContent"}
    | {"requestRef", "requestedModel", "promptCacheRequested", "apiBlockIndex", "toolInputStreamMs"}
    | {"perTurnEffort", "madeBy", "attributionAgent", "attributionSkill", "sandboxed", "subtype", "content"}
    | {"level", "compactMetadata", "microcompactMetadata", "toolUseID", "parentToolUseID", "data"}
    | {"attachment", "rendered", "renderedRole", "renderedBesideToolResult", "durationMs", "messageCount"}
    | {"hookCount", "hookInfos", "hookErrors", "preventedContinuation", "stopReason", "hasOutput", "cause"}
    | {"retryInMs", "retryAttempt", "maxRetries", "forkedFrom", "teamName", "isReplay", "classifierModel"}
    | {"url", "commands", "summary", "costUSD", "isCompact", "interruptedMessageId", "errorDetails"}
    | {"summarizedTurnPromptUuids", "toolDenialKind", "mcpCallNotReadOnly", "effort", "isAbortedMidStream"}
    | {"thinkingDurationMs", "thinkingDisplay", "attributionMcpServer", "attributionMcpTool"}
    | {"hookAdditionalContext", "preventContinuation", "promptSubmitEnding", "summarizeMetadata"}
    | {"apiErrorType", "failedResponseHadNoToolCall", "source", "commandRun"}
    | _NOT_READ.keys()
)
_FACT_FIELDS = {
    LAST_PROMPT: frozenset({"type", "lastPrompt", "leafUuid", "sessionId", "explicit", "rewound", "cutUuid"}),
    QUEUE: frozenset(
        {"type", "operation", "timestamp", "sessionId", "content", "commandUuid", "deliveryId", "reason"}
    ),
    "summary": frozenset({"type", "summary", "leafUuid", "sessionId", "timestamp"}),
    "custom-title": frozenset({"type", "customTitle", "sessionId"}),
    "ai-title": frozenset({"type", "aiTitle", "sessionId"}),
    COST_STATE: frozenset(
        {"type", "sessionId", "totalCostUSD", "totalAPIDuration", "totalAPIDurationWithoutRetries"}
        | {"totalToolDuration", "totalLinesAdded", "totalLinesRemoved", "totalDuration", "startTime"}
        | {"modelUsage", "hasUnknownModelCost"}
    ),
}
BEGINNING = lazy_pattern(
    rb'\{\s*"(?:parentUuid|logicalParentUuid|type|isSidechain|uuid|sessionId|timestamp|message|userType|cwd)"\s*:'
)
"""How a record begins, for finding records in damaged bytes."""
_OF_A_RECORD = frozenset({"parentUuid", "sessionId", "leafUuid"})
"""Pieces of records have types as well, but none of these."""


class Record(msgspec.Struct, frozen=True, gc=False):
    """One record and its place."""

    kind: str
    """Its `type`."""
    value: dict[str, Any]
    place: Location
    complete: bool = True


def is_record(value: dict[str, Any]) -> bool:
    """Whether an object found in damaged bytes is a record, and not a piece of one."""
    kind = salvaged_kind(value)
    is_named = kind in TREE or kind in FACTS or kind in IGNORED
    return is_named and not _OF_A_RECORD.isdisjoint(value)


def salvaged_kind(value: dict[str, Any]) -> str:
    """What a record is that may be cut off before its type, which often stands last."""
    match value:
        case {"type": str(kind)}:
            return kind
        case {"message": {"role": "user" | "assistant" as role}}:
            return str(role)
        case _:
            return ""


def named_kind(kind: str, value: dict[str, Any]) -> str:
    """What a record is called in accounts: its type, and of which sort it is."""
    match kind:
        case "system":
            sort = value.get("subtype")
        case "attachment" | "progress":
            carried = value.get("attachment" if kind == ATTACHMENT else "data")
            sort = carried.get("type") if isinstance(carried, dict) else None
        case _:
            return kind
    return f"{kind}/{printable(sort)}" if isinstance(sort, str) and sort else kind


class FileLog(file_log.FileLog):
    """What was written in one file: its records in order, and where each byte went."""

    def __init__(self, path: str, size: int) -> None:
        super().__init__(path, FORMAT, size)
        self.records: list[Record] = []
        self.version = ""

    def take(self, record: Record) -> None:
        """Take a record in, or leave it out by name."""
        kind, value, size = record.kind, record.value, record.place.end - record.place.start
        if kind in SPOKEN:
            self.records.append(record)
            count(self._used, kind, size)
            self._note_fields(kind, _RECORD_FIELDS, value)
            if type(version := value.get("version")) is str:
                self.version = version
        elif kind in TREE:
            self._take_of_tree(record, size)
        elif kind in FACTS:
            self.records.append(record)
            count(self._used, kind, size)
            self._note_fields(kind, _FACT_FIELDS[kind], value)
        else:
            self.ignore(_why_ignored(kind), size)

    def _take_of_tree(self, record: Record, size: int) -> None:
        """Take a record in that may be nothing but a knot in the tree."""
        self.records.append(record)
        self._note_fields(record.kind, _RECORD_FIELDS, record.value)
        name = named_kind(record.kind, record.value)
        if (why := why_silent(record.kind, record.value)) is None:
            count(self._used, name, size)
        else:
            self.ignore(f"{name}: {why}", size)

    @property
    def era(self) -> str:
        """The releases that wrote it, as far as they differ: 1.0, 2.0, 2.1."""
        numbers = self.version.split(".")
        return ".".join(numbers[:2]) if len(numbers) > 1 and all(map(str.isdigit, numbers[:2])) else "unknown"

    def account(self, file_format: str = FORMAT) -> FileAccount:
        """Where every byte of the file went."""
        return msgspec.structs.replace(super().account(), format=file_format)


def why_silent(kind: str, value: dict[str, Any]) -> str | None:
    """Why a record of the tree gives no message; None if it gives one."""
    match kind:
        case "progress":
            return SEEN_WORKING
        case "attachment" if not value.get("rendered"):
            carried = value.get("attachment")
            sort = carried.get("type") if isinstance(carried, dict) else None
            return SILENT_ATTACHMENTS.get(sort) if isinstance(sort, str) else None
        case "system":
            sort = value.get("subtype")
            said = any(map(value.get, ("content", "hookErrors", "preventedContinuation")))
            return SILENT_SYSTEM.get(sort) if isinstance(sort, str) and not said else None
        case _:
            return None


def _why_ignored(kind: str) -> str:
    why = IGNORED.get(kind)
    return f"{kind}: {why}" if why else f"record of unknown kind: {printable(kind)}"
