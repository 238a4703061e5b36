"""Sessions from files: copies, shared files, odd ids, subagents, tool calls."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from geminids.agents.gemini import GeminiSource
from geminids.agents.gemini.read.subagents import stated_end
from geminids.core.model import (
    Attachment,
    Message,
    Origin,
    Session,
    SessionKind,
    State,
    Status,
    Text,
    ToolStatus,
)
from geminids.sharing.transcript.outline import prompt_turns
from tests.support.reading import sessions

SOURCE = GeminiSource()
HEADER = {"sessionId": "11111111-a", "projectHash": "h", "startTime": "2026-01-01T00:00:00.000Z"}
LEFT_PLAN_MODE = (
    "User has manually exited Plan Mode. Switching to Default mode (edits will require confirmation)."
)
NAME = "session-2026-01-01T00-00-11111111"


class Home:
    """A home that is written file by file."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def document(
        self, *messages: dict[str, Any], name: str = NAME, slug: str = "app", **header: object
    ) -> None:
        """A `.json` file."""
        self._write(f"{name}.json", slug, json.dumps({**HEADER, **header, "messages": messages}, indent=2))

    def log(self, *records: dict[str, Any], name: str = f"{NAME}.jsonl", slug: str = "app") -> None:
        """A `.jsonl` file."""
        self._write(name, slug, "".join(json.dumps(record) + "\n" for record in records))

    def _write(self, name: str, slug: str, text: str) -> None:
        file = self._folder / ".gemini" / "tmp" / slug / "chats" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")

    @property
    def sessions(self) -> list[Session]:
        return sessions(SOURCE, self._folder)

    @property
    def messages(self) -> tuple[Message, ...]:
        (session,) = self.sessions
        return session.messages


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def at(second: int) -> str:
    return f"2026-01-01T00:00:{second:02}.000Z"


def prompt(text: str, second: int = 1, **fields: object) -> dict[str, Any]:
    return {"id": f"p{second}", "type": "user", "content": text, "timestamp": at(second), **fields}


def reply(text: str, second: int = 2, **fields: object) -> dict[str, Any]:
    answer = {"id": f"r{second}", "type": "gemini", "content": text, "timestamp": at(second), "model": "m"}
    return {**answer, "tokens": {"input": 1, "output": 1, "total": 2}, **fields}


def call(call_id: str, name: str = "read_file", **fields: object) -> dict[str, Any]:
    return {"id": call_id, "name": name, "args": {}, "status": "success", "timestamp": at(9), **fields}


def answer(call_id: str, output: str) -> dict[str, Any]:
    return {"functionResponse": {"id": call_id, "name": "x", "response": {"output": output}}}


def states(messages: tuple[Message, ...]) -> list[State]:
    return [message.state for message in messages]


def test_a_copy_that_was_rewound_decides(home: Home) -> None:
    talk = [prompt("One"), reply("A"), prompt("Two", 3), reply("B", 4)]
    home.document(*talk, slug="ab" * 32, projectHash="ab" * 32, lastUpdated=at(5))
    home.document(*talk[:2], projectHash="ab" * 32, lastUpdated=at(9))
    assert states(home.messages) == ["current", "current", "superseded", "superseded"]


def test_what_a_failed_rewrite_left_is_older_than_the_file(home: Home) -> None:
    talk = [HEADER, prompt("One"), reply("A"), prompt("Two", 3)]
    home.log(*talk, name=f"{NAME}.jsonl.unreadable-1767225600000")
    home.log(*talk[:3])
    assert states(home.messages) == ["current", "current", "superseded"]


def test_a_shared_file_is_divided_by_the_ids_in_it(home: Home) -> None:
    other = {**HEADER, "sessionId": "11111111-b"}
    back = {"$set": {"sessionId": "11111111-a"}}
    home.log(HEADER, prompt("In one"), other, prompt("In two", 3), back, prompt("Again in one", 5))
    titles = {session.native_id: [m.parts[0].text for m in session.messages] for session in home.sessions}  # type: ignore[union-attr]
    assert titles == {"11111111-a": ["In one", "Again in one"], "11111111-b": ["In two"]}


def test_a_session_may_be_called_chats(home: Home) -> None:
    home.log({**HEADER, "sessionId": "chats"}, prompt("Hi"), name="session-2026-01-01T00-00-chats.jsonl")
    home.log({**HEADER, "sessionId": "agent1", "kind": "subagent"}, prompt("Do"), name="chats/agent1.jsonl")
    main, child = sorted(home.sessions, key=lambda session: session.kind)
    assert (main.native_id, child.native_id, child.parent_id) == ("chats", "agent1", "gemini:chats")


@pytest.mark.parametrize(
    "records",
    [
        [prompt("one", id="x"), reply("two", id="x")],
        [prompt("one", id=""), reply("two", id="")],
        [prompt("one", id="x"), prompt("two", 2, id="x")],
    ],
    ids=["other type", "empty ids", "other words"],
)
def test_what_shares_an_id_without_being_the_same_is_kept(home: Home, records: list[dict[str, Any]]) -> None:
    home.log(HEADER, *records)
    assert [part.text for message in home.messages for part in message.parts if isinstance(part, Text)] == [
        "one",
        "two",
    ]


def test_messages_without_ids_in_two_files_are_not_confused(home: Home) -> None:
    for minute, text in (("00", "one"), ("05", "two")):
        message = {"type": "user", "content": text, "timestamp": f"2026-01-01T00:{minute}:01.000Z"}
        start = f"2026-01-01T00:{minute}:00.000Z"
        home.document(message, name=f"session-2026-01-01T00-{minute}-11111111", startTime=start)
    assert len(home.messages) == 2


def test_a_call_that_is_only_answered_elsewhere_has_ended(home: Home) -> None:
    asked = {"functionCall": {"id": "c1", "name": "read_file", "args": {"file_path": "/x"}}}
    said = {"type": "user", "id": "t", "content": [answer("c1", "X")], "timestamp": at(3)}
    home.log(HEADER, prompt("Go"), reply("", content=[asked]), said, reply("ok", 4))
    (found,) = home.messages[1].tool_calls
    assert (found.status, found.result) == (ToolStatus.SUCCESS, (Text("X", found.result[0].origin),))  # type: ignore[union-attr]


def test_a_call_without_an_id_is_a_call(home: Home) -> None:
    asked = {"functionCall": {"name": "read_file", "args": {}}}
    home.log(HEADER, prompt("Go"), reply("", content=[asked]))
    (session,) = home.sessions
    assert (session.counts.tool_calls, session.status) == (1, Status.INTERRUPTED)


def test_a_picture_belongs_to_the_call_it_came_with(home: Home) -> None:
    picture = {"inlineData": {"data": "aGk=", "mimeType": "image/png"}}
    first = [call("a", result=[answer("a", "A"), picture]), call("b", result=[answer("b", "B")])]
    both = [answer("a", "A"), answer("b", "B")]
    restated = reply("", toolCalls=[call("a", result=both), call("b", result=both)])
    home.log(HEADER, prompt("Go"), reply("", toolCalls=first), {"$set": {"messages": [restated]}})
    one, other = home.messages[1].tool_calls
    assert [type(part) for part in one.result] == [Text, Attachment]
    assert [part.text for part in other.result if isinstance(part, Text)] == ["B"]


def test_a_masked_answer_to_a_parallel_call_does_not_replace_the_full_one(home: Home) -> None:
    full = reply("", toolCalls=[call("b", result=[answer("a", "A"), answer("b", "all of it")])])
    masked = reply("", toolCalls=[call("b", result=[answer("a", "A"), answer("b", "<tool_output_masked>…")])])
    home.log(HEADER, prompt("Go"), full, masked)
    (found,) = home.messages[1].tool_calls
    assert [part.text for part in found.result if isinstance(part, Text)] == ["all of it"]


def test_a_declined_edit_changed_nothing(home: Home) -> None:
    display = {
        "fileDiff": "--- a\n+++ b\n@@ -0,0 +1,1 @@\n+x\n",
        "filePath": "/p/no.txt",
        "newContent": "x\n",
    }
    home.log(
        HEADER, prompt("Write"), reply("", toolCalls=[call("a", status="cancelled", resultDisplay=display)])
    )
    (found,) = home.messages[1].tool_calls
    assert found.changes == ()
    assert found.display is not None


def test_lines_that_look_like_headings_of_a_diff_are_counted(home: Home) -> None:
    diff = "--- a.sql\n+++ a.sql\n@@ -1,3 +1,2 @@\n--- old comment\n--- another\n+++ plus\n same\n"
    display = {"fileDiff": diff, "filePath": "/p/a.sql", "originalContent": "x", "newContent": "y"}
    home.log(HEADER, prompt("Edit"), reply("", toolCalls=[call("a", "replace", resultDisplay=display)]))
    ((change,),) = [found.changes for found in home.messages[1].tool_calls]
    assert (change.added, change.removed) == (1, 2)


def test_exit_codes_of_the_shell_are_read(home: Home) -> None:
    report = "Output: (empty)\nExit Code: 3\nProcess Group PGID: 37"
    shell = call("a", "run_shell_command", result=[answer("a", report)])
    home.log(HEADER, prompt("Run"), reply("", toolCalls=[shell]))
    assert home.messages[1].tool_calls[0].exit_code == 3


def agent(call_id: str, task: str, ended: int) -> dict[str, Any]:
    done = [answer(call_id, "Subagent 'poet' finished.")]
    return call(call_id, "poet", args={"query": task}, result=done, timestamp=at(ended))


def test_subagents_with_one_task_are_told_apart_by_time(home: Home) -> None:
    home.document(
        *(prompt("Look"), reply("", 5, toolCalls=[agent("c1", "Find add", 5)])),
        *(prompt("Again", 6), reply("", 9, toolCalls=[agent("c2", "Find add", 9)])),
    )
    for name, second in (("zzz", 3), ("aaa", 7)):
        home.document(
            *(prompt("Find add", second), reply(name, second + 1)),
            name=f"11111111-a/{name}",
            sessionId=name,
            kind="subagent",
        )
    main = next(session for session in home.sessions if session.kind is SessionKind.MAIN)
    assert [c.child_id for m in main.messages for c in m.tool_calls] == ["gemini:zzz", "gemini:aaa"]


def test_a_quick_human_is_not_taken_for_a_subagent(home: Home) -> None:
    home.document(
        *(prompt("Hello", 1), reply("Hi", 2), prompt("Find add", 3), reply("I will.", 4)),
        *(prompt("Be quick", 5), reply("", 6, toolCalls=[agent("c1", "Find add", 6)])),
    )
    (session,) = home.sessions
    assert session.counts.prompts == 3


def test_a_subagent_in_a_file_beside_its_parent_is_known_by_the_call(home: Home) -> None:
    home.document(
        prompt("Poem please"), reply("", 5, toolCalls=[agent("poet-1767225602000-x", "On milk", 5)])
    )
    home.document(
        prompt("On milk", 3), name="session-2026-01-01T00-01-11111111", startTime="2026-01-01T00:00:03.000Z"
    )
    main, child = home.sessions
    assert (main.counts.prompts, child.kind, child.title) == (1, SessionKind.SUBAGENT, "On milk")
    assert [c.child_id for m in main.messages for c in m.tool_calls] == [child.id]


def test_a_file_without_a_header_may_still_say_whose_it_is(home: Home) -> None:
    home.log(prompt("One"), {"$set": {"sessionId": "11111111-full"}}, prompt("Two", 3))
    (session,) = home.sessions
    assert (session.native_id, session.counts.prompts) == ("11111111-full", 2)


def test_what_is_known_of_a_session_is_not_erased(home: Home) -> None:
    gone = {"$set": {"lastUpdated": None, "summary": None, "sessionId": "22222222-b"}}
    home.log({**HEADER, "summary": "kept"}, prompt("One"), gone, prompt("Two", 3))
    (session,) = home.sessions
    assert (session.native_id, session.title, session.counts.prompts) == ("11111111-a", "kept", 2)


def test_neighbouring_texts_of_one_message_are_one_text(home: Home) -> None:
    asked = prompt("", content=[{"text": "Why is the upl"}, {"text": "oad refused?"}, {"text": ""}])
    answered = reply("", content=[{"text": "It is too "}, {"text": "large."}])
    home.log(HEADER, asked, answered)
    first, second = home.messages
    assert first.parts == (Text("Why is the upload refused?", Origin.HUMAN),)
    assert second.parts == (Text("It is too large.", Origin.MODEL),)
    assert home.sessions[0].title == "Why is the upload refused?"


def test_texts_of_several_origins_stay_apart(home: Home) -> None:
    pieces = [{"text": "<hook_context>Hi.</hook_context>"}, {"text": "Count "}, {"text": "the notes"}]
    home.log(HEADER, prompt("", content=pieces))
    (asked,) = home.messages
    assert [part.origin for part in asked.parts if isinstance(part, Text)] == ["injected", "human"]
    assert asked.text(Origin.HUMAN) == "Count the notes"


RESULT = {"id": "u9", "type": "user", "content": [answer("a", "x")], "timestamp": at(9)}
LAST: dict[str, tuple[list[dict[str, Any]], Status]] = {
    "text and a finished call": ([reply("I will.", toolCalls=[call("a")])], Status.SUCCESS),
    "blank text and a finished call": ([reply(" ", toolCalls=[call("a")])], Status.INTERRUPTED),
    "a finished call": ([reply("", toolCalls=[call("a")])], Status.INTERRUPTED),
    "a failed call": ([reply("I will.", toolCalls=[call("a", status="error")])], Status.FAILURE),
    "a cancelled call": ([reply("I will.", toolCalls=[call("a", status="cancelled")])], Status.CANCELLED),
    "a call that runs": ([reply("I will.", toolCalls=[call("a", status="executing")])], Status.INTERRUPTED),
    "a result": ([reply("I will.", toolCalls=[call("a")]), RESULT], Status.INTERRUPTED),
    "an answer": ([reply("", toolCalls=[call("a")]), RESULT, reply("Done.", 10)], Status.SUCCESS),
    "a prompt": ([reply("I will."), prompt("And?", 3)], Status.INTERRUPTED),
    "the reminder of a plan": ([reply("A plan."), prompt(LEFT_PLAN_MODE, 3)], Status.SUCCESS),
    "nothing": ([], Status.INTERRUPTED),
}


@pytest.mark.parametrize(("after", "status"), LAST.values(), ids=LAST)
def test_the_status_follows_the_last_message(after: list[dict[str, Any]], status: Status, home: Home) -> None:
    home.log(HEADER, prompt("Read it"), *after)
    (session,) = home.sessions
    assert session.status is status


SAVED = {**call("save_memory-1767225604000-8dcb720b0999f", "save_memory"), "status": "error"}
SAVING = {"id": "n3", "type": "info", "content": 'Attempting to save to memory: "x"', "timestamp": at(3)}


def test_a_tool_that_a_slash_command_ran_is_the_humans(home: Home) -> None:
    ran = reply("", 4, toolCalls=[SAVED], tokens=None, model="auto")
    home.log(HEADER, prompt("Do it"), reply("Done."), SAVING, ran)
    (session,) = home.sessions
    assert session.messages[-1].origin is Origin.COMMAND
    assert (session.status, session.counts.replies, session.models) == (Status.SUCCESS, 1, ("m",))
    (turn,) = prompt_turns(session.messages)
    assert turn.text == "Do it"


def test_the_tokens_of_a_cancelled_reply_stay_where_the_agent_wrote_them(home: Home) -> None:
    home.log(HEADER, prompt("Do it"), SAVING, reply("", 4, toolCalls=[SAVED]))
    (session,) = home.sessions
    assert session.messages[-1].origin is Origin.COMMAND
    assert session.usage.total == 2


NOT_RUN_BY_A_COMMAND: dict[str, list[dict[str, Any]]] = {
    "no notice": [prompt("Do it"), reply("", 4, toolCalls=[SAVED], tokens=None)],
    "tokens": [prompt("Do it"), {**SAVING, "content": "Hi"}, reply("", 4, toolCalls=[SAVED])],
    "another id": [SAVING, reply("", 4, toolCalls=[call("save_memory__1", "save_memory")], tokens=None)],
    "text": [SAVING, reply("I save.", 4, toolCalls=[SAVED], tokens=None)],
}


@pytest.mark.parametrize("written", NOT_RUN_BY_A_COMMAND.values(), ids=NOT_RUN_BY_A_COMMAND)
def test_all_other_calls_are_the_models(written: list[dict[str, Any]], home: Home) -> None:
    home.log(HEADER, *written)
    assert home.messages[-1].origin is Origin.MODEL


def test_the_reason_of_a_hook_is_nobodys_prompt(home: Home) -> None:
    blocked = {
        "id": "n3",
        "type": "warning",
        "content": "Agent execution blocked: Tests!",
        "timestamp": at(3),
    }
    home.log(HEADER, prompt("Do it"), reply("Done."), blocked, prompt("Tests!", 4), reply("Now.", 5))
    (session,) = home.sessions
    assert [message.origin for message in session.messages][3] is Origin.SYNTHETIC
    assert session.counts.prompts == 1
    home.log(HEADER, prompt("Do it"), reply("Done."), prompt("Tests!", 4), reply("Now.", 5))
    (typed,) = home.sessions
    assert typed.counts.prompts == 2


FINISHED = "Subagent 'poet' finished.\nTermination Reason: {}\nResult:\nx"
ENDS: dict[str, tuple[dict[str, Any], Status]] = {
    "done": ({"output": FINISHED.format("GOAL")}, Status.SUCCESS),
    "out of time": ({"output": FINISHED.format("TIMEOUT")}, Status.FAILURE),
    "out of turns": ({"output": FINISHED.format("MAX_TURNS")}, Status.FAILURE),
    "silent": ({"output": FINISHED.format("ERROR_NO_COMPLETE_TASK_CALL")}, Status.FAILURE),
    "stopped": ({"output": FINISHED.format("ABORTED")}, Status.CANCELLED),
    "broken": ({"output": "Subagent 'poet' failed. Error: 400"}, Status.FAILURE),
    "of a kind that is not known": ({"output": FINISHED.format("BORED")}, Status.FAILURE),
}


@pytest.mark.parametrize(("answered", "status"), ENDS.values(), ids=ENDS)
def test_how_a_subagent_ended_is_what_its_parent_was_told(answered: dict[str, Any], status: Status) -> None:
    result = [{"functionResponse": {"id": "a", "name": "invoke_agent", "response": answered}}]
    assert stated_end({"id": "a", "name": "invoke_agent", "status": "success", "result": result}) is status


def test_what_is_shown_of_a_subagent_tells_its_end_where_the_answer_is_gone() -> None:
    shown = {"isSubagentProgress": True, "agentName": "poet"}
    assert stated_end({"status": "success", "resultDisplay": {**shown, "state": "error"}}) is Status.FAILURE
    ended = {**shown, "state": "completed", "terminateReason": "MAX_TURNS"}
    assert stated_end({"status": "success", "resultDisplay": ended}) is Status.FAILURE
    assert (
        stated_end({"status": "cancelled", "resultDisplay": {**shown, "state": "running"}})
        is Status.CANCELLED
    )
    assert stated_end({"status": "error"}) is Status.FAILURE
    assert stated_end({"status": "success", "result": "A poem."}) is None
