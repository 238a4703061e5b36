"""The `gemini` format: what Gemini CLI's loader finds in an exported session."""

from __future__ import annotations

import json
import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from geminids.agents.gemini.write.session_file import gemini_file_name
from geminids.core import agents
from geminids.core.model import (
    Attachment,
    Message,
    Origin,
    Project,
    Session,
    SessionKind,
    State,
    Text,
    ToolCall,
    ToolKind,
    ToolResult,
    ToolStatus,
)
from geminids.sharing.transcript.entries import LEVELS
from tests.conftest import FIXTURES
from tests.support.exporting import exported, fixture_sessions, hostile_session
from tests.support.gemini_cli import NoCliError, installed_cli
from tests.support.reading import custodian_of
from tests.support.reading import sessions as read_sessions

ALL = sorted(fixture_sessions())
ORACLE = FIXTURES / "record" / "gemini_oracle.mjs"


def records(session: Session, **options: Any) -> list[dict[str, Any]]:
    """The records of an exported session."""
    return [json.loads(line) for line in exported("gemini", session, **options).splitlines()]


def header(session: Session, **options: Any) -> dict[str, Any]:
    return records(session, **options)[0]


def loaded(session: Session, folder: Path, **options: Any) -> dict[str, Any]:
    """An exported session as Gemini CLI's loader returns it."""
    file = folder / gemini_file_name(session)
    file.write_bytes(exported("gemini", session, **options))
    view = custodian_of(agents.load("gemini")).agent_view(file)
    assert view is not None
    return view


def changed(session: Session, **fields: Any) -> Session:
    return msgspec.structs.replace(session, **fields)


def with_parts(*parts: Any, message: int = 1, **fields: Any) -> Session:
    """A session of one message."""
    one: Message = msgspec.structs.replace(hostile_session().messages[message], parts=parts, **fields)
    return changed(hostile_session(), messages=(one,))


@pytest.mark.parametrize("name", ALL)
def test_the_agent_sees_what_is_current_and_nothing_else(name: str, tmp_path: Path) -> None:
    session = fixture_sessions()[name]
    view = loaded(session, tmp_path)
    current = [message.id for message in session.messages if message.state is State.CURRENT]
    assert sorted(message["id"] for message in view["messages"]) == sorted(current)
    assert all("content" in message and "type" in message for message in view["messages"])


@pytest.mark.slow
@pytest.mark.parametrize("level", [level for level in LEVELS if level != "everything"])
def test_every_level_can_be_loaded(level: str, tmp_path: Path) -> None:
    for session in fixture_sessions().values():
        for message in loaded(session, tmp_path, level=level)["messages"]:
            for call in message.get("toolCalls", ()):
                # The model waits for an answer to each call that has ended.
                assert call.get("status") not in {"success", "error", "cancelled"} or call["result"]


def test_a_summary_stands_before_the_turns_that_were_kept(tmp_path: Path) -> None:
    (session,) = read_sessions(agents.load("gemini"), FIXTURES / "gemini" / "compress-checkpoint" / "home")
    original = custodian_of(agents.load("gemini")).agent_view(Path(session.files[0].path))
    assert original is not None
    words = [_words(message) for message in loaded(session, tmp_path)["messages"]]
    assert words == [_words(message) for message in original["messages"]]


def _words(message: dict[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


def test_the_name_is_the_one_that_the_agent_looks_for() -> None:
    session = fixture_sessions()["rewind-jsonl-2/c58c043b-a792-4f7b-80ae-02b2109d34f9"]
    assert gemini_file_name(session) == "session-2026-11-15T08-10-c58c043b.jsonl"
    unknown = changed(session, started_at=None, ended_at=None)
    assert gemini_file_name(unknown) == "session-1970-01-01T00-00-c58c043b.jsonl"


def test_an_id_that_is_no_name_of_a_file_becomes_one() -> None:
    saved = changed(hostile_session(), id="gemini:checkpoint-../up@alpha", native_id="checkpoint-../up@alpha")
    session_id = header(saved)["sessionId"]
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", session_id)
    assert session_id == header(saved)["sessionId"]
    assert gemini_file_name(saved).endswith(f"-{session_id[:8]}.jsonl")


def test_a_subagent_is_written_as_a_session_of_its_own_and_its_call_still_names_it() -> None:
    sessions = fixture_sessions()
    call_ids = [
        call["agentId"]
        for name, session in sessions.items()
        for record in records(session)
        for call in record.get("toolCalls", ())
        if "agentId" in call and name.startswith("subagent-in-parent-file/")
    ]
    children = [s for n, s in sessions.items() if n.startswith("subagent-in-parent-file/")]
    children = [session for session in children if session.kind is SessionKind.SUBAGENT]
    assert children
    for child in children:
        assert header(child)["kind"] == "main"
        assert header(child)["sessionId"] in call_ids


def test_the_last_change_is_when_the_last_thing_happened_unless_it_is_touched() -> None:
    session = fixture_sessions()["rewind-jsonl-2/c58c043b-a792-4f7b-80ae-02b2109d34f9"]
    assert header(session)["lastUpdated"] == "2026-11-15T08:10:37.438Z"
    touched = header(session, touched_at=datetime(2027, 1, 1, 12, tzinfo=UTC))
    assert touched["lastUpdated"] == "2027-01-01T12:00:00.000Z"
    assert touched["startTime"] == "2026-11-15T08:10:03.181Z"


def test_a_session_without_a_project_has_a_hash_all_the_same() -> None:
    nowhere = changed(hostile_session(), project=Project(None, None, None, None))
    assert header(nowhere)["projectHash"] == "0" * 64
    somewhere = changed(hostile_session(), project=Project("/home/ada/shop", None, None, None))
    assert len(set(header(somewhere)["projectHash"])) > 1


def test_what_the_user_calls_a_session_is_what_the_agent_lists() -> None:
    session = hostile_session()
    assert header(session, names={session.id: "the shop"})["summary"] == "the shop"
    assert header(session)["summary"] == session.summary


def test_a_picture_stands_behind_the_answer_of_a_tool() -> None:
    # What stands inside it the agent leaves out of the request when it goes on.
    result = (Text("a picture", Origin.TOOL), Attachment("image/png", data="aGk="))
    call = ToolCall("1", "read_file", ToolKind.READ, {}, ToolStatus.SUCCESS, result=result)
    (_, message) = records(with_parts(call))
    answer, picture = message["toolCalls"][0]["result"]
    assert answer["functionResponse"]["response"] == {"output": "a picture"}
    assert picture == {"inlineData": {"mimeType": "image/png", "data": "aGk="}}


@pytest.mark.parametrize(
    ("status", "words", "response"),
    [
        (ToolStatus.SUCCESS, ["fine"], {"output": "fine"}),
        (ToolStatus.ERROR, ["no"], {"error": "no"}),
        (ToolStatus.CANCELLED, ["half", "stopped"], {"output": "half", "error": "stopped"}),
        (ToolStatus.SUCCESS, [], {}),
    ],
)
def test_an_answer_is_an_output_or_an_error(
    status: ToolStatus, words: list[str], response: dict[str, str]
) -> None:
    result = tuple(Text(word, Origin.TOOL) for word in words)
    call = ToolCall("1", "own_tool", ToolKind.OTHER, {}, status, result=result)
    (_, message) = records(with_parts(call))
    assert message["toolCalls"][0]["result"] == [
        {"functionResponse": {"id": "1", "name": "own_tool", "response": response}}
    ]


def test_a_call_that_never_ended_has_no_answer() -> None:
    call = ToolCall("1", "own_tool", ToolKind.OTHER, {}, ToolStatus.PENDING)
    (_, message) = records(with_parts(call))
    assert "result" not in message["toolCalls"][0]
    assert message["toolCalls"][0]["status"] == "executing"


def test_calls_and_answers_without_ids_are_tied_by_their_order() -> None:
    call = ToolCall(None, "own_tool", ToolKind.OTHER, {}, ToolStatus.SUCCESS)
    answer = ToolResult(None, "own_tool", (Text("x", Origin.TOOL),))
    asked = msgspec.structs.replace(hostile_session().messages[1], parts=(call, call))
    answered = msgspec.structs.replace(hostile_session().messages[2], parts=(answer, answer))
    (_, first, second) = records(changed(hostile_session(), messages=(asked, answered)))
    ids = [call["id"] for call in first["toolCalls"]]
    assert len(set(ids)) == 2
    assert [part["functionResponse"]["id"] for part in second["content"]] == ids


def test_what_many_hooks_put_in_front_of_a_prompt_is_one_text_again() -> None:
    hook = Text("<hook_context>hi</hook_context>\n\n", Origin.INJECTED)
    (_, message) = records(with_parts(*[hook] * 5000, Text("go", Origin.HUMAN), message=0))
    assert message["content"] == [{"text": hook.text * 5000 + "go"}]


def test_two_messages_of_one_id_are_still_two(tmp_path: Path) -> None:
    message = hostile_session().messages[0]
    twice = changed(hostile_session(), messages=(message, message))
    assert len(loaded(twice, tmp_path)["messages"]) == 2


@pytest.mark.parametrize("state", [State.COMPRESSED, State.CANCELLED])
def test_what_nothing_in_the_file_would_take_away_is_left_out(state: State) -> None:
    alone = with_parts(Text("gone", Origin.HUMAN), message=0, state=state)
    assert b"gone" not in exported("gemini", alone)


def test_only_the_last_list_repeats_messages() -> None:
    prompt = hostile_session().messages[0]
    first, said = (
        msgspec.structs.replace(prompt, parts=(Text(words, Origin.HUMAN),))
        for words in ("the first words", "more words")
    )
    failed = msgspec.structs.replace(said, state=State.FAILED)
    often = changed(hostile_session(), messages=(first, *[failed, said] * 50))
    assert len([record for record in records(often) if "messages" in record.get("$set", ())]) == 50
    assert exported("gemini", often).count(b"the first words") == 2


@pytest.fixture(scope="module")
def cli_folder(request: pytest.FixtureRequest) -> Path:
    """The folder that Gemini CLI is installed in, where its own loader can be asked."""
    assert request.config.cache is not None
    try:
        program = installed_cli(request.config.cache.mkdir("gemini-cli"))
    except NoCliError as error:
        pytest.skip(f"no Gemini CLI: its own loader was not asked ({error})")
    return next(above.parent for above in program.parents if above.name == "node_modules")


@pytest.mark.slow
@pytest.mark.parametrize("case", ["tool-calls-jsonl-2", "shell-mode", "images", "image-prompt", "hooks"])
def test_the_clis_own_loader_makes_the_same_of_it(case: str, cli_folder: Path, tmp_path: Path) -> None:
    session = read_sessions(agents.load("gemini"), FIXTURES / "gemini" / case / "home")[0]
    original = Path(session.files[0].path)
    for name, content in (("theirs", original.read_bytes()), ("ours", exported("gemini", session))):
        chats = tmp_path / name / "chats"
        chats.mkdir(parents=True)
        (chats / "session.jsonl").write_bytes(content)
    line = ["node", str(ORACLE), str(cli_folder), str(tmp_path)]
    subprocess.run(line, check=True, capture_output=True, timeout=60)
    theirs, ours = (
        json.loads((tmp_path / name / "chats" / "session.jsonl.oracle.json").read_bytes())
        for name in ("theirs", "ours")
    )
    assert ours["clientHistory"] == theirs["clientHistory"]
    assert [m["id"] for m in ours["loadConversationRecord"]["value"]["messages"]] == [
        m["id"] for m in theirs["loadConversationRecord"]["value"]["messages"]
    ]
