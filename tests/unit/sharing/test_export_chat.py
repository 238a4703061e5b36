"""`chat`, checked with the message types of the `openai` package."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
import pytest
from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolParam
from pydantic import TypeAdapter, ValidationError

from geminids.core.model import (
    Attachment,
    Message,
    Origin,
    Plain,
    Role,
    Session,
    State,
    Text,
    ToolCall,
    ToolStatus,
)
from geminids.sharing.transcript.entries import LEVELS
from tests.support.exporting import exported, fixture_sessions, hostile_session, looked_at_sessions

MESSAGES: TypeAdapter[Any] = TypeAdapter(list[ChatCompletionMessageParam])
TOOLS: TypeAdapter[Any] = TypeAdapter(list[ChatCompletionToolParam])


@pytest.mark.parametrize("level", LEVELS)
def test_the_api_takes_every_session(level: str) -> None:
    for session in (*fixture_sessions().values(), hostile_session()):
        written = _chat(session, level)
        _check(written["messages"])
        _read_all(TOOLS.validate_python(written.get("tools", [])))
        _check_answers(written["messages"])


def test_the_check_refuses_an_answer_without_its_call() -> None:
    messages = _chat(looked_at_sessions()["tool-calls-jsonl-2"])["messages"]
    next(message for message in messages if message["role"] == "tool").pop("tool_call_id")
    with pytest.raises(ValidationError):
        _check(messages)


def test_the_check_looks_into_calls() -> None:
    messages = _chat(looked_at_sessions()["tool-calls-jsonl-2"])["messages"]
    called = next(message for message in messages if message.get("tool_calls"))
    called["tool_calls"][0]["function"]["arguments"] = {"not": "text"}
    with pytest.raises(ValidationError):
        _check(messages)


def test_turns_and_calls_are_those_a_model_would_see_now() -> None:
    for session in fixture_sessions().values():
        messages = _chat(session)["messages"]
        current = [message for message in session.messages if message.state is State.CURRENT]
        replies = [message for message in messages if message["role"] == "assistant"]
        calls = [call["function"] for reply in replies for call in reply.get("tool_calls", ())]
        assert [(call["name"], json.loads(call["arguments"])) for call in calls] == [
            (call.name, call.arguments) for message in current for call in message.tool_calls
        ]
        said = [message.text(Origin.MODEL) for message in current if message.role is Role.ASSISTANT]
        expected = [words for words in said if words]
        if not any(message.state is State.COMPRESSED for message in session.messages):
            assert [reply["content"] for reply in replies if reply["content"]] == expected
        prompts = [_typed(message) for message in current if message.origin is Origin.HUMAN]
        users = [_words(message["content"]) for message in messages if message["role"] == "user"]
        _assert_in_order(prompts, users)


def test_compressed_turns_are_replaced_by_their_summary() -> None:
    session = looked_at_sessions()["compress-checkpoint"]
    contents = [message["content"] for message in _chat(session)["messages"]]
    compressed = [m.text(Origin.HUMAN) for m in session.messages if m.state is State.COMPRESSED]
    prompts = [words for words in compressed if words]
    assert prompts
    assert not set(prompts) & set(contents)
    summary = next(content for content in contents if content.startswith("<state_snapshot>"))
    # The agent kept the last question as it was; to the model, the summary comes before it.
    kept = next(content for content in contents if content.startswith("Long question number 3"))
    assert contents.index(summary) < contents.index(kept)


def test_rewound_turns_are_told_only_with_everything_and_say_so() -> None:
    session = looked_at_sessions()["rewind-jsonl-2"]
    rewound = [m.text(Origin.HUMAN) for m in session.messages if m.state is State.REWOUND]
    prompts = {words for words in rewound if words}
    assert prompts
    for level in LEVELS:
        messages = _chat(session, level)["messages"]
        told = {message["content"] for message in messages if message["role"] == "user"}
        assert prompts & told == (prompts if level == "everything" else set())
        marked = {message["content"] for message in messages if message.get("state") == "rewound"}
        assert prompts & marked == prompts & told


def test_calls_without_an_id_or_with_the_same_get_ids_that_stay() -> None:
    session = _with_calls(*(_call(call_id) for call_id in (None, "same", "same", None, "")))
    written = _chat(session)["messages"]
    ids = [call["id"] for call in written[-6]["tool_calls"]]
    assert ids[1] == "same"
    assert len(set(ids)) == 5
    assert all(ids)
    assert [message["tool_call_id"] for message in written[-5:]] == ids
    for level in ("conversation", "everything"):
        assert ids == [
            call["id"] for m in _chat(session, level)["messages"] for call in m.get("tool_calls", ())
        ]


@pytest.mark.parametrize(
    ("level", "status", "answer"),
    [
        ("tools", ToolStatus.PENDING, "(no result was recorded: pending)"),
        ("tools", ToolStatus.CANCELLED, "(no result was recorded: cancelled)"),
        ("tools", ToolStatus.SUCCESS, "(no result was recorded)"),
        ("conversation", ToolStatus.SUCCESS, "(the result is left out)"),
    ],
)
def test_an_answer_that_is_missing_says_why(level: str, status: ToolStatus, answer: str) -> None:
    call = msgspec.structs.replace(_call("c1"), status=status, result=(), display=None)
    assert _chat(_with_calls(call), level)["messages"][-1]["content"] == answer


def test_what_the_human_saw_stands_for_an_answer_that_was_not_recorded() -> None:
    call = msgspec.structs.replace(_call("c1"), result=(), display=Plain("3 files"))
    assert _chat(_with_calls(call))["messages"][-1]["content"] == "3 files"


def test_an_empty_answer_stays_empty() -> None:
    call = msgspec.structs.replace(_call("c1"), result=(Text("", Origin.TOOL),))
    assert _chat(_with_calls(call))["messages"][-1]["content"] == ""


def test_thoughts_are_written_at_the_levels_that_tell_them() -> None:
    session = looked_at_sessions()["tool-calls-jsonl-2"]
    for level in LEVELS:
        thoughts = [
            m["reasoning_content"] for m in _chat(session, level)["messages"] if "reasoning_content" in m
        ]
        assert bool(thoughts) == (level in {"thoughts", "everything"})


def test_pictures_are_data_addresses_and_other_files_are_named() -> None:
    parts = (
        Text("look", Origin.HUMAN),
        Attachment("image/png", data="aGk="),
        Attachment("image/png", data="aGk="),
        Attachment("application/pdf", data="aGk="),
        Attachment("image/png", uri="javascript:alert(1)"),
    )
    prompt = msgspec.structs.replace(hostile_session().messages[0], parts=parts)
    content = _chat(_with_messages(prompt))["messages"][0]["content"]
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}
    named = "[attachment: application/pdf, 3 bytes]\n\n[attachment: image/png, javascript:alert(1)]"
    assert content == [{"type": "text", "text": "look"}, picture, picture, {"type": "text", "text": named}]


def test_tools_are_the_functions_that_were_called() -> None:
    first = msgspec.structs.replace(_call("c1"), name="look", arguments={"path": "a", "deep": True})
    second = msgspec.structs.replace(_call("c2"), name="look", arguments={"path": ["a"], "limit": 3})
    (tool,) = _chat(_with_calls(first, second))["tools"]
    properties = {"path": {}, "deep": {"type": "boolean"}, "limit": {"type": "integer"}}
    parameters = {"type": "object", "properties": properties}
    assert tool == {"type": "function", "function": {"name": "look", "parameters": parameters}}


def test_notices_are_told_only_with_everything() -> None:
    session = next(s for name, s in fixture_sessions().items() if name.startswith("slash-commands/"))
    for level in LEVELS:
        roles = {message["role"] for message in _chat(session, level)["messages"]}
        assert ("system" in roles) == (level == "everything")


def test_every_session_is_one_line() -> None:
    sessions = [*fixture_sessions().values(), hostile_session()]
    lines = exported("chat", *sessions).splitlines()
    assert [json.loads(line) for line in lines] == [_chat(session) for session in sessions]
    empty = next(session for session in sessions if not session.messages)
    assert _chat(empty) == {"messages": []}


def _chat(session: Session, level: str | None = None) -> dict[str, Any]:
    written: dict[str, Any] = json.loads(exported("chat", session, level=level))
    return written


def _check(messages: list[dict[str, Any]]) -> None:
    _read_all(MESSAGES.validate_python(messages))


def _read_all(validated: Any) -> None:
    """Pydantic checks what is declared as an iterable only when it is read."""
    match validated:
        case dict():
            for value in validated.values():
                _read_all(value)
        case str() | int() | float() | None:
            pass
        case Iterable():
            for value in validated:
                _read_all(value)


def _check_answers(messages: list[dict[str, Any]]) -> None:
    """Every call is answered once, directly after the message that made it."""
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            assert message["tool_call_id"] == waiting.pop(0)
        else:
            assert not waiting
            waiting = [call["id"] for call in message.get("tool_calls", ())]
    assert not waiting


def _typed(prompt: Message) -> list[str]:
    """The pieces that the human typed: between them something may be attached."""
    return [part.text for part in prompt.parts if isinstance(part, Text) and part.origin is Origin.HUMAN]


def _assert_in_order(wanted: Iterable[Sequence[str]], said: Iterable[str]) -> None:
    rest = iter(said)
    for pieces in wanted:
        assert any(all(piece in candidate for piece in pieces) for candidate in rest), pieces


def _words(content: str | list[dict[str, Any]]) -> str:
    return content if isinstance(content, str) else "\n\n".join(part.get("text", "") for part in content)


def _call(call_id: str | None) -> ToolCall:
    call = hostile_session().messages[1].tool_calls[0]
    return msgspec.structs.replace(call, call_id=call_id, status=ToolStatus.SUCCESS, native_status=None)


def _with_calls(*calls: ToolCall) -> Session:
    prompt, reply, *_ = hostile_session().messages
    return _with_messages(prompt, msgspec.structs.replace(reply, parts=calls))


def _with_messages(*messages: Message) -> Session:
    return msgspec.structs.replace(hostile_session(), messages=messages)
