"""What tells most about a tool call."""

from typing import Any

import pytest

from geminids.model import (
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
from geminids.transcript.telling import changed_lines, diff_lines, error_line, output_text, telling_argument


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
        ({"file_path": 7, "command": None, "url": ""}, ""),
        ({}, ""),
    ],
)
def test_one_argument_says_what_a_call_was_about(arguments: dict[str, Any], told: str) -> None:
    assert telling_argument(call(arguments), "/p") == told


def test_a_list_of_things_to_do_is_told_by_what_is_done() -> None:
    todos = Todos((Todo("a", "completed"), Todo("b", "pending")))
    assert telling_argument(call({"todos": [{}]}, display=todos), None) == "1 of 2 done"
    assert output_text(call(display=todos)) == "[completed] a\n[pending] b"


def test_an_error_is_told_by_its_first_line() -> None:
    result = (Text("\n  broken \nmore", Origin.TOOL),)
    assert error_line(call(status=ToolStatus.ERROR, result=result)) == "broken"
    assert error_line(call(status=ToolStatus.ERROR, display=Plain("shown"))) == "shown"
    assert error_line(call(status=ToolStatus.ERROR)) == ""
    assert error_line(call(result=result)) == ""


def test_an_output_is_what_the_human_saw_or_else_what_the_model_got() -> None:
    result = (Text("for the model", Origin.TOOL),)
    assert output_text(call(result=result, display=Plain("for the human"))) == "for the human"
    assert output_text(call(result=result)) == "for the model"
    found = {"filePath": "a.py", "lineNumber": 3, "line": "x = 1"}
    listing = Listing("2 found", (found, {"path": "b.py"}, "c.py"), {})
    assert output_text(call(display=listing)) == "2 found\na.py:3: x = 1\nb.py\nc.py"


def test_a_diff_is_told_without_its_headings() -> None:
    diff = "Index: a\n=======\n--- a\n+++ a\n@@ -1 +1 @@\n-x\n--- y\n+y\n\\ No newline at end of file"
    lines = ["@@ -1 +1 @@", "-x", "--- y", "+y"]
    assert diff_lines(call(changes=(FileChange("a", Operation.EDIT, diff),))) == lines
    assert diff_lines(call(display=Diff("a", diff))) == lines
    assert diff_lines(call()) == []


def test_lines_that_nobody_counted_are_not_counted() -> None:
    counted = FileChange("a", Operation.EDIT, added=2, removed=1)
    assert changed_lines([counted, counted]) == (4, 2)
    assert changed_lines([FileChange("a", Operation.EDIT)]) is None
