"""What things are called, and that all who tell a session call them the same."""

from __future__ import annotations

import html
import io
import re
from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from geminids.core.model import (
    Attachment,
    MovedOutput,
    Origin,
    Problem,
    ProblemKind,
    Session,
    SessionKind,
    Thought,
    ToolCall,
    ToolKind,
    ToolResult,
    ToolStatus,
    Unrecognised,
    Usage,
)
from geminids.faces.drawing.page import PlainPage
from geminids.faces.drawing.story import StoryContext, draw_session
from geminids.sharing.transcript.entries import LEVELS, Pause
from geminids.sharing.transcript.labels import (
    CALL_MARKS,
    attachment_name,
    call_mark,
    call_outcome,
    call_trouble,
    kind_sentence,
    left_out_sentence,
    made_by,
    moved_sentence,
    pause_sentence,
    problem_line,
    result_title,
    thought_title,
)
from tests.support.exporting import exported, hostile_session, looked_at_sessions
from tests.support.summaries import summary

FACES = ("show", "text", "markdown", "html")
"""All that tell a session to people."""


def told(face: str, session: Session, level: str = "conversation") -> str:
    """What a reader reads, in one line, whatever signs the format needs for it."""
    if face == "show":
        stream = io.StringIO()
        draw_session(PlainPage(stream), StoryContext(session, LEVELS[level], "Gemini CLI", str))
        words = stream.getvalue()
    else:
        words = exported(face, session, level=level).decode()
    if face == "html":
        words = html.unescape(re.sub(r"<(style|script)>.*?</\1>|<[^>]*>", "", words, flags=re.DOTALL))
    if face == "markdown":
        words = re.sub(r"\\(?=[^\w\s])|<[^>]*>|[`>]", "", words)
    return re.sub(r"\s+", " ", words)


def call(status: ToolStatus = ToolStatus.SUCCESS, exit_code: int | None = None) -> ToolCall:
    return ToolCall("c1", "tool", ToolKind.OTHER, {"path": "a"}, status, exit_code=exit_code)


def with_calls(*calls: ToolCall) -> Session:
    session = looked_at_sessions()["tool-calls-jsonl-2"]
    model = next(message for message in session.messages if message.origin is Origin.MODEL)
    return msgspec.structs.replace(session, messages=(msgspec.structs.replace(model, parts=calls),))


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        (SessionKind.SUBAGENT, "↳ a subagent; its parent: gemini:p"),
        (SessionKind.CHECKPOINT, "⎘ saved chat; saved from: gemini:p"),
        (SessionKind.COPY, "a copy of a session that is stored elsewhere, if at all; copied from: gemini:p"),
        (SessionKind.LOST, "✝ lost: only your prompts remain (its file was deleted)"),
    ],
)
def test_all_say_the_same_of_what_a_session_is(face: str, kind: SessionKind, sentence: str) -> None:
    session = msgspec.structs.replace(
        looked_at_sessions()["errors"], kind=kind, parent_id="gemini:p", summary="its file was deleted"
    )
    assert kind_sentence(session, session.parent_id) == sentence
    assert sentence in told(face, session)


def test_a_main_session_needs_no_word() -> None:
    assert kind_sentence(summary(kind=SessionKind.MAIN), "gemini:p") == ""


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("status", ToolStatus)
def test_all_mark_a_call_by_how_it_ended(face: str, status: ToolStatus) -> None:
    ended = f" {'' if status is ToolStatus.SUCCESS else status}"
    shown = re.sub("[()]", "", told(face, with_calls(call(status))))
    assert f"{CALL_MARKS[status][0]} tool a{ended}".strip() in shown


@pytest.mark.parametrize("face", FACES)
def test_all_say_how_a_command_ended_that_ran_and_failed(face: str) -> None:
    failed = call(exit_code=3)
    assert (call_outcome(failed), call_mark(failed), call_trouble(failed)) == (
        ToolStatus.ERROR,
        "✗",
        "exit 3",
    )
    assert "✗ tool a exit 3" in re.sub("[()]", "", told(face, with_calls(failed)))


@pytest.mark.parametrize("face", FACES)
def test_all_say_what_they_leave_out(face: str) -> None:
    session = looked_at_sessions()["tool-calls-jsonl-2"]
    assert "Hidden: 4 thoughts" in told(face, session)
    assert "Hidden" not in told(face, session, "everything")


def test_what_is_left_out_is_named_with_how_to_see_it() -> None:
    counts = {"notices": 1, "injected": 7, "thoughts": 2}
    assert left_out_sentence(counts) == "Hidden: 2 thoughts, 1 notice."
    assert left_out_sentence(counts, {"thoughts": "--thoughts"}) == (
        "Hidden: 2 thoughts (--thoughts), 1 notice."
    )
    assert left_out_sentence({"injected": 7, "results": 1}) == ""


@pytest.mark.parametrize("face", FACES)
def test_everything_tells_the_model_and_the_tokens_of_each_turn(face: str) -> None:
    session = looked_at_sessions()["tool-calls-jsonl-2"]
    made = [message for message in session.messages if message.model and message.parts]
    assert made
    whole, less = told(face, session, "everything"), told(face, session, "thoughts")
    model = str(made[0].model)
    assert whole.count(model) >= less.count(model) + len(made)
    if face != "html":  # there a bar tells of the tokens, with the numbers as its title
        assert all(made_by(message) in whole for message in made)


def test_who_made_a_message_is_told_as_far_as_it_is_known() -> None:
    session = looked_at_sessions()["tool-calls-jsonl-2"]
    message = msgspec.structs.replace(session.messages[0], model="pro", usage=Usage(1, input=1200, output=3))
    assert made_by(message) == "pro · tokens: 1,200 in, 3 out"
    assert made_by(msgspec.structs.replace(message, model=None)) == "tokens: 1,200 in, 3 out"
    assert made_by(msgspec.structs.replace(message, usage=None)) == "pro"
    assert made_by(msgspec.structs.replace(message, model=None, usage=None)) == ""


@pytest.mark.parametrize("face", FACES)
def test_all_name_what_has_no_name_yet(face: str) -> None:
    whole = told(face, hostile_session(), "everything")
    assert "Unrecognised" in whole
    assert "Not recognised" not in whole


@pytest.mark.parametrize("face", FACES)
def test_all_write_values_in_json(face: str) -> None:
    odd = ToolCall(
        "c1", "tool", ToolKind.OTHER, {"on": True, "none": None, "many": ["é"]}, ToolStatus.SUCCESS
    )
    whole = re.sub(r"[:\s]+", " ", told(face, with_calls(odd), "tools"))
    assert "on true" in whole
    assert "none null" in whole
    assert re.search(r'many ?\[ ?"é" ?\]', whole)


@pytest.mark.parametrize("face", FACES)
def test_all_tell_of_damage_and_on_request_where_it_is(face: str) -> None:
    problem = Problem("/x/a.jsonl", ProblemKind.BAD_JSON, "no end", line=4)
    session = msgspec.structs.replace(looked_at_sessions()["errors"], problems=(problem,))
    assert "⚠ 1 problem in its files" in told(face, session)
    place = re.sub(r"\s+", " ", problem_line(problem, problem.file))
    assert place not in told(face, session)
    assert place in told(face, session, "everything")


@pytest.mark.parametrize("face", ["text", "markdown", "html"])
def test_all_say_what_was_redacted(face: str) -> None:
    session = looked_at_sessions()["errors"]
    assert "Redacted: 2 keys" in exported(face, session, redacted="2 keys").decode()


def test_a_pause_ends_at_a_moment() -> None:
    pause = Pause(timedelta(hours=2, minutes=5), datetime(2026, 5, 1, 10, tzinfo=UTC))
    assert pause_sentence(pause, UTC) == "2 h 5 min later, 2026-05-01 10:00"


def test_an_attachment_is_named_by_what_is_known_of_it() -> None:
    assert attachment_name(Attachment("image/png", data="AAAA")) == "image/png · 3 bytes"
    assert attachment_name(Attachment("image/png", data="AA==")) == "image/png · 1 byte"
    assert attachment_name(Attachment(None, uri="http://127.0.0.1/a")) == "http://127.0.0.1/a"
    assert attachment_name(Attachment(None)) == "an attachment"


def test_titles_of_thoughts_and_results() -> None:
    assert thought_title(Thought("t", "Plan")) == "Thought: Plan"
    assert thought_title(Thought("t")) == "Thought"
    assert result_title(ToolResult("c1", "read_file", ())) == "Result of read_file"
    assert result_title(ToolResult("c1", None, (Unrecognised({}),))) == "Result of a tool"


def test_where_an_output_lies_is_told_and_whether_it_was_read() -> None:
    assert moved_sentence(MovedOutput("/x/a", 10, "words"), "/x/a") == "the whole output: /x/a, 10 bytes"
    assert moved_sentence(MovedOutput("/x/a", 10, None), "~/a") == (
        "the whole output, which could not be read: ~/a, 10 bytes"
    )
