"""Sessions of Codex: who said what, what tools did, what was dropped and by which record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from geminids.agents.codex import CodexSource
from geminids.agents.codex.read.patches import applied_changes, changes_in_patch
from geminids.core.model import (
    Attachment,
    Diff,
    KnownBy,
    Level,
    Message,
    Operation,
    Origin,
    Plain,
    Project,
    Role,
    Session,
    SessionKind,
    State,
    Status,
    Text,
    Thought,
    Todo,
    Todos,
    ToolCall,
    ToolKind,
    ToolStatus,
)
from tests.conftest import FIXTURES
from tests.support.codex_homes import OTHER, THREAD, counted, event, line, meta, said, write_rollout
from tests.support.reading import custodian_of, sessions

SOURCE = CodexSource()
PATCH = """\
*** Begin Patch
*** Add File: a.txt
+one
+two
*** Update File: b.txt
*** Move to: c.txt
@@
-old
+new
 kept
*** Delete File: d.txt
*** End Patch
"""


def case(name: str) -> list[Session]:
    return sessions(SOURCE, FIXTURES / "codex" / name / "home")


def read(folder: Path, *lines: dict[str, Any], **header: Any) -> Session:
    write_rollout(folder, [meta(**header), *lines])
    return sessions(SOURCE, folder)[0]


def called(name: str, arguments: dict[str, Any], call_id: str = "c1", **more: Any) -> dict[str, Any]:
    payload = {"type": "function_call", "name": name, "arguments": json.dumps(arguments), "call_id": call_id}
    return line("response_item", {**payload, **more})


def answered(output: Any, call_id: str = "c1", kind: str = "function_call_output") -> dict[str, Any]:
    return line("response_item", {"type": kind, "call_id": call_id, "output": output})


def call_of(folder: Path, *lines: dict[str, Any]) -> ToolCall:
    (call,) = [call for message in read(folder, *lines).messages for call in message.tool_calls]
    return call


def told(messages: tuple[Message, ...], origin: Origin) -> list[str]:
    return [message.text(origin) for message in messages if message.origin is origin]


# The session


def test_a_session_is_of_the_folder_that_its_records_name(tmp_path: Path) -> None:
    session = read(tmp_path, said("Hello?"), git={"branch": "harvest"})
    assert session.project == Project("/home/ada/shop", None, None, KnownBy.RECORDS, certain=True)
    assert (session.branch, session.title, session.native_id) == ("harvest", "Hello?", THREAD)
    assert list(SOURCE.projects().named_folders(session)) == ["/home/ada/shop"]


def test_models_are_those_of_the_turns() -> None:
    assert {model for session in case("models") for model in session.models} >= {"gpt-5.5"}
    assert any(len(session.models) > 1 for session in case("models"))


@pytest.mark.parametrize(
    ("events", "status"),
    [
        (["task_started", "task_complete"], Status.SUCCESS),
        (["task_started"], Status.INTERRUPTED),
        (["task_started", "turn_aborted"], Status.CANCELLED),
        (["task_started", "turn_aborted", "task_started", "task_complete"], Status.SUCCESS),
        ([], Status.SUCCESS),
    ],
)
def test_how_the_last_turn_ended_is_the_status(tmp_path: Path, events: list[str], status: Status) -> None:
    lines = [said("Go."), *map(event, events), said("Done.", "assistant")]
    assert read(tmp_path, *lines).status is status


def test_a_turn_that_failed_says_why(tmp_path: Path) -> None:
    session = read(tmp_path, said("Go."), event("task_complete", error={"message": "too many requests"}))
    notice = session.messages[-1]
    assert (notice.origin, notice.level, notice.text(Origin.NOTICE)) == (
        Origin.NOTICE,
        Level.ERROR,
        "too many requests",
    )
    assert session.status is Status.ERROR


def test_a_killed_session_was_interrupted() -> None:
    assert Status.INTERRUPTED in {session.status for session in case("killed")}


# Who said what


@pytest.mark.parametrize(
    "text",
    [
        "# AGENTS.md instructions for /home/ada/shop\n\nBe kind.",
        "<environment_context>\n  <cwd>/x</cwd>\n</environment_context>",
        "<user_instructions>\nBe kind.\n</user_instructions>",
        "<turn_aborted>\n…\n</turn_aborted>",
        "<subagent_notification>{}</subagent_notification>",
        "<codex_internal_context source='x'>",
        "<goal_context>",
        "<recommended_plugins>",
        "<external_agent_context>",
    ],
)
def test_context_in_the_humans_place_is_injected(tmp_path: Path, text: str) -> None:
    session = read(tmp_path, said(text), said("Hello?"))
    assert [message.origin for message in session.messages] == [Origin.INJECTED, Origin.HUMAN]
    assert session.counts.prompts == 1


def test_events_decide_what_was_typed(tmp_path: Path) -> None:
    hook = said("You did not run the tests.")
    lines = [said("Hello?"), event("user_message", message="Hello?"), said("Hi.", "assistant"), hook]
    session = read(tmp_path, *lines, said("Sorry.", "assistant"))
    assert told(session.messages, Origin.HUMAN) == ["Hello?"]
    assert told(session.messages, Origin.INJECTED) == ["You did not run the tests."]
    assert len(session.messages[0].also_at) == 1


def test_an_event_may_stand_before_its_item_or_alone(tmp_path: Path) -> None:
    before = [event("user_message", message="First?"), said("First?"), said("One.", "assistant")]
    alone = [event("user_message", message="Second?", images=["data:image/png;base64,AAAA"])]
    session = read(tmp_path, *before, *alone, said("Two.", "assistant"))
    assert told(session.messages, Origin.HUMAN) == ["First?", "Second?"]
    assert session.messages[2].parts[-1] == Attachment("image/png", "AAAA")


def test_what_an_editor_adds_is_told_from_the_request(tmp_path: Path) -> None:
    (message,) = read(
        tmp_path, said("# Context from my IDE setup:\n\n## My request for Codex:\nFix it.")
    ).messages
    assert message.text(Origin.HUMAN) == "Fix it."
    assert "IDE" in message.text(Origin.INJECTED)


def test_a_command_of_the_humans_own_is_the_shells() -> None:
    (session,) = case("own-commands")
    (message,) = [message for message in session.messages if message.origin is Origin.SHELL]
    assert message.parts == (
        Text("cat notes.txt; exit 3", Origin.HUMAN),
        Text("milk\nbread\ncall Ana\nExit code: 3", Origin.SHELL),
    )


WELL, BADLY = (f"Exit code: {code}\nDuration: 0.1 seconds\nOutput:\n" for code in (0, 1))
"""What Codex writes above the output of a command of the human's."""


@pytest.mark.parametrize(
    ("written", "parts"),
    [
        (
            f"<command>\nls\n</command>\n<result>\n{WELL}a\n\n</result>",
            [("ls", Origin.HUMAN), ("a\n", Origin.SHELL)],
        ),
        (
            f"<command>\ntrue\n</command>\n<result>\n{WELL}\n</result>",
            [("true", Origin.HUMAN)],
        ),
        (
            f"<command>\nfalse\n</command>\n<result>\n{BADLY}\n</result>",
            [("false", Origin.HUMAN), ("Exit code: 1", Origin.SHELL)],
        ),
        (
            "<command>\necho '</command>'\n</command>\n<result>\nodd\n</result>",
            [("echo '</command>'", Origin.HUMAN), ("odd", Origin.SHELL)],
        ),
    ],
)
def test_commands_of_the_humans_own_are_told_as_people_read_them(
    tmp_path: Path, written: str, parts: list[tuple[str, Origin]]
) -> None:
    session = read(tmp_path, said(f"<user_shell_command>\n{written}\n</user_shell_command>"))
    (message,) = session.messages
    assert [(part.text, part.origin) for part in message.parts if isinstance(part, Text)] == parts
    assert (message.origin, session.counts.prompts) == (Origin.SHELL, 0)


def test_a_command_that_is_written_in_an_unknown_way_stays_as_it_is(tmp_path: Path) -> None:
    text = "<user_shell_command>ls</user_shell_command>"
    assert read(tmp_path, said(text)).messages[0].parts == (Text(text, Origin.SHELL),)


def test_a_command_of_the_humans_own_is_found_in_the_history_after_a_compaction(tmp_path: Path) -> None:
    command = said(
        "<user_shell_command>\n<command>\nls\n</command>\n<result>\na\n</result>\n</user_shell_command>"
    )
    compacted = line("compacted", {"message": "All.", "replacement_history": [command["payload"]]})
    kept, dropped, _ = read(tmp_path, command, said("Hi."), compacted).messages
    assert (kept.state, dropped.state) == (State.CURRENT, State.COMPRESSED)
    assert kept.text(Origin.HUMAN) == "ls"


@pytest.mark.parametrize("name", ["interrupted", "legacy-interrupted"])
def test_what_was_interrupted_is_told_from_what_ended(name: str) -> None:
    (session,) = case(name)
    notices = [message for message in session.messages if message.origin is Origin.NOTICE]
    assert {(notice.level, notice.text(Origin.NOTICE)) for notice in notices} == {
        (Level.WARNING, "Turn aborted: interrupted")
    }
    assert len(notices) == 2
    (command,) = [call for message in session.messages for call in message.tool_calls]
    assert (command.status, command.exit_code, command.native_status) == (ToolStatus.CANCELLED, None, None)


def test_a_review_that_ended_is_no_trouble(tmp_path: Path) -> None:
    session = read(tmp_path, said("Go."), event("turn_aborted", reason="review_ended"))
    assert session.messages[-1].level is Level.INFO


def test_what_a_program_calls_aborted_is_not_what_a_command_printed(tmp_path: Path) -> None:
    printed = '{"output":"aborted","metadata":{"exit_code":1}}'
    call = call_of(tmp_path, called("shell", {"command": ["git", "commit"]}), answered(printed))
    assert (call.status, call.exit_code) == (ToolStatus.ERROR, 1)


def test_a_review_is_asked_for_by_the_program() -> None:
    reviews = [session for session in case("review") if session.kind is SessionKind.MAIN]
    for session in reviews:
        assert session.title
        assert any("Review the current" in text for text in told(session.messages, Origin.SYNTHETIC))
        assert not any("Review the current" in text for text in told(session.messages, Origin.HUMAN))


def test_pictures_are_the_humans_unless_a_tool_looked_at_them() -> None:
    (session,) = case("images")
    given = [part for m in session.messages for part in m.parts if isinstance(part, Attachment)]
    assert [picture.origin for picture in given] == [Origin.HUMAN] * 3
    (looked,) = [call for m in session.messages for call in m.tool_calls if call.name == "view_image"]
    assert [type(part) for part in looked.result] == [Attachment]
    for name in ("legacy", "legacy-early"):
        (session,) = case(name)
        (shown,) = [m for m in session.messages if any(isinstance(part, Attachment) for part in m.parts)]
        assert (shown.origin, shown.role) == (Origin.INJECTED, Role.USER)


def test_thoughts_have_subjects_and_encrypted_ones_are_silent(tmp_path: Path) -> None:
    summary = [
        {"type": "summary_text", "text": "**Looking**\n\nAt the notes."},
        {"type": "summary_text", "text": "So."},
    ]
    reasoning = {
        "type": "reasoning",
        "summary": summary,
        "content": [{"type": "reasoning_text", "text": "Hm."}],
    }
    silent = {"type": "reasoning", "summary": [], "encrypted_content": "xyz"}
    lines = [line("response_item", reasoning), line("response_item", silent), said("Done.", "assistant")]
    (message,) = read(tmp_path, *lines).messages
    assert message.parts[:3] == (Thought("At the notes.", "Looking"), Thought("So."), Thought("Hm."))
    assert message.parts[3:] == (Text("Done.", Origin.MODEL),)


def test_what_was_only_shown_is_kept(tmp_path: Path) -> None:
    shown = [event("agent_reasoning", text="Hm."), event("agent_message", message="Only shown.")]
    session = read(tmp_path, said("Go."), *shown, said("Go on."), *shown, said("Only shown.", "assistant"))
    assert told(session.messages, Origin.MODEL) == ["Only shown.", "Only shown."]
    assert [Thought("Hm.") in message.parts for message in session.messages] == [False, True, False, True]


def test_what_one_request_gave_is_one_message(tmp_path: Path) -> None:
    step = [
        said("I look.", "assistant"),
        called("exec_command", {"cmd": "ls"}),
        called("exec_command", {}, "c2"),
    ]
    outputs = [answered("a"), answered("b", "c2")]
    session = read(tmp_path, *step, *outputs, said("Done.", "assistant"))
    assert [[type(part).__name__ for part in message.parts] for message in session.messages] == [
        ["Text", "ToolCall", "ToolCall"],
        ["Text"],
    ]
    assert len(session.messages[0].also_at) == 4


# Tools


@pytest.mark.parametrize(
    ("output", "status", "exit_code", "text"),
    [
        ('{"output":"milk\\n","metadata":{"exit_code":0}}', ToolStatus.SUCCESS, 0, "milk\n"),
        ('{"output":"no","metadata":{"exit_code":2}}', ToolStatus.ERROR, 2, "no"),
        ("Exit code: 1\nWall time: 0 seconds\nOutput:\nno", ToolStatus.ERROR, 1, None),
        ("Chunk ID: x\nProcess exited with code 0\nOutput:\nExit code: 7\n", ToolStatus.SUCCESS, 0, None),
        ("aborted by user after 1.2s", ToolStatus.CANCELLED, None, None),
        ("unsupported call: shell", ToolStatus.ERROR, None, None),
        ('{"output": 3}', ToolStatus.SUCCESS, None, None),
        ([{"type": "input_text", "text": "Script failed\nWall time 0"}], ToolStatus.ERROR, None, None),
        ({"content": "old", "success": False}, ToolStatus.ERROR, 1, "old"),
        ("", ToolStatus.SUCCESS, None, ""),
    ],
)
def test_how_a_command_ended_is_in_its_output(
    tmp_path: Path, output: Any, status: ToolStatus, exit_code: int | None, text: str | None
) -> None:
    call = call_of(tmp_path, called("shell", {"command": ["bash", "-lc", "cat notes.txt"]}), answered(output))
    assert (call.status, call.exit_code, call.kind) == (status, exit_code, ToolKind.EXECUTE)
    assert call.gist == "cat notes.txt"
    if text is not None:
        assert call.result == (Text(text, Origin.TOOL),)


@pytest.mark.parametrize(
    ("name", "output"),
    [
        ("write_stdin", "write_stdin failed: Unknown process id 99999"),
        ("write_stdin", "write_stdin approval failed: no answer"),
        ("exec_command", "exec_command failed for `x`: NotFound"),
        ("exec_command", "unified exec is unavailable in this session"),
        ("exec_command", "approval policy is Never; reject command — you cannot ask for more"),
        ("apply_patch", "apply_patch verification failed: no such line"),
        ("apply_patch", "patch rejected: writing outside of the project"),
        ("view_image", "unable to locate image at `dot.png`: No such file"),
        ("view_image", "image path `/tmp` is not a file"),
        ("wait_agent", "agent ids must be non-empty"),
        ("wait_agent", "timeout_ms must be greater than zero"),
        ("close_agent", "agent with id 7 not found"),
        ("spawn_agent", "collab spawn failed: no thread"),
        ("spawn_agent", "Agent depth limit reached. Solve the task yourself."),
        ("update_plan", "update_plan is a TODO/checklist tool and is not allowed in Plan mode"),
    ],
)
def test_what_codex_writes_of_a_tool_that_failed_is_an_error(tmp_path: Path, name: str, output: str) -> None:
    session = read(tmp_path, called(name, {}), answered(output))
    assert (session.messages[0].tool_calls[0].status, session.counts.tool_errors) == (ToolStatus.ERROR, 1)


@pytest.mark.parametrize(
    "output",
    [
        "Wall time: 0 seconds\nProcess exited with code 0\nOutput:\nwrite_stdin failed: Unknown process",
        '{"output":"patch rejected: no","metadata":{"exit_code":0}}',
        "Process running with session ID 7\nOutput:\nagent with id 7 not found",
    ],
)
def test_a_command_that_prints_such_words_did_not_fail(tmp_path: Path, output: str) -> None:
    assert call_of(tmp_path, called("exec_command", {}), answered(output)).status is ToolStatus.SUCCESS


def test_a_tool_of_another_program_may_answer_in_such_words(tmp_path: Path) -> None:
    asked = called("weigh", {}, namespace="mcp__scales")
    assert call_of(tmp_path, asked, answered("scale failed: no, it works")).status is ToolStatus.SUCCESS


def test_input_for_a_command_that_is_not_there_fails() -> None:
    (session,) = case("stdin")
    calls = [call for message in session.messages for call in message.tool_calls]
    assert [call.status for call in calls] == [ToolStatus.SUCCESS, ToolStatus.SUCCESS, ToolStatus.ERROR]


@pytest.mark.parametrize(
    ("output", "shown"),
    [
        ("Chunk ID: x\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nmilk\n", "milk\n"),
        ("Chunk ID: x\nProcess exited with code 3\nOriginal token count: 0\nOutput:\n", "(no output)"),
        ("Chunk ID: x\nProcess running with session ID 7\nOutput:\nbegun\n", "begun\n"),
        ("Wall time: 0.1 seconds\nOutput:\n{}", "{}"),
        (["Wall time: 0.1 seconds\nOutput:", "no stone here"], "no stone here"),
        (["Script failed\nWall time 0.0 seconds\nOutput:\n", "Script error:\nError: no"], "Error: no"),
        (["Script running with cell ID 1\nWall time 9.0 seconds\nOutput:\n"], "(no output)"),
        (["milk", "bread"], None),
        ("Wall time flies.\nOutput:\nmilk", None),
    ],
)
def test_what_is_shown_is_what_was_printed(tmp_path: Path, output: Any, shown: str | None) -> None:
    pieces = [{"type": "input_text", "text": text} for text in output] if type(output) is list else output
    call = call_of(tmp_path, called("exec_command", {"cmd": "x"}), answered(pieces))
    assert call.display == (None if shown is None else Plain(shown))
    assert "".join(part.text for part in call.result if isinstance(part, Text)) == "".join(output)


def test_a_call_without_an_end_is_pending(tmp_path: Path) -> None:
    assert call_of(tmp_path, called("exec_command", {"cmd": "sleep 9"})).status is ToolStatus.PENDING


@pytest.mark.parametrize(
    ("arguments", "gist"),
    [
        ({"command": ["git", "log", "a b"]}, "git log 'a b'"),
        ({"cmd": "ls -l"}, "ls -l"),
        ({"command": "make"}, "make"),
        ({"command": [1, 2]}, None),
        ({}, None),
    ],
)
def test_commands_are_told_as_people_type_them(
    tmp_path: Path, arguments: dict[str, Any], gist: str | None
) -> None:
    assert call_of(tmp_path, called("shell", arguments), answered("x")).gist == gist


def test_arguments_that_are_no_object_stand_under_their_name(tmp_path: Path) -> None:
    odd = line("response_item", {"type": "function_call", "name": "f", "arguments": "{half", "call_id": "c1"})
    assert call_of(tmp_path, odd).arguments == {"arguments": "{half"}


def test_a_patch_tells_what_it_changes() -> None:
    added, moved, deleted = changes_in_patch(PATCH)
    assert (added.path, added.operation, added.after, added.added) == (
        "a.txt",
        Operation.CREATE,
        "one\ntwo\n",
        2,
    )
    assert (moved.path, moved.operation, moved.added, moved.removed) == ("c.txt", Operation.EDIT, 1, 1)
    assert (deleted.path, deleted.operation) == ("d.txt", Operation.DELETE)
    assert added.diff == "@@ -0,0 +1,2 @@\n+one\n+two\n"
    assert changes_in_patch("no patch") == ()


def test_a_removed_comment_is_no_heading() -> None:
    diff = "@@ -1,3 +1,2 @@\n--- sql\n-++ odd\n+++ new\n one\x0c+two\u2028-three\n"
    (applied,) = applied_changes({"q.sql": {"type": "update", "unified_diff": diff}})
    (asked,) = changes_in_patch(f"*** Begin Patch\n*** Update File: q.sql\n{diff}*** End Patch\n")
    for change in (applied, asked):
        assert (change.added, change.removed) == (1, 2)
    (headed,) = applied_changes({"q": {"type": "update", "unified_diff": f"--- a/q\n+++ b/q\n{diff}"}})
    assert (headed.added, headed.removed) == (1, 2)


@pytest.mark.parametrize(
    ("content", "added", "removed"),
    [
        ("a\nb\n", "@@ -0,0 +1,2 @@\n+a\n+b\n", "@@ -1,2 +0,0 @@\n-a\n-b\n"),
        (
            "a\x0cb",
            "@@ -0,0 +1,1 @@\n+a\x0cb\n\\ No newline at end of file\n",
            "@@ -1,1 +0,0 @@\n-a\x0cb\n\\ No newline at end of file\n",
        ),
        ("", None, None),
    ],
)
def test_whole_files_have_diffs_too(content: str, added: str | None, removed: str | None) -> None:
    changes = {"x": {"type": "add", "content": content}, "y": {"type": "delete", "content": content}}
    assert [change.diff for change in applied_changes(changes)] == [added, removed]


@pytest.mark.parametrize(
    "asked",
    [
        line(
            "response_item",
            {"type": "custom_tool_call", "name": "apply_patch", "input": PATCH, "call_id": "c1"},
        ),
        called("shell", {"command": ["apply_patch", PATCH]}),
        called("exec_command", {"cmd": f"apply_patch <<'EOF'\n{PATCH}EOF"}),
        called("shell", {"command": ["bash", "-lc", f"apply_patch <<'EOF'\n{PATCH}EOF"]}),
    ],
)
def test_patches_are_found_in_all_their_shapes(tmp_path: Path, asked: dict[str, Any]) -> None:
    call = call_of(tmp_path, asked, answered('{"output":"Success.","metadata":{"exit_code":0}}'))
    assert [change.path for change in call.changes] == ["a.txt", "c.txt", "d.txt"]
    assert call.gist == "a.txt, c.txt, d.txt"
    failed = call_of(tmp_path, asked, answered("apply_patch verification failed: no such line"))
    assert (failed.status, failed.changes) == (ToolStatus.ERROR, ())


def test_what_was_applied_is_better_than_what_was_asked_for(tmp_path: Path) -> None:
    diff = "@@ -1 +1 @@\n-old\n+new\n"
    applied = {"/home/ada/b.txt": {"type": "update", "unified_diff": diff, "move_path": None}}
    asked = line(
        "response_item", {"type": "custom_tool_call", "name": "apply_patch", "input": PATCH, "call_id": "c1"}
    )
    end = event("patch_apply_end", call_id="c1", success=True, changes=applied)
    call = call_of(tmp_path, asked, end, answered("Exit code: 0\nOutput:\nSuccess."))
    (change,) = call.changes
    assert (change.path, change.diff, change.added, change.removed) == ("/home/ada/b.txt", diff, 1, 1)
    assert call.display == Diff("/home/ada/b.txt", diff)
    deleted, added, odd = applied_changes(
        {"x": {"type": "delete", "content": "a\nb"}, "y": {"type": "add", "content": "c\n"}, "z": {}, "w": 3}
    )
    assert (deleted.removed, added.added, odd.operation) == (2, 1, Operation.EDIT)


def test_changes_of_a_script_are_the_scripts() -> None:
    (session,) = case("code-mode")
    scripts = [call for message in session.messages for call in message.tool_calls]
    assert [[change.path.rpartition("/")[2] for change in call.changes] for call in scripts] == [
        [],
        ["pears.txt"],
        [],
        [],
    ]


def test_a_plan_is_a_list_of_things_to_do() -> None:
    (session,) = case("legacy-late")
    (plan,) = [call for m in session.messages for call in m.tool_calls if call.name == "update_plan"]
    assert plan.display == Todos((Todo("Look", "in_progress"), Todo("Change", "pending")))
    assert plan.kind is ToolKind.PLAN


def test_a_search_of_the_web_stands_in_one_record() -> None:
    calls = [call for session in case("web-search") for m in session.messages for call in m.tool_calls]
    searches = [call for call in calls if call.name == "web_search"]
    assert searches
    assert all(call.status is ToolStatus.SUCCESS and call.kind is ToolKind.SEARCH for call in searches)


def test_an_error_of_a_server_shows_in_its_event() -> None:
    (session,) = case("mcp")
    calls = [call for message in session.messages for call in message.tool_calls]
    assert [(call.name, call.status) for call in calls] == [
        ("weigh", ToolStatus.SUCCESS),
        ("weigh", ToolStatus.ERROR),
    ]
    assert calls[0].other == {"namespace": "mcp__scales"}


def test_changes_belong_to_the_newest_script_that_runs(tmp_path: Path) -> None:
    scripts = [
        line("response_item", {"type": "custom_tool_call", "name": "exec", "input": "x", "call_id": call_id})
        for call_id in ("c1", "c2", "c3")
    ]
    changed = {
        name: event("patch_apply_end", call_id="other", changes={name: {"type": "add", "content": "x"}})
        for name in ("late", "early", "nobodys")
    }
    answers = [answered("ok", call_id, "custom_tool_call_output") for call_id in ("c3", "c2", "c1")]
    lines = [answers[0], changed["late"], answers[1], changed["early"], answers[2], changed["nobodys"]]
    session = read(tmp_path, *scripts, *lines)
    calls = [call for message in session.messages for call in message.tool_calls]
    assert [[change.path for change in call.changes] for call in calls] == [["early"], ["late"], []]


# Subagents


def test_agents_are_told_by_what_they_do_not_by_their_ids(tmp_path: Path) -> None:
    started = [
        called("spawn_agent", {"message": "Count\nthe lines."}, "c1"),
        answered('{"agent_id":"a1","nickname":"Ohm"}', "c1"),
        called("spawn_agent", {}, "c2"),
        answered('{"agent_id":"a2","nickname":"Mill"}', "c2"),
    ]
    later = [
        called("wait_agent", {"targets": ["a1", "a2"]}, "c3"),
        called("close_agent", {"id": "a2"}, "c4"),
        called("close_agent", {"target": "unknown"}, "c5"),
        called("send_input", {"id": "a1", "message": "More."}, "c6"),
    ]
    session = read(tmp_path, *started, *later)
    calls = [call for message in session.messages for call in message.tool_calls]
    assert [call.gist for call in calls[2:]] == ["Count the lines., Mill", "Mill", None, None]


def test_a_session_names_all_folders_that_it_was_worked_in() -> None:
    (session,) = case("second-folder")
    folders = ("/tmp/demo/second-folder-orchard", "/tmp/demo/second-folder-beta")
    assert (session.directories, session.project.path) == (folders, folders[0])
    assert {other.directories for other in case("fork")} == {()}


@pytest.mark.parametrize("name", ["subagents", "subagents-named", "legacy-subagents"])
def test_subagents_are_tied_to_the_calls_that_started_them(name: str) -> None:
    found = {session.id: session for session in case(name)}
    (parent,) = [session for session in found.values() if session.kind is SessionKind.MAIN]
    started = [call.child_id for m in parent.messages for call in m.tool_calls if call.name == "spawn_agent"]
    children = {session.id for session in found.values() if session.kind is SessionKind.SUBAGENT}
    assert set(started) == children
    assert len(children) == 2
    assert {found[child].parent_id for child in children} == {parent.id}
    assert all(found[child].counts.prompts == 0 and found[child].title for child in children)


def test_what_a_subagent_was_given_of_its_parent_is_the_parents() -> None:
    for name in ("subagents", "subagents-named", "legacy-subagents"):
        for session in case(name):
            typed = [message for message in session.messages if message.origin is Origin.HUMAN]
            assert all(message.imported == (session.kind is SessionKind.SUBAGENT) for message in typed)


# What was dropped


def states(session: Session) -> dict[str, State]:
    return {
        message.text(Origin.HUMAN): message.state
        for message in session.messages
        if message.text(Origin.HUMAN)
    }


def test_turns_that_were_rolled_back_stay_with_the_record_that_dropped_them() -> None:
    (session,) = case("rollback")
    assert states(session) == {
        "First line?": State.CURRENT,
        "Second line?": State.REWOUND,
        "Third line?": State.REWOUND,
        "Second line, please?": State.REWOUND,
        "What does the second line say?": State.CURRENT,
        "Sure?": State.CURRENT,
    }
    dropped = [message for message in session.messages if message.state is State.REWOUND]
    assert all(message.dropped_by for message in dropped)
    content = Path(session.files[0].path).read_bytes()
    places = {(by.start, by.end) for message in dropped if (by := message.dropped_by)}
    assert all(b"thread_rolled_back" in content[start:end] for start, end in places)


def test_a_thread_that_was_reverted_is_one_session() -> None:
    (session,) = case("reverted")
    assert len(session.files) == 3
    assert [text for text, state in states(session).items() if state is State.CURRENT] == [
        "First line?",
        "What does the second line say?",
        "Sure?",
    ]
    assert session.counts.dropped == 6


def story(session: Session) -> list[tuple[str, State]]:
    """What human and model said, with the first words of a summary."""
    texts = (
        (message, "".join(p.text for p in message.parts if type(p) is Text)) for message in session.messages
    )
    return [
        ("(summary)" if message.origin is Origin.SYNTHETIC else text or "(call)", message.state)
        for message, text in texts
        if message.origin in (Origin.HUMAN, Origin.MODEL, Origin.SYNTHETIC)
    ]


def test_a_revert_gives_back_what_a_compaction_dropped_that_it_takes_back() -> None:
    fork, session = sorted(case("reverted-over-compaction"), key=lambda session: len(session.messages))
    lines = ["Second line?", "Bread.", "(summary)", "Third line?", "(call)", "A call.", "(summary)"]
    assert story(session) == [
        *((text, State.CURRENT) for text in ("First line?", "(call)", "Milk.")),
        *((text, State.REWOUND) for text in (*lines, "Fourth line?", "There is none.")),
        *((text, State.CURRENT) for text in ("Second line, please?", "It says bread.")),
        *((text, State.CURRENT) for text in ("Sure?", "Yes, milk and bread.")),
    ]
    revert = session.files[1].path
    dropped = [message.dropped_by for message in session.messages if message.state is State.REWOUND]
    assert {place and (Path(place.file).name, place.line) for place in dropped} == {(Path(revert).name, 1)}
    assert {state for _, state in story(fork)} == {State.CURRENT}


def test_a_revert_to_after_a_compaction_leaves_it_as_it_is() -> None:
    (session,) = case("reverted-between-compactions")
    assert story(session) == [
        ("First line?", State.CURRENT),
        *((text, State.COMPRESSED) for text in ("(call)", "Milk.", "(summary)")),
        ("Second line?", State.CURRENT),
        ("Bread.", State.COMPRESSED),
        *((text, State.REWOUND) for text in ("Third line?", "A call.", "(summary)")),
        ("How many lines?", State.CURRENT),
        ("Three.", State.COMPRESSED),
        *(
            (text, State.CURRENT)
            for text in ("(summary)", "And now?", "Still three.", "Sure?", "Yes, three.")
        ),
    ]


def test_a_rollback_to_before_a_compaction_leaves_nothing_of_what_came_before_it() -> None:
    (session,) = case("rollback-over-compaction")
    rewound = ("Second line?", "Answer 1.", "(summary)", "Third line?", "Answer 3.")
    assert story(session) == [
        *((text, State.COMPRESSED) for text in ("First line?", "(call)", "Answer 0.")),
        *((text, State.REWOUND) for text in rewound),
        *((text, State.CURRENT) for text in ("Second line, please?", "It says bread.")),
        *((text, State.CURRENT) for text in ("Sure?", "Yes, bread.")),
    ]


def test_a_rollback_counts_the_summary_of_a_second_compaction_as_a_turn() -> None:
    (session,) = case("rollback-over-compactions")
    rewound = ("Third line?", "Answer 3.", "(summary)", "Fourth line?", "Answer 5.")
    assert story(session) == [
        ("First line?", State.CURRENT),
        *((text, State.COMPRESSED) for text in ("(call)", "Answer 0.")),
        ("Second line?", State.CURRENT),
        *((text, State.COMPRESSED) for text in ("Answer 1.", "(summary)")),
        *((text, State.REWOUND) for text in rewound),
        *((text, State.CURRENT) for text in ("Second line, please?", "It says bread.")),
        *((text, State.CURRENT) for text in ("Sure?", "Yes, bread.")),
    ]


@pytest.mark.parametrize(
    "name",
    [
        "fork",
        "reverted-over-compaction",
        "reverted-between-compactions",
        "rollback-over-compaction",
        "rollback-over-compactions",
    ],
)
def test_the_agents_own_view_holds_the_prompts_that_codex_sends(name: str) -> None:
    case_folder = FIXTURES / "codex" / name
    for request in json.loads((case_folder / "resume.json").read_bytes())["requests"]:
        newest = max(case_folder.rglob(f"rollout-*-{request['thread']}*.jsonl"), key=lambda path: path.name)
        view = custodian_of(SOURCE).agent_view(newest)
        assert view
        assert human_texts(view["items"])[: len(human_texts(request["input"]))] == human_texts(
            request["input"]
        )


def human_texts(items: list[dict[str, Any]]) -> list[str]:
    of_users = (item["content"] for item in items if item.get("role") == "user")
    texts = ("".join(piece.get("text", "") for piece in content) for content in of_users)
    return [text for text in texts if not text.startswith("<environment_context>")]


@pytest.mark.parametrize("turns", [0, -1, "two", None, True])
def test_a_rollback_of_no_turns_is_a_problem(tmp_path: Path, turns: object) -> None:
    session = read(tmp_path, said("Hello?"), event("thread_rolled_back", num_turns=turns))
    assert session.messages[0].state is State.CURRENT
    assert session.problems


def test_more_turns_than_there_are_take_back_all_of_them(tmp_path: Path) -> None:
    lines = [
        said("<environment_context>"),
        said("One."),
        said("Two."),
        event("thread_rolled_back", num_turns=9),
    ]
    session = read(tmp_path, *lines)
    assert [message.state for message in session.messages] == [State.CURRENT, State.REWOUND, State.REWOUND]


@pytest.mark.parametrize("name", ["compaction", "legacy", "legacy-early", "legacy-late", "own-commands"])
def test_a_compaction_leaves_the_summary_and_what_the_human_said(name: str) -> None:
    session = min(case(name), key=lambda session: session.id)
    (summary,) = [message for message in session.messages if message.origin is Origin.SYNTHETIC]
    assert summary.text(Origin.SYNTHETIC).endswith("wants a list for tomorrow.")
    assert summary.role is Role.USER
    assert summary.usage is not None
    assert summary.model in session.models
    at = session.messages.index(summary)
    earlier = session.messages[:at]
    replies = [message for message in earlier if message.origin is Origin.MODEL]
    assert replies
    assert {message.state for message in replies} == {State.COMPRESSED}
    assert {message.state for message in session.messages[at:]} == {State.CURRENT}
    assert all(m.state is State.CURRENT for m in earlier if m.origin is Origin.HUMAN)


def test_an_encrypted_summary_is_a_notice() -> None:
    session = min(case("compaction-remote"), key=lambda session: session.id)
    assert told(session.messages, Origin.NOTICE) == ["Context compacted"]


def test_a_history_that_replaces_another_is_no_new_message(tmp_path: Path) -> None:
    history = [said("Hello?")["payload"], said("A summary of it.")["payload"]]
    compacted = line("compacted", {"message": "A summary of it.", "replacement_history": history})
    lines = [
        said("Hello?"),
        said("Hi.", "assistant"),
        counted(100),
        counted(300, 200),
        compacted,
        said("More?"),
    ]
    session = read(tmp_path, *lines)
    assert [(message.origin, message.state) for message in session.messages] == [
        (Origin.HUMAN, State.CURRENT),
        (Origin.MODEL, State.COMPRESSED),
        (Origin.SYNTHETIC, State.CURRENT),
        (Origin.HUMAN, State.CURRENT),
    ]
    assert [message.usage and message.usage.total for message in session.messages] == [None, 100, 200, None]


# Copies


@pytest.mark.parametrize("name", ["fork", "legacy-fork", "legacy-backtrack", "upgrade"])
def test_a_fork_is_a_session_of_its_own(name: str) -> None:
    found = case(name)
    assert {session.kind for session in found} == {SessionKind.MAIN}
    assert {session.parent_id for session in found} == {None}
    held = [{m.request_id for m in session.messages if m.request_id} for session in found]
    copied = [session for session, own in zip(found, held, strict=True) if is_copied(session, own, held)]
    assert len(copied) == len(found) - 1
    assert len({session.title for session in found}) == len(found)


def is_copied(session: Session, own: set[str], held: list[set[str]]) -> bool:
    """Whether a session holds requests that were made in an earlier one."""
    first = next(other for other in held if other & own)
    return first is not own or any(message.imported for message in session.messages)


def test_the_agents_own_view_is_what_it_would_send() -> None:
    case_folder = FIXTURES / "codex" / "fork"
    requests = json.loads((case_folder / "resume.json").read_bytes())["requests"]
    last = {request["thread"]: request["input"] for request in requests}
    for thread, items in last.items():
        (path,) = case_folder.rglob(f"rollout-*{thread}.jsonl")
        view = custodian_of(SOURCE).agent_view(path)
        assert view
        known = [item.get("id") for item in view["items"]]
        assert [item["id"] for item in items[1:]] == known[: len(items) - 1]


def test_the_agents_own_view_follows_what_was_dropped() -> None:
    (rolled_back,) = (FIXTURES / "codex" / "rollback").rglob("rollout-*.jsonl")
    texts = json.dumps(custodian_of(SOURCE).agent_view(rolled_back))
    assert "Third line?" not in texts
    assert "Sure?" in texts
    (early,) = (FIXTURES / "codex" / "legacy-early").rglob("rollout-*.jsonl")
    view = custodian_of(SOURCE).agent_view(early)
    assert view
    assert "I look first." not in json.dumps(view["items"])


def test_what_lies_beside_sessions_is_nothing(tmp_path: Path) -> None:
    session = read(tmp_path, said("Hello?"), forked_from_id=OTHER)
    assert SOURCE.companions().with_outputs(session) is session
    assert not SOURCE.companions().named_ids(session)
    assert custodian_of(SOURCE).agent_view(write_rollout(tmp_path, [said("x")], "rollout-x.jsonl")) is None
