"""What tells most about a tool call."""

from typing import Any

import pytest

from geminids.core.model import (
    Attachment,
    Diff,
    FileChange,
    Listing,
    Operation,
    Origin,
    Plain,
    Text,
    Todo,
    Todos,
    ToolCall,
    ToolKind,
    ToolStatus,
)
from geminids.sharing.transcript.call_summary import (
    answer_lines,
    changed_lines,
    diff_lines,
    error_line,
    line_argument,
    main_argument,
    output_text,
    result_of_task,
    stand_together,
    value_words,
)


def call(
    arguments: dict[str, Any] | None = None, status: ToolStatus = ToolStatus.SUCCESS, **rest: Any
) -> ToolCall:
    return ToolCall("c1", "tool", ToolKind.OTHER, arguments or {}, status, **rest)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"file_path": "/p/src/a.py", "content": "x"}, "src/a.py"),
        ({"absolute_path": "/elsewhere/a.py"}, "/elsewhere/a.py"),
        ({"path": "/p"}, "."),
        ({"command": "npm test", "description": "Run"}, "npm test"),
        ({"pattern": "TODO", "path": "/p/src"}, "TODO in src"),
        ({"query": "cats"}, "cats"),
        ({"paths": ["a", "b"]}, "a, b"),
        ({"agent_name": "scout", "prompt": "look"}, "scout: look"),
        ({"limit": 3, "strange": "words"}, "words"),
        ({"limit": 3}, ""),
        ({"questions": [{"question": "Tea?"}, {"question": "Milk?"}]}, "Tea? Milk?"),
        ({"file_path": 7, "command": None, "url": ""}, ""),
        ({}, ""),
    ],
)
def test_one_argument_says_what_a_call_was_about(arguments: dict[str, Any], told: str) -> None:
    assert main_argument(call(arguments), "/p") == told


def test_the_line_of_a_call_is_cut_only_where_the_whole_stands_below_it() -> None:
    long = call({"command": "x" * 500})
    assert line_argument(long, None, is_whole_below=False) == "x" * 500
    assert line_argument(long, None, is_whole_below=True) == "x" * 199 + "…"
    described = call(description="y" * 500)
    assert line_argument(described, None, is_whole_below=True) == "y" * 500


def test_what_a_subagent_hands_back_is_not_told_twice() -> None:
    handed = ToolCall("c1", "complete_task", ToolKind.OTHER, {"result": "found"}, ToolStatus.SUCCESS)
    assert line_argument(handed, None, is_whole_below=False) == ""
    assert line_argument(handed, None, is_whole_below=True) == "found"


def test_values_are_words_or_json() -> None:
    assert value_words("a\nb") == "a\nb"
    assert value_words({"é": [True, None, 1.5]}) == '{"é": [true, null, 1.5]}'
    assert value_words([1], indented=True) == "[\n  1\n]"
    assert value_words("half \ud83d") == "half \ud83d"
    assert value_words(["half \ud83d"]) == '["half \ud83d"]'


def test_calls_stand_close_to_calls_and_outputs_to_what_was_typed() -> None:
    typed, printed = Text("ls", Origin.HUMAN), Text("a", Origin.SHELL)
    assert stand_together(call(), call())
    assert stand_together(typed, printed)
    assert stand_together(typed, Attachment("image/png"))
    assert not stand_together(typed, call())
    assert not stand_together(call(), Text("Done.", Origin.MODEL))


def test_a_list_of_things_to_do_is_told_by_what_is_done() -> None:
    todos = Todos((Todo("a", "completed"), Todo("b", "pending")))
    assert main_argument(call({"todos": [{}]}, display=todos), None) == "1 of 2 done"
    written = [{"description": "a", "status": "completed"}, {"description": "b", "status": "in_progress"}]
    assert main_argument(call({"todos": written}), None) == "1 of 2 done, now: b"
    assert output_text(call(display=todos)) == "[completed] a\n[pending] b"


def test_a_description_tells_where_no_argument_does() -> None:
    assert main_argument(call({"limit": 3}, description=" the first three "), None) == "the first three"


def test_an_answer_of_the_human_is_told() -> None:
    asked = ToolCall(
        "c1", "ask_user", ToolKind.ASK, {}, ToolStatus.SUCCESS, display=Plain("**User:**\n  a → b\n")
    )
    assert answer_lines(asked) == ["a → b"]
    assert answer_lines(call(display=Plain("words"))) == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"result": "found it"}, "found it"),
        ({"result": {"response": "found it"}}, "found it"),
        ({"report": {"empty": "", "places": ["found it", "more"]}}, "found it"),
        ({}, ""),
    ],
)
def test_what_a_subagent_hands_back_is_told(arguments: dict[str, Any], words: str) -> None:
    handed = ToolCall("c1", "complete_task", ToolKind.OTHER, arguments, ToolStatus.SUCCESS)
    assert result_of_task(handed) == words
    assert result_of_task(call(arguments)) == ""


def test_an_error_is_told_by_its_first_line() -> None:
    result = (Text("\n  broken \nmore", Origin.TOOL),)
    assert error_line(call(status=ToolStatus.ERROR, result=result)) == "broken"
    assert error_line(call(status=ToolStatus.ERROR, display=Plain("shown"))) == "shown"
    assert error_line(call(status=ToolStatus.ERROR)) == ""
    assert error_line(call(result=result)) == ""


def test_an_error_is_told_by_what_was_shown_if_that_is_the_gist_of_what_the_model_got() -> None:
    result = (Text("It did not go well:\nbroken", Origin.TOOL),)
    assert error_line(call(status=ToolStatus.ERROR, result=result, display=Plain("broken"))) == "broken"
    other = error_line(call(status=ToolStatus.ERROR, result=result, display=Plain("sorry")))
    assert other == "It did not go well:"
    nothing = call(status=ToolStatus.ERROR, result=result, display=Plain(""))
    assert error_line(nothing) == "It did not go well:"
    printed = call(status=ToolStatus.ERROR, result=result, display=Plain(""), exit_code=3)
    assert error_line(printed) == ""


def test_an_output_is_what_the_human_saw_or_else_what_the_model_got() -> None:
    result = (Text("for the model", Origin.TOOL),)
    assert output_text(call(result=result, display=Plain("for the human"))) == "for the human"
    assert output_text(call(result=result)) == "for the model"
    found = {"filePath": "a.py", "lineNumber": 3, "line": "x = 1"}
    listing = Listing("2 found", (found, {"path": "b.py"}, "c.py"), {})
    assert output_text(call(display=listing)) == "2 found\na.py:3: x = 1\nb.py\nc.py"


def test_where_several_files_were_changed_each_is_named() -> None:
    diff = "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n"
    changes = (FileChange("a.py", Operation.EDIT, diff), FileChange("b.py", Operation.EDIT, diff))
    lines = ["@@ -1 +1 @@", "-x", "+y"]
    assert diff_lines(call(changes=changes)) == ["@@ a.py", *lines, "@@ b.py", *lines]


def test_the_gist_that_a_reader_gives_goes_before_arguments() -> None:
    told = call({"input": "*** Begin Patch", "file_path": "/p/x"}, gist="/p/src/a.py")
    assert main_argument(told, "/p") == "src/a.py"


def test_a_diff_is_told_without_its_headings() -> None:
    diff = "Index: a\n=======\n--- a\n+++ a\n@@ -1 +1 @@\n-x\n--- y\n+y\n\\ No newline at end of file"
    lines = ["@@ -1 +1 @@", "-x", "--- y", "+y"]
    assert diff_lines(call(changes=(FileChange("a", Operation.EDIT, diff),))) == lines
    assert diff_lines(call(display=Diff("a", diff))) == lines
    assert diff_lines(call()) == []
    odd = "@@ -1 +1 @@\n+a\x0cb\u2028c\rd\n"
    assert diff_lines(call(display=Diff("a", odd))) == ["@@ -1 +1 @@", "+a\x0cb\u2028c\rd"]


def test_lines_that_nobody_counted_are_not_counted() -> None:
    counted = FileChange("a", Operation.EDIT, added=2, removed=1)
    assert changed_lines([counted, counted]) == (4, 2)
    assert changed_lines([FileChange("a", Operation.EDIT)]) is None
