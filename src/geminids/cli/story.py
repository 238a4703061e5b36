"""A session drawn as a story: who said what, one line for what each tool did, where time passed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from geminids.cli.beside import draw_beside
from geminids.cli.marks import draw_marks
from geminids.cli.page import Page, Span
from geminids.model import (
    AnyPart,
    Attachment,
    FileReference,
    Level,
    Message,
    Origin,
    Session,
    SessionKind,
    Text,
    Thought,
    ToolCall,
    ToolResult,
    ToolStatus,
    Unrecognised,
)
from geminids.transcript import words
from geminids.transcript.entries import (
    Detail,
    Entry,
    LeftOut,
    Mark,
    Pause,
    Turn,
    transcript,
)
from geminids.transcript.naming import mark_sentence, speaker_name, state_name
from geminids.transcript.telling import (
    answer_lines,
    changed_lines,
    diff_lines,
    error_line,
    output_text,
    result_of_task,
    telling_argument,
)

if TYPE_CHECKING:
    from geminids.library import Marks

INDENT = 2
SHORT_DIFF = 12
"""Lines of a diff that are shown unless more is asked for."""
SHORT_OUTPUT = 3
"""Lines of what a command of the human produced."""
LINES_AT_ONCE = 1000
"""Lines of an output that are laid out together: a reader need not wait for all of a long one."""

TOOL_MARKS = {
    ToolStatus.SUCCESS: ("●", "tool"),
    ToolStatus.ERROR: ("✗", "bad"),
    ToolStatus.CANCELLED: ("⊘", "warning"),
    ToolStatus.PENDING: ("○", "warning"),
    ToolStatus.UNKNOWN: ("●", "quiet"),
}

KINDS = {
    SessionKind.SUBAGENT: ("a subagent", "its parent"),
    SessionKind.CHECKPOINT: ("saved by hand", "saved from"),
    SessionKind.COPY: ("a copy; the session itself is elsewhere, if anywhere", "copied from"),
    SessionKind.LOST: ("lost: what was typed is what remains", ""),
}
"""What a session is that is no main one, and what its parent is to it."""

# Context that the agent put in stands in nearly every session; --all shows it.
ASK_FOR = {
    "replies": ("reply", "replies", "--detail conversation"),
    "thoughts": ("thought", "thoughts", "--thoughts"),
    "notices": ("notice", "notices", "--notices"),
    "rewound": ("rewound message", "rewound messages", "--all"),
    "synthetic": ("automatic message", "automatic messages", "--all"),
    "unrecognised": ("unrecognised part", "unrecognised parts", "--all"),
}


class Telling(NamedTuple):
    """A session, and how it is to be told."""

    session: Session
    detail: Detail
    agent_title: str
    show_command: Callable[[str], str]
    """What to type to see another session."""
    marks: Marks | None = None
    """What the user said of it."""


def draw_session(page: Page, telling: Telling) -> None:
    """Draw the heading, then the story, then what lies beside it."""
    _draw_heading(page, telling)
    draw_entries(page, transcript(telling.session, telling.detail), telling)
    draw_beside(page, telling.session, "--beside")


def draw_entries(page: Page, entries: Iterable[Entry], telling: Telling) -> None:
    """Draw a story, or a piece of one."""
    before: AnyPart | None = None
    for entry in entries:
        match entry:
            case Turn():
                if not entry.continues:
                    page.line()
                    page.line(*_speaker(entry, telling))
                    before = None
                _draw_parts(page, entry, before, telling)
                before = entry.parts[-1]
            case Pause(length=length, until=until):
                page.line()
                page.line((f"· · · {words.duration(length)} later, {words.moment(until)}", "quiet"))
            case Mark():
                page.line()
                page.line(("⟲ " + mark_sentence(entry), "warning"))
            case LeftOut(counts=counts):
                _draw_left_out(page, counts)


def draw_record(page: Page, record: Mapping[str, Any]) -> None:
    """Draw the messages of a record as the agent loaded it, without any judgement of ours."""
    page.line((str(record.get("sessionId", "no id")), "title"))
    for message in _objects(record.get("messages")):
        page.line()
        page.line((str(message.get("type", "message")), "title"), "  ", str(message.get("timestamp", "")))
        page.words("\n".join(_native_words(message.get("content"))), indent=INDENT)
        for call in _objects(message.get("toolCalls")):
            page.line(f"{call.get('name')}  {call.get('status')}", indent=INDENT)


def _draw_heading(page: Page, telling: Telling) -> None:
    session, said = telling.session, telling.marks
    page.line(((said and said.name) or session.title or "untitled", "title"))
    if said and said.name and session.title:
        page.line((session.title, "quiet"))
    place = words.path(session.project.path) if session.project.path else session.project.name
    page.line((place, "human"), ("  " + telling.agent_title, "quiet"))
    if session.kind in KINDS:
        page.words(_what_it_is(telling), "warning")
    page.line((_time_span(session), "quiet"))
    if session.kind is SessionKind.LOST:
        # Whether it was answered, by which model and for how many tokens is what is lost.
        page.line((session.id, "quiet"))
    else:
        models = ", ".join(session.models) or "model unknown"
        page.words(f"{models} · {words.tokens(session.usage)}", "quiet")
        mark, style = words.STATUS_MARKS[session.status]
        page.line((f"{mark} {session.status}", style), ("  " + session.id, "quiet"))
    if said:
        draw_marks(page, said)
    _draw_problems(page, telling)
    page.rule()


def _what_it_is(telling: Telling) -> str:
    """What kind of session this is, if no main one, and where it comes from."""
    session = telling.session
    mark, kind, parent = words.KIND_MARKS.get(session.kind, ""), *KINDS[session.kind]
    if session.parent_id and parent:
        kind = f"{kind}; {parent}: {telling.show_command(session.parent_id)}"
    elif session.kind is SessionKind.LOST and session.summary:
        kind = f"{kind} ({session.summary})"
    return f"{mark} {kind}".strip()


def _draw_problems(page: Page, telling: Telling) -> None:
    """How much is damaged, and on request where. Where a problem is may be told, what it hit may not."""
    problems = telling.session.problems
    if not problems:
        return
    hint = "" if telling.detail.notices else " (--notices names them)"
    page.line((f"⚠ {words.count(len(problems), 'problem')}{hint}", "warning"))
    for problem in problems if telling.detail.notices else ():
        place = f"{words.path(problem.file)}:{problem.line}" if problem.line else words.path(problem.file)
        page.words(f"{problem.kind}  {place}  {problem.detail}", "warning", indent=INDENT)


def _time_span(session: Session) -> str:
    if not session.started_at:
        return words.moment(session.ended_at) if session.ended_at else "no time"
    if not session.ended_at:
        return words.moment(session.started_at)
    begin, end = session.started_at.astimezone(), session.ended_at.astimezone()
    until = words.clock(end) if begin.date() == end.date() else words.moment(end)
    return f"{words.moment(begin)} to {until} ({words.duration(end - begin)})"


def _draw_parts(page: Page, turn: Turn, before: AnyPart | None, telling: Telling) -> None:
    for part in turn.parts:
        if before is not None and not _stand_together(before, part):
            page.line()
        _draw_part(page, part, turn.message, telling)
        before = part


def _stand_together(before: AnyPart, part: AnyPart) -> bool:
    """Close stand tool calls, a command and its output, words and the files they name; else there is room."""
    if isinstance(part, ToolCall):
        return isinstance(before, ToolCall)
    is_output = isinstance(part, Text) and part.origin in {Origin.COMMAND, Origin.SHELL}
    return (is_output and isinstance(before, Text)) or isinstance(part, FileReference | Attachment)


def _speaker(turn: Turn, telling: Telling) -> list[Span]:
    spans: list[Span] = [
        (speaker_name(turn, telling.agent_title), str(turn.speaker)),
        ("  " + words.clock(turn.message.at), "quiet"),
    ]
    if state := state_name(turn.message, everything=telling.detail.everything):
        spans.append((f"  [{state}]", "warning"))
    return spans


def _draw_part(page: Page, part: AnyPart, message: Message, telling: Telling) -> None:
    match part:
        case Text(text=text, origin=Origin.MODEL):
            page.markdown(text, indent=INDENT)
        case Text(text=text, origin=Origin.HUMAN) if message.origin is Origin.SHELL:
            page.words(f"! {text}", indent=INDENT)
        case Text(text=text, origin=Origin.COMMAND | Origin.SHELL) if not telling.detail.tools:
            _draw_shortened(page, text)
        case Text(text=text, origin=Origin.NOTICE):
            page.words(text or "(no words)", _notice_style(message), indent=INDENT)
        case Text(text=text):
            page.words(text, indent=INDENT)
        case Thought(text=text, subject=subject):
            page.words(f"{subject}\n{text}".strip(), "thought", indent=INDENT)
        case ToolCall():
            _draw_call(page, part, telling)
        case ToolResult(name=name, parts=parts):
            page.line((f"result of {name or 'a tool'}", "quiet"), indent=INDENT)
            for piece in parts:
                _draw_part(page, piece, message, telling)
        case Attachment(mime_type=mime_type, uri=uri):
            page.line(("▣ ", "tool"), uri or mime_type or "an attachment", indent=INDENT)
        case FileReference(path=path):
            page.line(("@ ", "tool"), path, indent=INDENT)
        case Unrecognised(raw=raw):
            page.words(f"unrecognised: {raw}", "quiet", indent=INDENT)


def _notice_style(message: Message) -> str:
    return {Level.ERROR: "bad", Level.WARNING: "warning"}.get(message.level or Level.INFO, "quiet")


def _draw_shortened(page: Page, text: str) -> None:
    lines = text.strip().split("\n")
    page.words("\n".join(lines[:SHORT_OUTPUT]), "quiet", indent=INDENT)
    if len(lines) > SHORT_OUTPUT:
        page.line(
            (f"… {words.count(len(lines) - SHORT_OUTPUT, 'more line')} (--tools)", "quiet"), indent=INDENT
        )


def _draw_call(page: Page, call: ToolCall, telling: Telling) -> None:
    mark, style = TOOL_MARKS[ToolStatus.ERROR if call.exit_code else call.status]
    spans: list[Span] = [(mark + " ", style), (call.name, "tool")]
    result = "" if telling.detail.tools else result_of_task(call)
    if argument := "" if result else telling_argument(call, telling.session.project.path):
        spans.append("  " + argument)
    if counts := changed_lines(call.changes):
        spans += [(f"  +{counts[0]}", "added"), (f" -{counts[1]}", "removed")]
    if call.exit_code:
        spans.append((f"  [exit {call.exit_code}]", "bad"))
    if call.status not in {ToolStatus.SUCCESS, ToolStatus.ERROR}:
        spans.append((f"  [{call.native_status or call.status}]", "warning"))
    page.line(*spans, indent=INDENT)
    if error := error_line(call):
        page.line((error, "bad"), indent=2 * INDENT)
    for answer in answer_lines(call):
        page.words(answer, "human", indent=2 * INDENT)
    if call.child_id:
        page.words(f"its session: {telling.show_command(call.child_id)}", "quiet", indent=2 * INDENT)
    if telling.detail.tools:
        _draw_arguments(page, call)
    if result:
        page.words(result, indent=2 * INDENT)
    _draw_diff(page, call, whole=telling.detail.tools)
    if telling.detail.tools:
        _draw_output(page, call)


def _draw_output(page: Page, call: ToolCall) -> None:
    """What a tool answered, and where that lies if it was too long for the session."""
    if moved := call.full_output:
        told = "the whole output" if moved.text is not None else "the whole output could not be read"
        page.words(f"{told}: {words.path(moved.path)}, {words.size(moved.size)}", "quiet", indent=2 * INDENT)
    lines = output_text(call).split("\n")
    for first in range(0, len(lines) if any(lines) else 0, LINES_AT_ONCE):
        page.words("\n".join(lines[first : first + LINES_AT_ONCE]), "quiet", indent=2 * INDENT)


def _draw_arguments(page: Page, call: ToolCall) -> None:
    for name, value in call.arguments.items():
        if isinstance(value, str) and "\n" in value:
            page.line((f"{name}:", "quiet"), indent=2 * INDENT)
            page.words(value, indent=3 * INDENT)
        else:
            page.line((f"{name}: ", "quiet"), str(value), indent=2 * INDENT)


def _draw_diff(page: Page, call: ToolCall, *, whole: bool) -> None:
    lines = diff_lines(call)
    shown = lines if whole else lines[:SHORT_DIFF]
    for line in shown:
        if whole:
            page.words(line, _diff_style(line), indent=2 * INDENT)
        else:
            page.line((line, _diff_style(line)), indent=2 * INDENT)
    if len(lines) > len(shown):
        page.line(
            (f"… {words.count(len(lines) - len(shown), 'more line')} (--tools)", "quiet"), indent=2 * INDENT
        )


def _diff_style(line: str) -> str:
    return {"+": "added", "-": "removed", "@": "hunk"}.get(line[:1], "")


def _draw_left_out(page: Page, counts: Mapping[str, int]) -> None:
    known = [
        f"{words.count(number, *ASK_FOR[name][:2])} ({ASK_FOR[name][2]})"
        for name, number in counts.items()
        if name in ASK_FOR
    ]
    if known:
        page.line()
        page.words("Not shown: " + ", ".join(known), "quiet")


def _objects(values: object) -> list[Mapping[str, Any]]:
    """The objects in a list; what an agent wrote may be anything."""
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []


def _native_words(content: Any) -> list[str]:
    """The words in a message's content, which may be a string, a part or a list of parts."""
    match content:
        case str(text) | {"text": str(text)}:
            return [text]
        case list(pieces):
            return [line for piece in pieces for line in _native_words(piece)]
        case {"functionCall": {"name": str(name)}}:
            return [f"(calls {name})"]
        case {"functionResponse": {"name": str(name)}}:
            return [f"(result of {name})"]
        case dict():
            return [f"({', '.join(map(str, content))})"]
        case _:
            return []
