"""Sessions that formats are tried with: together they hold a value of every kind that the model has."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from functools import cache
from typing import Any

import msgspec

from geminids.core.model import (
    AgentProgress,
    AnyDisplay,
    Attachment,
    Companion,
    CompanionKind,
    Listing,
    Message,
    MovedOutput,
    Origin,
    Role,
    Screen,
    Session,
    State,
    Text,
    Thought,
    ToolCall,
    ToolKind,
    ToolResult,
    ToolStatus,
    Unrecognised,
    UnrecognisedDisplay,
    Unrecorded,
    Usage,
)
from geminids.sharing.export.facts import fact_of
from geminids.sharing.export.kinds import message_kind
from tests.support.exporting import fixture_sessions, hostile_session, looked_at_sessions
from tests.support.model_kinds import held_values
from tests.support.probing import replaced

replace = msgspec.structs.replace

MORE_SESSIONS = (
    "agents-with-one-task/mbbgoy",
    "chat-resume-elsewhere/82922be8",
    "leftovers/821518df",
    "log-lines/f889d9af",
    "masked-history/6fb9b904",
    "torn-jsonl/8010390f",
)
"""They hold what the cases of the golden files have nothing of; for what is left, the shortest are taken."""

ODD_SESSIONS = (
    "cancel/f6fa8cb0",
    "chat-resume/checkpoint-my tag",
    "claude-auto-compact/7a5d58ca",
    "claude-sent-by-program/95c9818a",
    "claude-web/42eed0cf",
    "codex-archived/01a1e10e-b4d0",
    "codex-compaction-remote/01a1e10e-d4ff",
    "codex-legacy-late/01a1e10f-cd9d",
    "codex-legacy/01a1e10f-7818",
    "codex-mcp/01a1e10e-c1e2",
    "codex-own-commands/01a1e10e-f45d",
    "codex-subagents-copied/01a1e467-4e05",
    "codex-web-search/01a1e10e-d0ac",
    "declined-tools/92a09fc8",
    "hostile/6b077486",
    "imported/4b008f15",
    "imported/90757e01",
    "interrupted-placeholder/27c733c2",
    "log-damaged/odd-2",
    "no-header/8b87e938",
    "outputs-in-project-folder/8ea2c375",
    "restored/01654596",
    "shell-mode-json/ad139f60",
    "subagents-nested-json/516b5b7c-d350-40a7-86dc-718ac2e76af0",
    "tool-calls-json/0a85aa5c",
    "tool-calls-jsonl-1/05f1aceb",
    "torn-jsonl/8abba2e8",
    "upgrade/d2023100",
)
"""In them some format does with a kind of value what it does in none of the others."""

LONG = 10_000
"""Letters, and more than any format shows of what it shortens."""
SOME = 8
STRETCHED = {
    "text.text (human)",
    "text.text (model)",
    "thought.text",
    "tool-call.arguments",
    "tool-call.changes.diff",
    "tool-call.description",
    "tool-call.display.diff.diff",
    "tool-call.display.text.text",
    "tool-call.result.text.text",
    "tool-result.parts.text.text",
}
_RAW: dict[str, Any] = {"words": "kept as they were", "is_so": True, "many": 4711}


@cache
def proving_sessions() -> list[Session]:
    """Sessions that together hold a value of every kind that the model has, also long and hostile ones."""
    odd = [session for name, session in fixture_sessions().items() if name.startswith(ODD_SESSIONS)]
    made = [hostile_session(), noted_session(), rare_session(), *long_sessions()]
    return [*probed_sessions(), *odd, *made]


@cache
def probed_sessions() -> list[Session]:
    """Sessions that together hold a value of every kind that the fixtures have."""
    more = [session for name, session in fixture_sessions().items() if name.startswith(MORE_SESSIONS)]
    chosen = [*looked_at_sessions().values(), *more]
    known = facts(chosen)
    for session in sorted(fixture_sessions().values(), key=lambda session: len(session.messages)):
        if new := facts([session]) - known:
            known |= new
            chosen.append(session)
    return chosen


def facts(sessions: Iterable[Session]) -> set[str]:
    """Every fact that some sessions hold a value of."""
    whole = list(sessions)
    of_values = {held.kind for session in whole for held in held_values(session)}
    of_messages = {message_kind(m.state) for session in whole for m in session.messages if m.parts}
    return set(map(fact_of, of_values | of_messages))


def call(**fields: Any) -> ToolCall:
    """A call that read a file, with other facts."""
    given: dict[str, Any] = {"call_id": None, "name": "read_file", "kind": ToolKind.READ, "arguments": {}}
    return ToolCall(**given | {"status": ToolStatus.SUCCESS} | fields)


def session_of_parts(*parts: Any) -> Session:
    """A session with one message for each part."""
    whole = looked_at_sessions()["images"]
    first = whole.messages[0]
    messages = (
        replace(first, id=f"m{number}", parts=(part,), also_at=(), source=replace(first.source, line=number))
        for number, part in enumerate(parts)
    )
    return replace(whole, messages=tuple(messages))


def noted_session() -> Session:
    """A session with what Gemini CLI does not note."""
    asked = call(arguments={"input": "*** Begin Patch"}, gist="the shop window")
    session = session_of_parts(Text("Paint it.", Origin.HUMAN), asked)
    used = Usage(1, 1000, 500, 300, 20, None, None, 1020, cache_write_hour=123)
    prompt, reply = session.messages
    reply = replace(
        reply, role=Role.ASSISTANT, origin=Origin.MODEL, usage=used, request_id="req-first of the shop"
    )
    return replace(
        session,
        messages=(prompt, reply),
        usage=used,
        branch="feature of the window",
        reported=replace(used, requests=2, input=1500, total=1560),
        unrecorded=(Unrecorded("a title for the list", "the total says so", 1, Usage(1, 500)),),
    )


def rare_session() -> Session:
    """A session with what the model has room for and no fixture holds, and with messages of every state."""
    session = noted_session()
    prompt, reply = session.messages
    used = Usage(1, 1001, 501, 301, 21, 11, 7, 1040, 1055, cache_write_hour=124)
    answers = (
        Text("what a hook put in", Origin.INJECTED),
        Attachment("image/png", uri="https://example.com/answer.png"),
        Unrecognised(_RAW),
    )
    reply = replace(
        reply,
        usage=used,
        parts=(
            Text("an answer in the words of a tool", Origin.TOOL),
            Unrecognised({"inner": [dict(_RAW)]}),
            *(_shown_call(number, display, answers) for number, display in enumerate(_displays())),
        ),
    )
    result = ToolResult("call-1", "read_file", (*answers, Attachment("image/png", origin=Origin.INJECTED)))
    answered = replace(prompt, id="answered", origin=Origin.TOOL, parts=(result,))
    return replace(
        session,
        messages=(prompt, reply, answered, *_in_every_state(prompt, reply)),
        files=tuple(replace(file, kept=True) for file in session.files),
        kept=True,
        usage=used,
        reported=replace(used, requests=3, reported_total=9900),
        unrecorded=(Unrecorded("a summary", "the log says so", 1, replace(used, reported_total=777)),),
        companions=(
            Companion(CompanionKind.PLAN, "/home/ada/plan.md", 12, datetime(2026, 5, 1, 9, tzinfo=UTC)),
        ),
    )


def _displays() -> tuple[AnyDisplay, ...]:
    return (
        Listing("two things", ("one of the things", {"is_so": True, "many": 3}), dict(_RAW)),
        Screen([["bare words", {"text": "styled words", "bold": True, "fg": "red", "width": 9}, 17, False]]),
        UnrecognisedDisplay(dict(_RAW)),
        AgentProgress("helper", "running", "half done", (dict(_RAW), "in words")),
    )


def _shown_call(number: int, display: AnyDisplay, answers: tuple[Any, ...]) -> ToolCall:
    moved = MovedOutput("/home/ada/output.txt", 123_456, "what it said", left_out=120_000)
    return call(
        call_id=f"call-{number}", display=display, result=answers, full_output=moved, other=dict(_RAW)
    )


def _in_every_state(prompt: Message, reply: Message) -> Iterable[Message]:
    """Words of a human and of a model, and a thought, in each state that messages can be in."""
    for state in State:
        yield replace(prompt, id=f"asked-{state}", state=state, parts=(Text(f"asked {state}", Origin.HUMAN),))
        said = (Text(f"answered {state}", Origin.MODEL), Thought(f"thought {state}", "of it"))
        yield replace(reply, id=f"said-{state}", state=state, parts=said, usage=None)


def long_sessions() -> list[Session]:
    """The beginnings of sessions in which everything that can be long is."""
    whole = (looked_at_sessions()[case] for case in ("tool-calls-jsonl-2", "claude-tools"))
    return [_stretched(replace(session, messages=session.messages[:SOME])) for session in whole]


def _stretched(session: Session) -> Session:
    long = (held for held in held_values(session) if held.kind in STRETCHED and isinstance(held.value, str))
    changes = {held.steps: held.value + f"\n{held.value}" * (LONG // len(held.value)) for held in long}
    stretched: Session = replaced(session, changes)
    return stretched
