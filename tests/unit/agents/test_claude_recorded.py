"""Sessions that Claude Code itself wrote: what we read is what it sends when it goes on with them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from geminids.agents.claude import ClaudeSource
from geminids.core.model import (
    Attachment,
    CompanionKind,
    Message,
    Operation,
    Origin,
    Role,
    Session,
    State,
    Text,
    Thought,
    ToolCall,
    ToolStatus,
)
from tests.conftest import CORPUS, FIXTURES
from tests.support.accounts import accounted
from tests.support.reading import custodian_of, readings, sessions

SOURCE = ClaudeSource()
CASES = FIXTURES / "claude"
RESUMED = sorted(path.parent.name for path in CASES.glob("*/resume.json"))
WILD = sorted((CORPUS / "wild" / "claude").glob("*.jsonl"))
_REMINDER = re.compile(r"\s*<system-reminder>.*?</system-reminder>\s*", re.DOTALL)
_COMMAND = re.compile(r"<command-name>/?(.*?)</command-name>.*?<command-args>(.*?)</command-args>", re.DOTALL)
_NAME_FIRST = re.compile(r"(?:<command-message>.*?</command-message>\s*)?(<command-name>.*)", re.DOTALL)
_PRINTED = re.compile(r"</?(?:local-command-std\w+|bash-\w+)>")

Told = tuple[str, ...]
"""Who said what, or which call, or the answer to which call."""


def read_case(name: str) -> dict[str, Session]:
    return {session.native_id: session for session in sessions(SOURCE, CASES / name / "home")}


def plain(text: str) -> str:
    """Words without what the CLI puts in beside them, commands as they were typed."""
    text = _REMINDER.sub("", text)
    if named := _NAME_FIRST.match(text):
        text = _COMMAND.sub(r"/\1 \2", named[1])
    return _PRINTED.sub("", text).strip()


def sent(messages: list[dict[str, Any]]) -> Iterator[Told]:
    """What a request tells the model, in order; answers to calls made at once in the order of their ids."""
    for message in messages:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        results: list[Told] = []
        others: list[Told] = []
        for block in blocks if message["role"] != "system" else ():
            match block:
                case {"type": "text", "text": text}:
                    others.append((message["role"], plain(text)))
                case {"type": "tool_use", "id": call_id, "name": name, "input": arguments}:
                    others.append(("call", call_id, name, json.dumps(arguments, sort_keys=True)))
                case {"type": "tool_result", "tool_use_id": call_id}:
                    results.append(("answer", call_id, plain(sent_answer(block.get("content")))))
                case {"type": "redacted_thinking"}:
                    continue
                case {"type": kind}:
                    others.append((message["role"], f"<{kind}>"))
        yield from sorted(results)
        yield from (told for told in others if told[-1])


def sent_answer(content: object) -> str:
    if isinstance(content, str) or content is None:
        return content or ""
    assert isinstance(content, list)
    return "\n".join(block.get("text", f"<{block['type']}>") for block in content)


def reminders(messages: list[dict[str, Any]]) -> str:
    """What a request tells the model aside. A prompt that was typed while it worked is told there."""
    return "\n".join(_REMINDER.findall(json.dumps(messages, ensure_ascii=False)))


def in_view(session: Session, prompt: str, aside: str, errors: set[Told]) -> Iterator[Told]:
    """The same as we read it, up to a prompt, without what was told aside.

    Releases 2.0 send the errors of the service too, as if the model had said them.
    """
    current = [message for message in session.messages if message.state is State.CURRENT]
    last = max(place for place, message in enumerate(current) if message.text(Origin.HUMAN) == prompt)
    for message in current[: last + 1]:
        was_queued = message.origin is Origin.HUMAN and message.text(Origin.HUMAN) in aside
        if message.role is not Role.SYSTEM and not was_queued:
            yield from told(message)
        elif (error := ("assistant", message.text(Origin.NOTICE))) in errors:
            yield error


def told(message: Message) -> Iterator[Told]:
    role = "assistant" if message.role is Role.ASSISTANT else "user"
    results: list[Told] = []
    for part in message.parts:
        match part:
            case Text(text=text):
                words = plain(text)
                if words and not words.startswith("<task-notification>"):
                    yield role, words
            case ToolCall(call_id=str(call_id)):
                # A call that was never answered cannot be sent, and the CLI leaves it out.
                if part.status is not ToolStatus.PENDING:
                    yield "call", call_id, part.name, json.dumps(part.arguments, sort_keys=True)
                    shown = (piece.text if isinstance(piece, Text) else "<image>" for piece in part.result)
                    results.append(("answer", call_id, plain("\n".join(shown))))
            case Thought():
                yield role, "<thinking>"
            case Attachment(mime_type=mime_type):
                yield role, "<image>" if mime_type and mime_type.startswith("image/") else "<document>"
    yield from sorted(results)


@pytest.mark.parametrize("case", RESUMED)
def test_what_is_current_is_what_the_cli_sends_when_it_resumes(case: str) -> None:
    found = read_case(case)
    for resumed in json.loads((CASES / case / "resume.json").read_bytes()):
        session = found[resumed["written_to"]]
        aside = reminders(resumed["messages"])
        in_request = list(sent(resumed["messages"]))
        assert list(in_view(session, resumed["prompt"], aside, set(in_request))) == in_request


@pytest.mark.parametrize("case", RESUMED)
def test_the_agents_view_holds_the_records_that_are_current(case: str) -> None:
    for session in read_case(case).values():
        view = custodian_of(SOURCE).agent_view(Path(session.files[0].path))
        if session.parent_id is None:
            assert view is not None
            ids = {record["uuid"] for record in view["records"]}
            assert ids >= {message.id for message in session.messages if message.state is State.CURRENT}
            assert ids.isdisjoint(m.id for m in session.messages if m.state is not State.CURRENT)


@pytest.mark.parametrize("case", sorted(path.name for path in CASES.glob("*") if path.is_dir()))
def test_every_byte_is_accounted_for_and_no_field_is_unknown(case: str) -> None:
    accounts = [
        account for reading in readings(SOURCE, CASES / case / "home") for account in reading.accounts
    ]
    assert accounts
    for account in accounts:
        assert accounted(account) == account.size == Path(account.path).stat().st_size
        assert account.unknown_fields == {}
        assert not any(reason.startswith("record of unknown kind") for reason in account.ignored)


def test_calls_tell_what_they_did() -> None:
    (session,) = read_case("tools").values()
    calls = [call for message in session.messages for call in message.tool_calls]
    edit, write = (next(call for call in calls if call.name == name) for name in ("Edit", "Write"))
    assert [(c.operation, c.added, c.removed) for c in edit.changes] == [(Operation.EDIT, 1, 1)]
    assert [(c.operation, c.added, c.removed) for c in write.changes] == [(Operation.CREATE, 4, 0)]
    assert [call.exit_code for call in calls if call.name == "Bash"] == [None, 3]


def test_the_clis_own_total_is_ours_where_nothing_is_missing() -> None:
    for case in ("plain", "tools", "fork", "subagent", "nested-agents"):
        found = read_case(case).values()
        for session in found:
            if session.parent_id is None:
                below = [child for child in found if child.native_id.startswith(f"{session.native_id}#")]
                spent = sum(one.usage.total or 0 for one in (session, *below))
                assert session.reported is not None
                assert (session.reported.total, session.unrecorded) == (spent, ())


def test_the_request_for_a_summary_is_told_as_unrecorded() -> None:
    original, fork = sorted(read_case("compact").values(), key=lambda session: session.started_at or 0)
    (missing,) = original.unrecorded
    assert missing.usage is not None
    assert original.reported is not None
    assert (original.usage.total or 0) + (missing.usage.total or 0) == original.reported.total
    # Its total goes on from what the first session had used, which is not missing here.
    assert (fork.reported, fork.unrecorded) == (None, ())


def test_a_fork_begins_after_the_session_it_copies() -> None:
    first, second = sorted(read_case("fork").values(), key=lambda session: session.started_at or 0)
    shared = {m.request_id for m in first.messages if m.request_id} & {m.request_id for m in second.messages}
    assert shared
    forked_at = next(m.at for m in second.messages if m.text(Origin.HUMAN) == "And if there is no milk?")
    copied = [message.at for message in second.messages if message.request_id in shared]
    assert second.started_at is not None
    assert forked_at is not None
    assert max(at for at in copied if at) < second.started_at <= forked_at


def test_agents_of_agents_are_tied_to_the_calls_that_started_them() -> None:
    found = read_case("nested-agents")
    children = {
        call.child_id: session.id
        for session in found.values()
        for message in session.messages
        for call in message.tool_calls
        if call.child_id
    }
    assert children == {one.id: one.parent_id for one in found.values() if one.parent_id}
    assert len(children) == 2


def test_a_long_output_is_put_back() -> None:
    (session,) = read_case("long-output").values()
    assert {companion.kind for companion in session.companions} == {CompanionKind.TOOL_OUTPUT}
    calls = [
        call for message in SOURCE.companions().with_outputs(session).messages for call in message.tool_calls
    ]
    (moved,) = (call.full_output for call in calls if call.full_output)
    assert moved.text is not None
    assert "106000" in moved.text
    assert SOURCE.companions().named_ids(session) == {session.native_id}


@pytest.mark.parametrize("file", WILD, ids=lambda file: file.stem)
def test_published_files_are_read(file: Path) -> None:
    reading = SOURCE.read_alone(file)
    assert reading is not None
    (account,) = reading.accounts
    assert accounted(account) == account.size
    assert account.unknown_fields == {}
    (session,) = reading.sessions
    assert session.counts.prompts
    states = {message.state for message in session.messages}
    assert states == {State.CURRENT}
