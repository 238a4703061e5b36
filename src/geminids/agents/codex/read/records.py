"""The records of a rollout, before anything is made of them.

A line is `{"timestamp", "type", "payload"}`, with an `ordinal` where the history is paginated. Its kind is
named `type/payload.type`, and of a completed item also by the type of the item. In the first files of 2025
the payload stands alone, without what is around it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec

from geminids.agents.codex.read.rollout_text import Opened
from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.model import FileAccount, Location
from geminids.reading.file_log import FileLog, count, printable


class Format(StrEnum):
    """How a rollout is stored."""

    LOG = "codex-jsonl"
    ARCHIVE = "codex-jsonl-zst"


class Record(msgspec.Struct, frozen=True, gc=False):
    """One record and its place."""

    kind: str
    payload: dict[str, Any]
    place: Location
    time: Any
    """When it was written, as written."""
    ordinal: int | None = None


META = "session_meta"
ITEM = "response_item/"
EVENT = "event_msg/"
COMPLETED = "event_msg/item_completed/"

USED = frozenset(
    {META, "turn_context", "compacted", "token_usage_record"}
    | {
        ITEM + name
        for name in (
            *("message", "reasoning", "function_call", "function_call_output", "custom_tool_call"),
            *("custom_tool_call_output", "local_shell_call", "local_shell_call_output", "web_search_call"),
            *("tool_search_call", "tool_search_output", "mcp_tool_call_output", "image_generation_call"),
            *("agent_message", "compaction", "compaction_summary", "context_compaction"),
        )
    }
    | {
        EVENT + name
        for name in (
            *(
                "user_message",
                "agent_message",
                "agent_reasoning",
                "agent_reasoning_raw_content",
                "token_count",
            ),
            *(
                "task_started",
                "task_complete",
                "turn_started",
                "turn_complete",
                "turn_aborted",
                "thread_rolled_back",
            ),
            *("error", "warning", "stream_error", "exec_command_end", "patch_apply_end", "mcp_tool_call_end"),
            *("collab_agent_spawn_end", "thread_settings_applied", "thread_name_updated"),
            *("entered_review_mode", "exited_review_mode", "web_search_end"),
        )
    }
    | {
        COMPLETED + name
        for name in (
            *("UserMessage", "AgentMessage", "Reasoning", "CommandExecution", "FileChange", "McpToolCall"),
            *(
                "CollabAgentToolCall",
                "SubAgentActivity",
                "EnteredReviewMode",
                "ExitedReviewMode",
                "WebSearch",
            ),
        )
    }
)
"""Kinds that something is made of."""

_SAID_TWICE = "what was shown of an item that stands beside it"
_OF_PROGRAM = "what the program did, not conversation"
IGNORED = {
    "world_state": "what the model was told of the machine, for the program's own use",
    "inter_agent_communication": "a message between agents, which an item beside it holds too",
    "inter_agent_communication_metadata": "how a message between agents was delivered",
    "security_risk_score": "a judgement about a command, not conversation",
    "state": "a state of the program, written by the first releases",
    "response_item/ghost_snapshot": "a commit that Codex makes for undo, not conversation",
    "response_item/additional_tools": "descriptions of tools, not conversation",
    "response_item/other": "an item that Codex itself did not know",
    EVENT + "context_compacted": "the record `compacted` says it too",
    EVENT + "view_image_tool_call": _SAID_TWICE,
    EVENT + "image_generation_end": _SAID_TWICE,
    EVENT + "dynamic_tool_call_request": _SAID_TWICE,
    EVENT + "dynamic_tool_call_response": _SAID_TWICE,
    EVENT + "collab_agent_interaction_end": _SAID_TWICE,
    EVENT + "collab_waiting_end": _SAID_TWICE,
    EVENT + "collab_close_end": _SAID_TWICE,
    EVENT + "collab_resume_end": _SAID_TWICE,
    EVENT + "sub_agent_activity": _SAID_TWICE,
    EVENT + "undo_completed": _OF_PROGRAM,
    EVENT + "guardian_assessment": _OF_PROGRAM,
    EVENT + "background_event": _OF_PROGRAM,
    EVENT + "deprecation_notice": _OF_PROGRAM,
    EVENT + "thread_goal_updated": _OF_PROGRAM,
    COMPLETED + "ContextCompaction": "the record `compacted` says it too",
    COMPLETED + "ImageView": _SAID_TWICE,
    COMPLETED + "ImageGeneration": _SAID_TWICE,
    COMPLETED + "DynamicToolCall": _SAID_TWICE,
    COMPLETED + "Plan": _SAID_TWICE,
    COMPLETED + "HookPrompt": _SAID_TWICE,
    **dict.fromkeys(
        ("thread.started", "turn.started", "turn.completed", "turn.failed", "item.started", "item.updated"),
        "an event of `codex exec --json`, not of a rollout",
    ),
    "item.completed": "an event of `codex exec --json`, not of a rollout",
}
"""Kinds that we know and leave out, and why."""

_LINE_FIELDS = frozenset({"timestamp", "ordinal", "type", "payload", "metadata"})
_ITEM = frozenset({"type", "id", "status", "internal_chat_message_metadata_passthrough", "metadata"})
_CALL = _ITEM | {"call_id", "name", "namespace"}
_NOT_READ_OF_COMPACTED = {
    "replacement_history_metadata": "order and origin of the items that replace the history",
    "retained_context": "copies of prompts and answers that the compaction keeps",
    "compaction_response_id": "the request for the summary, which a token_usage_record names too",
    "latest_token_usage_record": "a copy of a token_usage_record",
    "resume_metadata": "state of the program for its next start",
    "guardian_history": "a copy of messages, for the judge of commands",
}
"""Fields of a compaction that are known and not read, and why."""
FIELDS = {
    ITEM + "message": _ITEM | {"role", "content", "phase", "end_turn", "name"},
    ITEM + "reasoning": _ITEM | {"summary", "content", "encrypted_content"},
    ITEM + "function_call": _CALL | {"arguments"},
    ITEM + "function_call_output": _CALL | {"output"},
    ITEM + "custom_tool_call": _CALL | {"input"},
    ITEM + "custom_tool_call_output": _CALL | {"output"},
    ITEM + "local_shell_call": _CALL | {"action"},
    ITEM + "web_search_call": _CALL | {"action"},
    ITEM + "agent_message": _ITEM | {"author", "recipient", "content"},
    "compacted": frozenset({"message", "replacement_history", "window_id", "window_number", "id", "kind"})
    | {"first_window_id", "previous_window_id"}
    | _NOT_READ_OF_COMPACTED.keys(),
    "token_usage_record": frozenset(
        {"thread_id", "turn_id", "session_id", "root_turn_id", "response_id", "usage"}
    )
    | {"turn_token_usage", "thread_token_usage"},
    EVENT + "token_count": frozenset({"type", "info", "rate_limits"}),
    EVENT + "user_message": frozenset({"type", "message", "kind", "images", "local_images", "text_elements"})
    | {"audio", "local_audio", "client_id"},
    EVENT + "agent_message": frozenset({"type", "message", "phase", "memory_citation"}),
    EVENT + "agent_reasoning": frozenset({"type", "text"}),
    EVENT + "thread_rolled_back": frozenset({"type", "num_turns"}),
}
"""The fields that we have names for, of the kinds that conversation is made of."""

BEGINNING = lazy_pattern(rb'\{\s*"(?:timestamp|type|ordinal|payload|record_type|id)"\s*:')
"""How a record begins, for finding records in damaged bytes."""
_BARE = frozenset(name.removeprefix(ITEM) for name in USED | IGNORED.keys() if name.startswith(ITEM))
_FIRST_HEADER = frozenset({"id", "timestamp", "instructions"})
"""What the first files begin with; many other things have an id."""


def shape_of(line: dict[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """The kind of a line and its payload; None if it is no line of a rollout."""
    kind, payload = line.get("type"), line.get("payload")
    if type(kind) is str:
        if type(payload) is dict:
            return _kind_within(kind, payload), payload
        if kind in _BARE and payload is None:
            return ITEM + kind, line
        return (kind, line) if kind in IGNORED else None
    if line.get("record_type") == "state":
        return "state", line
    is_header = type(line.get("id")) is str and _FIRST_HEADER.issubset(line)
    return (META, line) if is_header else None


def _kind_within(kind: str, payload: dict[str, Any]) -> str:
    inner = payload.get("type")
    if type(inner) is not str:
        return ITEM + "message" if kind == "response_item" and "role" in payload else kind
    if inner == "item_completed":
        item = payload.get("item")
        named = item.get("type") if type(item) is dict else None
        return f"{COMPLETED}{named}"
    return f"{kind}/{inner}" if kind in ("response_item", "event_msg") else kind


def is_record(line: dict[str, Any]) -> bool:
    """Whether an object found in damaged bytes is a line, and not a piece of one."""
    shape = shape_of(line)
    return shape is not None and (shape[1] is not line or shape[0] == META)


class RolloutLog(FileLog):
    """What was written in one rollout: its records in order, and where each byte went."""

    def __init__(self, path: str, opened: Opened) -> None:
        super().__init__(path, Format.ARCHIVE if opened.is_packed else Format.LOG, opened.size)
        self.length = opened.text.size
        """Bytes of the text, in which places are counted; fewer lie on the disk if it is packed."""
        self.is_rollout = False
        """Whether something in it only a rollout holds: others write bare messages too."""
        self.records: list[Record] = []

    def take(self, line: dict[str, Any], place: Location) -> None:
        """Take a line in: it is used, or ignored by name."""
        shape = shape_of(line)
        size = place.end - place.start
        if shape is None:
            self.ignore("record of unknown kind: " + ", ".join(sorted(map(printable, line))[:6]), size)
            return
        kind, payload = shape
        if kind in USED or (kind.startswith(ITEM) and kind not in IGNORED):
            self.is_rollout = self.is_rollout or payload is not line or kind == META
            ordinal = line.get("ordinal")
            numbered = ordinal if type(ordinal) is int else None
            self.records.append(Record(kind, payload, place, line.get("timestamp"), numbered))
            # Most kinds are known by name, and need not be looked at.
            count(self._used, kind if kind in USED else printable(kind), size)
            self._note_fields_of_line(kind, line, payload)
        elif kind in IGNORED:
            self.ignore(IGNORED[kind], size)
        else:
            self.ignore(f"record of unknown kind: {printable(kind)}", size)

    def _note_fields_of_line(self, kind: str, line: dict[str, Any], payload: dict[str, Any]) -> None:
        known = FIELDS.get(kind)
        if payload is not line:
            self._note_fields("line", _LINE_FIELDS, line)
        elif known is not None:
            # Where the payload stands alone, it has the time too.
            known |= {"timestamp"}
        if known is not None:
            self._note_fields(kind, known, payload)

    @property
    def era(self) -> str:
        """Which of the CLI's ways of writing this is."""
        if not self.records:
            return "unknown"
        if any(record.ordinal is not None for record in self.records[:3]):
            return "paginated"
        return "legacy" if any(record.time is not None for record in self.records[1:3]) else "first"

    def account(self) -> FileAccount:
        """Where every byte of the text went."""
        return msgspec.structs.replace(super().account(), size=self.length)
