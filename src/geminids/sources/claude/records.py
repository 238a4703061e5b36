"""The records of a session file, before anything is made of them.

A line is a record. Records of the tree (user, assistant, system, attachment, progress) name the record they
hang on; the others state facts about the session, of which the last one counts, or keep books. What a record
is, its `type` says, for some kinds together with a `subtype` or the type of what they carry.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import msgspec

from geminids.model import FileAccount, Problem, ProblemKind, Source, Tally
from geminids.sources.jsonl import REFUSED, decode, decode_strict

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
_FIELD_NAME = re.compile(r"[\w$./-]{1,60}")
BEGINNING = re.compile(
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
    place: Source
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


class FileLog:
    """What was written in one file: its records in order, and where each byte went."""

    def __init__(self, path: str, size: int) -> None:
        self.path = path
        self.size = size
        self.records: list[Record] = []
        self.problems: list[Problem] = []
        self.version = ""
        self._layout = 0
        self._used: dict[str, list[int]] = {}
        self._ignored: dict[str, list[int]] = {}
        self._problem: dict[str, list[int]] = {}
        self._unknown_fields: Counter[str] = Counter()

    def decode(self, raw: bytes, place: Source) -> Any:
        """The value of these bytes; raises UndecodableError."""
        try:
            # Nearly every record ends here, so it is not even wrapped.
            return decode_strict(raw)
        except REFUSED:
            value, forgiven, _ = decode(raw)
        self.remark(ProblemKind.BAD_TEXT, forgiven or "", place.line, place.start, place.end)
        return value

    def take(self, record: Record) -> None:
        """Take a record in, or leave it out by name."""
        kind, value, size = record.kind, record.value, record.place.end - record.place.start
        if kind in SPOKEN:
            self.records.append(record)
            _count(self._used, kind, size)
            self._note_fields(kind, _RECORD_FIELDS, value)
            if type(version := value.get("version")) is str:
                self.version = version
        elif kind in TREE:
            self._take_of_tree(record, size)
        elif kind in FACTS:
            self.records.append(record)
            _count(self._used, kind, size)
            self._note_fields(kind, _FACT_FIELDS[kind], value)
        else:
            self.ignore(_why_ignored(kind), size)

    def _take_of_tree(self, record: Record, size: int) -> None:
        """Take a record in that may be nothing but a knot in the tree."""
        self.records.append(record)
        self._note_fields(record.kind, _RECORD_FIELDS, record.value)
        name = named_kind(record.kind, record.value)
        if (why := why_silent(record.kind, record.value)) is None:
            _count(self._used, name, size)
        else:
            self.ignore(f"{name}: {why}", size)

    def count_use(self, kind: str, size: int) -> None:
        """Count a record that was read and understood."""
        _count(self._used, kind, size)

    def count_layout(self, size: int) -> None:
        """Count bytes between records: line endings."""
        self._layout += size

    def ignore(self, reason: str, size: int) -> None:
        """Count bytes that mean nothing to us, and why."""
        _count(self._ignored, reason, size)

    def report(self, kind: ProblemKind, detail: str, line: int | None, start: int, end: int) -> None:
        """Note bytes that could not be read."""
        _count(self._problem, kind, end - start)
        self.remark(kind, detail, line, start, end)

    def remark(self, kind: ProblemKind, detail: str, line: int | None, start: int, end: int) -> None:
        """Note a problem with bytes that were read all the same."""
        self.problems.append(Problem(self.path, kind, detail, line, start, end))

    def _note_fields(self, name: str, known: frozenset[str], value: dict[str, Any]) -> None:
        if not known.issuperset(value):
            self._unknown_fields.update(f"{name}.{printable(field)}" for field in value.keys() - known)

    @property
    def era(self) -> str:
        """The releases that wrote it, as far as they differ: 1.0, 2.0, 2.1."""
        numbers = self.version.split(".")
        return ".".join(numbers[:2]) if len(numbers) > 1 and all(map(str.isdigit, numbers[:2])) else "unknown"

    def account(self, file_format: str = FORMAT) -> FileAccount:
        """Where every byte of the file went."""
        return FileAccount(
            self.path,
            file_format,
            self.era,
            self.size,
            _tallies(self._used | ({"layout": [0, self._layout]} if self._layout else {})),
            _tallies(self._ignored),
            _tallies(self._problem),
            dict(sorted(self._unknown_fields.items())),
        )


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


def printable(name: str) -> str:
    """The name of a kind or a field, if it looks like one: reports must not show what people wrote."""
    return name if _FIELD_NAME.fullmatch(name) else f"a name of {len(name)} characters"


def _count(counted: dict[str, list[int]], name: str, size: int) -> None:
    """One record more; lists, because this is done for every record there is."""
    tally = counted.get(name)
    if tally is None:
        counted[name] = [1, size]
    else:
        tally[0] += 1
        tally[1] += size


def _tallies(counted: dict[str, list[int]]) -> dict[str, Tally]:
    return {str(name): Tally(records, size) for name, (records, size) in counted.items()}
