"""The conversation of a thread, from its records in order.

Items are what the model saw, and messages are made of them; events say what was shown, and who typed what.
Nothing is taken away: what a compaction, a rollback or a revert dropped stays, with its state and the record
that dropped it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import Any

from geminids.agents.codex.read.call_index import Calls
from geminids.agents.codex.read.calls import Call, result_of, words_in
from geminids.agents.codex.read.content import text_or_none, texts_of
from geminids.agents.codex.read.drafts import Draft, Dropper, Whose, name_of_line
from geminids.agents.codex.read.prompts import (
    is_draft_of,
    is_same,
    make_nobodys,
    parts_of,
    pictures_of,
    says_it_was_typed,
    typed_parts,
    unwrap_shell,
    user_parts,
)
from geminids.agents.codex.read.records import COMPLETED, EVENT, ITEM, Record
from geminids.agents.codex.read.shown import thought_of
from geminids.agents.codex.read.steps import Steps, keys_of
from geminids.agents.codex.read.summaries import is_summary
from geminids.agents.codex.read.tokens import TokenCounter
from geminids.core.model import (
    AnyPart,
    Level,
    Message,
    Origin,
    Problem,
    ProblemKind,
    Role,
    State,
    Text,
    Thought,
    ToolResult,
    Unrecognised,
)
from geminids.core.timestamps import parse_time

_HUMAN, _MODEL, _INJECTED, _SYNTHETIC = Origin.HUMAN, Origin.MODEL, Origin.INJECTED, Origin.SYNTHETIC
_USER, _ASSISTANT = Role.USER, Role.ASSISTANT
"""Under names that Python looks up faster: most messages have them."""
_COMPACT_DONE = "Compact task completed"
"""What early releases showed after a compaction as if the model had said it."""
_MOST_PLUSES = 100
"""How often a name is told apart by one character more each time; beyond, by a number."""
COMPACTED = "Context compacted"
"""What Codex shows where the summary of a compaction is encrypted."""
_RECENT = 3
"""Prompts among which the one is looked for that an event tells of."""


class Ended(StrEnum):
    """How the last turn ended."""

    NOT = "not"
    WELL = "well"
    ABORTED = "aborted"
    FAILED = "failed"


Handler = Callable[["Replay", Record], None]
HANDLERS: dict[str, Handler] = {}
"""What is done with each kind of record."""


def _reads(group: str, *names: str) -> Callable[[Handler], Handler]:
    """Say of a method which kinds of records it reads."""

    def note(handler: Handler) -> Handler:
        HANDLERS.update((group + name, handler) for name in names or ("",))
        return handler

    return note


class Replay(Steps):
    """Makes messages of records, those of the session itself and those that it took over."""

    def __init__(self, *, of_subagent: bool, goes_on: bool) -> None:
        super().__init__()
        self.problems: list[Problem] = []
        self._is_any_confirmed = False
        """Whether events tell which messages a human typed."""
        self.counter = TokenCounter()
        self.ended: Ended | None = None
        self.folders: dict[str, None] = {}
        """The folders of the session's own turns, in order."""
        self._of_subagent = of_subagent
        self._goes_on = goes_on
        self._thread = ""
        self._turn_id: str | None = None
        self._calls = Calls()
        self._prompts: list[Draft] = []
        self._reviewing = False

    def run(self, records: Iterable[Record], rollout: str, thread: str, whose: Whose) -> None:
        """Read the records of one rollout, or of the part of it that counts."""
        if whose is not self._whose:
            # What others left open is theirs: a fork may have copied the event of an item that it lacks.
            self._pause()
        self._rollout, self._thread, self._whose = rollout, thread, whose
        self._turn_id = None
        handlers = HANDLERS
        for record in records:
            handler = handlers.get(record.kind)
            if handler is not None:
                handler(self, record)
            elif record.kind.startswith(ITEM):
                self._item(record, [Unrecognised(record.payload)])

    def finish(self) -> None:
        """Settle what is left open."""
        self._pause()
        has_events = any(draft.is_confirmed for draft in self.drafts)
        for draft in self._prompts if has_events else ():
            # The event of the last prompt may not have been written any more.
            if not (draft.is_confirmed or draft.is_typed or draft is self.drafts[-1]):
                make_nobodys(draft, _INJECTED)
        for draft in self.drafts:
            if draft.origin is Origin.SHELL:
                # Not before: the history after a compaction names it by its words as they stood.
                unwrap_shell(draft)
        self._tell_apart()

    def _tell_apart(self) -> None:
        """Give each message an id of its own: those of several files may be called by the same lines."""
        seen: dict[str, int] = {}
        for draft in self.drafts:
            written = draft.id
            while draft.id in seen:
                seen[written] += 1
                times = seen[written]
                draft.id = written + ("+" * times if times <= _MOST_PLUSES else f"+{times}")
            seen[draft.id] = 0

    def build(self) -> tuple[Message, ...]:
        """All messages."""
        return tuple([draft.build() for draft in self.drafts])

    # Items

    @_reads(ITEM, "message")
    def _message(self, record: Record) -> None:
        content = record.payload.get("content")
        match record.payload.get("role"):
            case "assistant":
                self._item(record, parts_of(content, _MODEL) + _old_call(record.payload))
                self._shown.forget_words(texts_of(content))
            case "user":
                self._from_user(record, content)
            case "developer" | "system":
                draft = self._new(record, Role.SYSTEM, _INJECTED)
                draft.parts += parts_of(content, _INJECTED)
                draft.keys = keys_of(record)
            case _:
                self._wrong(record, "message of unknown role")
                self._item(record, [Unrecognised(record.payload)])

    def _from_user(self, record: Record, content: object) -> None:
        parts, origin = user_parts(content)
        if self._typed is not None and origin is _HUMAN and is_same(self._typed[0], content):
            draft, self._typed = self._typed[1], None
            draft.also_at.append(record.place)
            draft.keys, draft.parts = keys_of(record), parts
            return
        if origin is not None:
            # A picture alone is what a tool looked at: the model may still be at it.
            self._pause()
        draft = self._new(record, _USER, origin or _INJECTED)
        draft.parts, draft.keys = parts, keys_of(record)
        if self._of_subagent and self._is_own:
            make_nobodys(draft, _SYNTHETIC)
        elif origin is _HUMAN:
            draft.is_typed = says_it_was_typed(record.payload)
            self._prompts.append(draft)

    @_reads(ITEM, "reasoning")
    def _reasoning(self, record: Record) -> None:
        """Thoughts: their summary, and the words themselves where they stand. Encrypted ones are silent."""
        summary = list(texts_of(record.payload.get("summary")))
        words = list(texts_of(record.payload.get("content")))
        thoughts = [thought_of(text) for text in summary]
        self._item(record, [*thoughts, *(Thought(text) for text in words if text)])
        self._shown.forget_thoughts({*summary, *words})

    @_reads(ITEM, "agent_message")
    def _from_agent(self, record: Record) -> None:
        """Words that one agent sent to another: its task, or what came of it."""
        self._close()
        origin = _SYNTHETIC if self._of_subagent else _INJECTED
        draft = self._new(record, _USER, origin)
        draft.parts += parts_of(record.payload.get("content"), origin)
        draft.keys = keys_of(record)

    @_reads(ITEM, "function_call", "custom_tool_call", "local_shell_call", "web_search_call")
    @_reads(ITEM, "tool_search_call", "image_generation_call")
    def _call(self, record: Record) -> None:
        call = Call(record.kind, record.payload, parse_time(record.time))
        self._calls.add(call, self._item(record, [call]))

    @_reads(ITEM, "function_call_output", "custom_tool_call_output", "local_shell_call_output")
    @_reads(ITEM, "tool_search_output", "mcp_tool_call_output")
    def _output(self, record: Record) -> None:
        payload = record.payload
        output = payload.get("output", payload.get("tools", payload.get("result")))
        before = self._calls.output_of(payload.get("call_id"))
        step = self._calls.answer(payload.get("call_id"), output if output is not None else "")
        if step is None:
            self._item(record, [Unrecognised(payload)])
            return
        step.also_at.append(record.place)
        if before is not None and words_in(before) not in words_in(output):
            self._answered_before(record, before)

    def _answered_before(self, record: Record, output: object) -> None:
        """What a call was answered before another answer took its place."""
        parts, _ = result_of(output)
        draft = self._new(record, Role.USER, Origin.TOOL)
        draft.parts.append(ToolResult(text_or_none(record.payload.get("call_id")), None, parts))
        draft.whose = Whose.THEIRS
        draft.drop(State.SUPERSEDED, self._dropper(record))

    @_reads(ITEM, "compaction", "compaction_summary", "context_compaction")
    def _encrypted_summary(self, record: Record) -> None:
        """Only the service can read it; the record `compacted` tells of it."""

    # What humans typed

    @_reads(EVENT, "user_message")
    def _user_event(self, record: Record) -> None:
        self._confirm(record, text_or_none(record.payload.get("message")) or "", pictures_of(record.payload))

    @_reads(COMPLETED, "UserMessage")
    def _user_item(self, record: Record) -> None:
        content = record.payload["item"].get("content")
        pictures = [part for part in parts_of(content, _HUMAN) if type(part) is not Text]
        self._confirm(record, "".join(texts_of(content)), pictures)

    def _confirm(self, record: Record, text: str, pictures: list[AnyPart]) -> None:
        """A human typed this: it is a recent prompt with the same words, or one that is still to come."""
        for draft in reversed(self._prompts[-_RECENT:]):
            if not draft.is_confirmed and is_draft_of(text, draft):
                draft.is_confirmed = self._is_any_confirmed = True
                draft.also_at.append(record.place)
                return
        if self._is_newest_task(text):
            self.drafts[-1].also_at.append(record.place)
            return
        self._pause()
        draft = self._new(record, _USER, _HUMAN)
        draft.id = name_of_line(record)
        draft.parts += [*(typed_parts(text) if text else ()), *pictures]
        if self._of_subagent or self._reviewing:
            # A review is asked for in words of the program.
            make_nobodys(draft, _SYNTHETIC)
        else:
            draft.is_confirmed = self._is_any_confirmed = True
        self._typed = (text, draft)

    def _is_newest_task(self, text: str) -> bool:
        """Whether the newest message is one in the human's place that a program wrote, with these words."""
        newest = self.drafts[-1] if self.drafts else None
        if newest is None or newest.role is not _USER or newest.origin is not _SYNTHETIC:
            return False
        return is_draft_of(text, newest)

    # What was shown

    @_reads(EVENT, "agent_message")
    def _shown_message(self, record: Record) -> None:
        text = text_or_none(record.payload.get("message"))
        if text == _COMPACT_DONE:
            self._notice(record, text, Level.INFO)
        elif text:
            self._shown.words(text, record)

    @_reads(COMPLETED, "AgentMessage")
    def _shown_message_item(self, record: Record) -> None:
        item = record.payload["item"]
        text = "".join(texts_of(item.get("content")))
        newest = self.drafts[-1] if self.drafts else None
        if text and not (newest is not None and item.get("id") in newest.keys):
            self._shown.words(text, record)

    @_reads(EVENT, "agent_reasoning", "agent_reasoning_raw_content")
    def _shown_thought(self, record: Record) -> None:
        self._shown.thought(record.payload.get("text"), record)

    @_reads(COMPLETED, "Reasoning")
    def _shown_thought_item(self, record: Record) -> None:
        summary = record.payload["item"].get("summary_text")
        for text in summary if type(summary) is list else ():
            self._shown.thought(text, record)

    # Tokens

    @_reads(EVENT, "token_count")
    def _count(self, record: Record) -> None:
        used = self.counter.count(record.payload, goes_on=self._goes_on, is_own=self._is_own)
        if used is not None:
            self._spend(used, self.counter.name(self._turn_id or self._thread), record)

    @_reads("token_usage_record")
    def _usage_record(self, record: Record) -> None:
        used = self.counter.record(record.payload, is_own=self._is_own)
        if used is not None:
            self._spend(used, text_or_none(record.payload.get("response_id")), record)

    # What the program says of calls

    @_reads(EVENT, "exec_command_end", "patch_apply_end", "mcp_tool_call_end", "collab_agent_spawn_end")
    @_reads(EVENT, "web_search_end")
    def _event_of_call(self, record: Record) -> None:
        self._calls.note(record.payload, record.payload.get("call_id"), record.place)

    @_reads(COMPLETED, "CommandExecution", "FileChange", "McpToolCall", "WebSearch")
    @_reads(COMPLETED, "CollabAgentToolCall", "SubAgentActivity")
    def _item_of_call(self, record: Record) -> None:
        item = record.payload["item"]
        self._calls.note(item, item.get("id"), record.place)

    # Turns

    @_reads("turn_context")
    def _turn(self, record: Record) -> None:
        self._note_turn(record)
        self._settle(record.payload, "model", "cwd")
        if self._is_own and (folder := text_or_none(record.payload.get("cwd"))):
            self.folders[folder] = None

    @_reads(EVENT, "thread_settings_applied")
    def _applied_settings(self, record: Record) -> None:
        settings = record.payload.get("thread_settings")
        if type(settings) is dict:
            self._settle(settings, "model")

    @_reads(EVENT, "thread_name_updated")
    def _named(self, record: Record) -> None:
        if self._is_own:
            self._settle(record.payload, "thread_name")

    def _settle(self, settings: dict[str, Any], *names: str) -> None:
        for name in names:
            value = settings.get(name)
            if type(value) is str and value:
                self.settings[name] = value

    @_reads(EVENT, "task_started", "turn_started")
    def _started(self, record: Record) -> None:
        self._end_turn(Ended.NOT)
        self._note_turn(record)

    def _note_turn(self, record: Record) -> None:
        self._turn_id = text_or_none(record.payload.get("turn_id")) or self._turn_id

    @_reads(EVENT, "task_complete", "turn_complete")
    def _completed(self, record: Record) -> None:
        failure = record.payload.get("error")
        self._end_turn(Ended.FAILED if failure else Ended.WELL)
        if failure:
            message = failure.get("message") if type(failure) is dict else failure
            self._notice(record, text_or_none(message) or "the turn failed", Level.ERROR)

    @_reads(EVENT, "turn_aborted")
    def _aborted(self, record: Record) -> None:
        self._end_turn(Ended.ABORTED)
        reason = text_or_none(record.payload.get("reason")) or "interrupted"
        # That a review came to its end is no trouble.
        level = Level.INFO if reason == "review_ended" else Level.WARNING
        self._notice(record, f"Turn aborted: {reason}", level)

    def _end_turn(self, how: Ended) -> None:
        self._pause()
        if self._is_own:
            self.ended = how

    @property
    def _is_own(self) -> bool:
        return self._whose is Whose.OWN

    @_reads(EVENT, "error", "warning", "stream_error")
    def _trouble(self, record: Record) -> None:
        level = Level.ERROR if record.kind == EVENT + "error" else Level.WARNING
        self._notice(record, text_or_none(record.payload.get("message")) or "", level)

    def _notice(self, record: Record, text: str, level: Level) -> Draft:
        draft = self._new(record, Role.SYSTEM, Origin.NOTICE)
        draft.id = name_of_line(record)
        draft.level = level
        draft.parts += [Text(text, Origin.NOTICE)] if text else []
        return draft

    @_reads(EVENT, "entered_review_mode")
    @_reads(COMPLETED, "EnteredReviewMode")
    def _review_begins(self, _record: Record) -> None:
        self._reviewing = True

    @_reads(EVENT, "exited_review_mode")
    @_reads(COMPLETED, "ExitedReviewMode")
    def _review_ends(self, _record: Record) -> None:
        self._reviewing = False

    # What drops messages

    @_reads(EVENT, "thread_rolled_back")
    def _rolled_back(self, record: Record) -> None:
        turns = record.payload.get("num_turns")
        if type(turns) is not int or turns <= 0:
            self._wrong(record, "num_turns is no count")
            return
        self._pause()
        has_events = self._is_any_confirmed
        self.view.roll_back(
            turns, self._dropper(record), has_events=has_events, of_subagent=self._of_subagent
        )

    def revert(self, limits: Mapping[str, int | None], by: Dropper) -> None:
        """Go on from the records before the limit of each rollout; all later ones are rewound."""
        self._pause()
        self.counter.revert()
        self.view.take_back(limits, by)

    def _dropper(self, record: Record) -> Dropper:
        return Dropper(self._rollout, record.ordinal, record.place)

    @_reads("compacted")
    def _compacted(self, record: Record) -> None:
        summary = text_or_none(record.payload.get("message")) or ""
        spoken = self._taken_as_summary(summary)
        early, self._early_usage = self._early_usage, None
        if spoken is not None:
            self._step = None
        self._pause()
        self.view.compress(record.payload.get("replacement_history"), summary, self._dropper(record))
        draft = self._summary(record, summary, spoken)
        self.view.summary = draft if draft.origin is _SYNTHETIC else None
        if draft.used is None and early is not None:
            # The request for the summary is counted just before it.
            draft.used, draft.request_id = early.used, early.request_id
            draft.also_at.append(early.record.place)
        draft.model = self.settings.get("model") if draft.used is not None else None

    def _taken_as_summary(self, summary: str) -> Draft | None:
        """The newest message, taken away, if it is the summary as the model said it."""
        spoken = self.drafts[-1] if self.drafts else None
        if spoken is None or not summary or not is_summary(spoken, summary):
            return None
        self.view.forget(spoken)
        return self.drafts.pop()

    def _summary(self, record: Record, summary: str, spoken: Draft | None) -> Draft:
        """The summary as a message: the model's own words, if it said them, with what was put before them."""
        if not summary:
            return self._notice(record, COMPACTED, Level.INFO)
        if spoken is None:
            spoken = self._new(record, _USER, _SYNTHETIC)
            spoken.id = name_of_line(record)
        else:
            spoken.also_at.append(record.place)
            self._put(spoken)
        spoken.role, spoken.origin = _USER, _SYNTHETIC
        spoken.parts = [Text(summary, _SYNTHETIC)]
        return spoken

    def _wrong(self, record: Record, detail: str) -> None:
        place = record.place
        problem = Problem(place.file, ProblemKind.WRONG_TYPE, detail, place.line, place.start, place.end)
        self.problems.append(problem)


def _old_call(payload: dict[str, Any]) -> list[Any]:
    """A call inside a message, as an older way of speaking with models has it."""
    return [Unrecognised(payload["function_call"])] if "function_call" in payload else []
