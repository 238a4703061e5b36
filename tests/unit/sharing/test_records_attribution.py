"""Who wrote which lines: edits made again, and compared with somebody who watched the file."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from difflib import unified_diff
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from geminids.core import agents
from geminids.core.model import (
    FileChange,
    Message,
    Operation,
    Origin,
    Project,
    Role,
    Session,
    State,
    Text,
    ToolCall,
    ToolKind,
    ToolStatus,
)
from geminids.sharing.records.attribution import file_attribution
from geminids.sharing.records.line_owners import hunks_of
from tests.support.examples import examples
from tests.support.exporting import fixture_sessions, hostile_session

replace = msgspec.structs.replace

FOLDER = "/home/ada/shop"
FILE = f"{FOLDER}/src/list.py"
AI = {"type": "ai", "model-id": "gemini-3-pro"}
UNKNOWN = {"contributor": {"type": "unknown"}, "ranges": []}


def a_session(*calls: ToolCall, folder: str | None = FOLDER, **facts: Any) -> Session:
    """A session in which each call has a message of its own."""
    messages = tuple(_message(call, **facts) for call in calls)
    return replace(hostile_session(), project=Project(folder, None, None, None), messages=messages)


def _message(call: ToolCall, **facts: Any) -> Message:
    made = Message(
        id="m",
        role=Role.ASSISTANT,
        origin=Origin.MODEL,
        state=State.CURRENT,
        at=None,
        model="gemini-3-pro",
        parts=(call,),
        usage=None,
        source=hostile_session().messages[0].source,
    )
    return replace(made, **facts)


def a_call(*changes: FileChange, status: ToolStatus = ToolStatus.SUCCESS, **arguments: Any) -> ToolCall:
    return ToolCall(None, "replace", ToolKind.EDIT, arguments, status, changes=changes)


def created(text: str, path: str = FILE) -> ToolCall:
    return a_call(FileChange(path, Operation.CREATE, after=text))


def edited(before: str, after: str) -> ToolCall:
    return a_call(FileChange(FILE, Operation.EDIT, before=before, after=after))


def by_diff(diff: str) -> ToolCall:
    return a_call(FileChange(FILE, Operation.EDIT, diff=diff))


def ranges(first: int, *lines: str) -> dict[str, Any]:
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    return {"start-line": first, "end-line": first + len(lines) - 1, "content-hash": digest}


def of(session: Session) -> list[dict[str, Any]]:
    """What is told of the one file."""
    attributed = file_attribution(session)
    assert attributed is not None
    assert attributed.keys() == {"files"}
    (file,) = attributed["files"]
    assert file.keys() == {"path", "conversations"}
    conversations: list[dict[str, Any]] = file["conversations"]
    return conversations


def by_model(*of_model: dict[str, Any]) -> dict[str, Any]:
    return {"contributor": AI, "ranges": [*of_model]}


# Cases


def test_a_new_file_is_the_models() -> None:
    assert file_attribution(a_session(created("a\nb\n"))) == {
        "files": [{"path": "src/list.py", "conversations": [by_model(ranges(1, "a", "b"))]}]
    }


def test_only_lines_that_were_changed_are_the_models() -> None:
    assert of(a_session(edited("a\nb\nc\n", "a\nB\nc\nd\n"))) == [by_model(ranges(2, "B"), ranges(4, "d"))]


def test_a_later_edit_moves_and_removes_earlier_lines() -> None:
    session = a_session(
        edited("a\nb\nc\n", "a\nx\ny\nc\n"),
        by_diff("@@ -0,0 +1,2 @@\n+new\n+lines\n"),
        by_diff("@@ -5,2 +5,1 @@\n-y\n c\n"),
    )
    assert of(session) == [by_model(ranges(1, "new", "lines"), ranges(4, "x"))]


def test_a_diff_alone_tells_where_its_lines_are() -> None:
    assert of(a_session(by_diff("--- a\n+++ b\n@@ -10,3 +10,4 @@ def f():\n a\n-b\n+c\n+d\n e\n"))) == [
        by_model(ranges(11, "c", "d"))
    ]


def test_a_diff_that_does_not_fit_shows_that_somebody_else_was_there() -> None:
    session = a_session(
        by_diff("@@ -3,0 +4,1 @@\n+mine\n"),
        by_diff("@@ -4,1 +4,2 @@\n somebody else's\n+another\n"),
    )
    assert of(session) == [by_model(ranges(5, "another")), UNKNOWN]


def test_lines_of_others_between_edits_are_not_the_models() -> None:
    session = a_session(created("a\nb\n"), edited("a\nhers\nb\n", "a\nhers\nb\nc\n"))
    assert of(session) == [by_model(ranges(1, "a"), ranges(3, "b", "c"))]


def test_a_piece_without_a_place_is_looked_for() -> None:
    start = created("def f():\n    return 1\n\ndef g():\n    return 2\n")
    edit = by_diff("@@\n def g():\n-    return 2\n+    return 3\n")
    (told,) = of(a_session(start, replace(edit, call_id="2")))
    assert told == by_model(ranges(1, "def f():", "    return 1", "", "def g():", "    return 3"))
    assert of(a_session(edit)) == [UNKNOWN]
    twice = by_diff("@@\n-x\n+y\n")
    assert of(a_session(created("x\nx\n"), twice)) == [UNKNOWN]


def test_words_that_were_to_be_replaced_are_replaced() -> None:
    asked = a_call(FileChange(FILE, Operation.EDIT), old_string="b", new_string="B\nB")
    assert of(a_session(edited("a\n", "a\nb\n"), asked)) == [by_model(ranges(2, "B", "B"))]
    assert of(a_session(asked)) == [UNKNOWN]
    everywhere = replace(asked, arguments={**asked.arguments, "expected_replacements": 2})
    assert of(a_session(edited("b\n", "b\nb\n"), asked)) == [UNKNOWN]
    assert of(a_session(edited("b\n", "b\nb\n"), everywhere)) == [by_model(ranges(1, "B", "B", "B", "B"))]


def test_a_file_that_was_written_over_is_the_models() -> None:
    whole = a_call(FileChange(FILE, Operation.EDIT, after="a\nb\n"))
    assert of(a_session(whole)) == [by_model(ranges(1, "a", "b"))]
    with_diff = a_call(FileChange(FILE, Operation.EDIT, "@@ -1,1 +1,2 @@\n a\n+b\n", after="a\nb\n"))
    assert of(a_session(with_diff)) == [by_model(ranges(2, "b"))]


def test_what_is_not_told_is_unknown() -> None:
    assert of(a_session(a_call(FileChange(FILE, Operation.EDIT)))) == [UNKNOWN]


def test_what_was_rewound_may_be_gone() -> None:
    assert of(a_session(created("a\n"), state=State.REWOUND)) == [UNKNOWN]
    assert of(a_session(created("a\n"), state=State.COMPRESSED)) == [by_model(ranges(1, "a"))]


def test_what_failed_or_was_deleted_is_left_out() -> None:
    failed = replace(created("a\n"), status=ToolStatus.ERROR)
    deleted = a_call(FileChange(FILE, Operation.DELETE))
    assert file_attribution(a_session(failed)) is None
    assert file_attribution(a_session(created("a\n"), deleted)) is None
    assert file_attribution(a_session()) is None


def test_lines_that_are_gone_again_are_left_out() -> None:
    assert file_attribution(a_session(edited("a\n", "a\nb\n"), edited("a\nb\n", "a\n"))) is None


def test_what_was_taken_over_from_another_session_is_counted_there() -> None:
    assert file_attribution(a_session(created("a\n"), imported=True)) is None
    assert file_attribution(a_session(by_diff("@@\n-a\n+b\n"), imported=True)) is None


def test_a_call_that_stands_twice_counts_once() -> None:
    call = replace(by_diff("@@ -0,0 +1,1 @@\n+a\n"), call_id="c")
    assert of(a_session(call, call)) == [by_model(ranges(1, "a"))]


def test_what_the_human_changed_is_of_both() -> None:
    told = "Successfully overwrote file. User modified the `content` to be: a"
    call = replace(created("a\n"), result=(Text(told, Origin.TOOL),))
    for modified in (call, replace(created("a\n"), arguments={"modified_by_user": True})):
        both = {"type": "mixed", "model-id": "gemini-3-pro"}
        assert of(a_session(modified)) == [{"contributor": both, "ranges": [ranges(1, "a")]}]


@pytest.mark.parametrize(
    ("folder", "path", "told"),
    [
        ("/home/ada/shop", "/home/ada/shop/a/../b.py", "b.py"),
        ("/home/ada/shop/", "/home/ada/shop/b.py", "b.py"),
        ("/home/ada/shop", "/home/ada/shopping/b.py", "/home/ada/shopping/b.py"),
        ("/home/ada/shop", "./b.py", "b.py"),
        (None, "/home/ada/shop/b.py", "/home/ada/shop/b.py"),
        ("C:\\Users\\ada\\shop", "C:\\Users\\ada\\shop\\src\\b.py", "src/b.py"),
        ("/home/ada/shop", "/home/ada/shop/odd\\name.py", "odd\\name.py"),
    ],
)
def test_paths_are_seen_from_the_folder_of_the_project(folder: str | None, path: str, told: str) -> None:
    attributed = file_attribution(a_session(created("a\n", path), folder=folder))
    assert attributed is not None
    assert [file["path"] for file in attributed["files"]] == [told]


def test_a_file_that_was_moved_keeps_its_lines() -> None:
    patch = (
        "*** Begin Patch\n*** Update File: src/list.py\n*** Move to: src/new.py\n@@\n-b\n+c\n*** End Patch"
    )
    moved = a_call(FileChange("src/new.py", Operation.EDIT, diff="@@\n-b\n+c\n"), input=patch)
    attributed = file_attribution(a_session(created("a\nb\n"), moved))
    assert attributed == {"files": [{"path": "src/new.py", "conversations": [by_model(ranges(1, "a", "c"))]}]}


def test_numbers_that_no_line_has_are_no_evidence() -> None:
    assert of(a_session(by_diff("@@ -99999999999,0 +99999999999,1 @@\n+a\n"))) == [UNKNOWN]
    assert of(a_session(by_diff("@@ -1,5 +1,9 @@\n+a\n"))) == [UNKNOWN]


# Somebody who watches the file


class Edit(NamedTuple):
    """Lines that are replaced by others, from a place in the file on."""

    place: float
    removed: int
    added: int
    by_human: bool
    form: str


class Watched:
    """A file and who wrote each of its lines."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, bool]] = [(f"old {n}", False) for n in range(6)]
        self._written = 0

    @property
    def text(self) -> str:
        return "".join(f"{line}\n" for line, _ in self.lines)

    def make(self, edit: Edit) -> None:
        first = round(edit.place * len(self.lines))
        added = [(f"new {self._written + n}", not edit.by_human) for n in range(edit.added)]
        self._written += edit.added
        self.lines[first : first + edit.removed] = added

    @property
    def of_model(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        run: list[str] = []
        for number, (line, is_models) in enumerate((*self.lines, ("", False)), 1):
            if is_models:
                run.append(line)
            elif run:
                found.append(ranges(number - len(run), *run))
                run = []
        return found


def _told(edit: Edit, before: str, after: str) -> FileChange:
    lines = [*unified_diff(before.splitlines(), after.splitlines(), "a", "b", lineterm="")]
    diff = "".join(f"{line}\n" for line in lines)
    match edit.form:
        case "texts":
            return FileChange(FILE, Operation.EDIT, before=before, after=after)
        case "all":
            return FileChange(FILE, Operation.EDIT, diff, before, after)
        case "diff and before":
            return FileChange(FILE, Operation.EDIT, diff, before)
        case _:
            return FileChange(FILE, Operation.EDIT, diff)


def edits(forms: Sequence[str], *, human: st.SearchStrategy[bool]) -> st.SearchStrategy[list[Edit]]:
    some = st.builds(
        Edit, st.floats(0, 1), st.integers(0, 3), st.integers(0, 3), human, st.sampled_from(forms)
    )
    return st.lists(some, max_size=8)


@settings(deadline=None, max_examples=examples(300), suppress_health_check=list(HealthCheck))
@given(edits(("texts", "all", "diff and before", "diff"), human=st.just(False)))
def test_edits_of_the_model_alone_are_told_in_whatever_form(made: list[Edit]) -> None:
    _check(made)


@settings(deadline=None, max_examples=examples(300), suppress_health_check=list(HealthCheck))
@given(edits(("texts", "all", "diff and before"), human=st.booleans()))
def test_edits_of_a_human_in_between_are_seen_where_the_file_was_noted(made: list[Edit]) -> None:
    _check([*made, Edit(0, 0, 1, False, "texts")])


def _check(made: list[Edit]) -> None:
    watched = Watched()
    calls = []
    for edit in made:
        before = watched.text
        watched.make(edit)
        if not edit.by_human and watched.text != before:
            calls.append(a_call(_told(edit, before, watched.text)))
    expected = [by_model(*watched.of_model)] if watched.of_model else []
    attributed = file_attribution(a_session(*calls))
    told = attributed["files"][0]["conversations"] if attributed else []
    assert told == expected


@settings(max_examples=examples(300))
@given(st.text(alphabet="@+- \\\n0123,ab", max_size=60))
def test_any_diff_is_taken_for_what_it_is(diff: str) -> None:
    hunks_of(f"@@ -1 +1 @@\n{diff}")
    file_attribution(a_session(created("a\nb\n"), by_diff(diff), by_diff(f"@@ -1,2 +1,2 @@\n{diff}")))


# Recorded sessions


def test_lines_of_recorded_sessions_stand_where_they_are_told() -> None:
    checked = sum(_check_hashes(session) for session in fixture_sessions().values())
    assert checked >= 15


def _check_hashes(session: Session) -> int:
    """Compare with the last text of each file that the agent noted whole."""
    attributed = file_attribution(session)
    texts: dict[str, str | None] = {}
    for message in session.messages:
        for call in message.tool_calls:
            if call.status is ToolStatus.SUCCESS:
                texts |= {change.path: change.after for change in call.changes}
    checked = 0
    for file in attributed["files"] if attributed else ():
        text = next((text for path, text in texts.items() if path.endswith(file["path"])), None)
        for lines in (lines for told in file["conversations"] for lines in told["ranges"]) if text else ():
            known = (text or "").split("\n")[lines["start-line"] - 1 : lines["end-line"]]
            assert lines["content-hash"] == hashlib.sha256("\n".join(known).encode()).hexdigest()
            checked += 1
    return checked


def test_edits_without_any_diff_are_made_again(corpus: Path) -> None:
    file = corpus / "vac" / "native" / "gemini-gemini-3-pro-preview.json"
    reading = agents.load("gemini").read_alone(file)
    assert reading is not None
    (session,) = reading.sessions
    attributed = file_attribution(session)
    assert attributed is not None
    told = {
        file["path"].rpartition("/")[2]: [each["contributor"]["type"] for each in file["conversations"]]
        for file in attributed["files"]
    }
    assert told == {"frame.c": ["unknown"], "repro.c": ["ai"]}
