"""A level of detail means the same in every format: what it tells is there, what it leaves out is not."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest

from geminids.core.model import (
    FileChange,
    FileReference,
    Level,
    Message,
    Operation,
    Origin,
    Plain,
    Role,
    Session,
    State,
    Text,
    Thought,
    ToolCall,
    ToolKind,
    ToolStatus,
)
from geminids.sharing import export
from geminids.sharing.transcript.entries import LEVELS
from tests.support.exporting import exported, hostile_session, text_of

TOLD = {
    "prompts": ["typedword", "pathword"],
    "conversation": ["replyword", "commandword", "errorword", "answerword", "fileword", "toolname"],
    "tools": ["argumentword", "outputword", "diffword", "contentword"],
    "thoughts": ["thoughtword", "subjectword"],
    "everything": ["noticeword", "contextword", "rewoundword"],
}
"""The words that each level adds to the one before it."""
NO_PLACE = {
    "csv": {"contentword", "commandword", "errorword", "answerword", "fileword", "toolname", "argumentword"}
    | {"outputword", "diffword"},
    "chat": {"diffword"},
    "atif": {"diffword"},
    "otlp": {"diffword"},
    "vac-simple": {"diffword", "rewoundword"},
}
"""What a format (here: the table of messages of csv) does not carry at any level."""


def session() -> Session:
    """A session with one word for each thing that may be told."""

    def message(number: int, role: Role, origin: Origin, *parts: object, **more: object) -> Message:
        template = hostile_session().messages[0]
        fields = {"id": f"m{number}", "role": role, "origin": origin, "parts": parts, "model": None} | more
        return msgspec.structs.replace(template, **fields)

    shell = ToolCall(
        "c1",
        "toolname",
        ToolKind.EXECUTE,
        {"command": "commandword", "description": "argumentword"},
        ToolStatus.SUCCESS,
        result=(Text("outputword", Origin.TOOL),),
        display=Plain("outputword"),
    )
    failed = ToolCall(
        "c2",
        "read_file",
        ToolKind.READ,
        {"file_path": "/x/fileword"},
        ToolStatus.ERROR,
        native_status="error",
        result=(Text("errorword happened", Origin.TOOL),),
    )
    asked = ToolCall(
        "c3",
        "ask_user",
        ToolKind.ASK,
        {"question": "Which?"},
        ToolStatus.SUCCESS,
        result=(Text("answerword", Origin.TOOL),),
    )
    edit = ToolCall(
        "c4",
        "replace",
        ToolKind.EDIT,
        {"file_path": "/x/fileword"},
        ToolStatus.SUCCESS,
        result=(Text("done", Origin.TOOL),),
        changes=(
            FileChange(
                "/x/fileword", Operation.EDIT, diff="@@ -1 +1 @@\n-old\n+diffword\n", added=1, removed=1
            ),
        ),
    )
    return msgspec.structs.replace(
        hostile_session(),
        id="gemini:1",
        native_id="1",
        title="A title",
        summary=None,
        messages=(
            message(1, Role.USER, Origin.INJECTED, Text("contextword", Origin.INJECTED)),
            message(
                2,
                Role.USER,
                Origin.HUMAN,
                Text("typedword", Origin.HUMAN),
                FileReference("pathword.txt", "contentword"),
            ),
            message(
                3,
                Role.ASSISTANT,
                Origin.MODEL,
                Thought("thoughtword", "subjectword"),
                Text("replyword", Origin.MODEL),
                shell,
                failed,
                asked,
                edit,
                model="gemini-1",
            ),
            message(4, Role.SYSTEM, Origin.NOTICE, Text("noticeword", Origin.NOTICE), level=Level.INFO),
            message(5, Role.USER, Origin.HUMAN, Text("rewoundword", Origin.HUMAN), state=State.REWOUND),
            message(6, Role.ASSISTANT, Origin.MODEL, Text("bye", Origin.MODEL), model="gemini-1"),
        ),
    )


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", export.available())
def test_a_level_tells_what_it_says_and_no_more(name: str, level: str) -> None:
    written = text_of(name, exported(name, session(), level=level))
    levels = list(LEVELS)
    for other, words in TOLD.items():
        is_told = levels.index(other) <= levels.index(level)
        for word in _carried(name, words):
            assert (word in written) == is_told, f"{word} at {level}"


def _carried(name: str, words: Sequence[str]) -> list[str]:
    return [word for word in words if word not in NO_PLACE.get(name, ())]
