"""A session drawn as a story: who said what, one line for what each tool did, where time passed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from geminids.core.disk import REAL
from geminids.core.model import (
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
    Unrecognised,
)
from geminids.core.values import NamedTuple
from geminids.faces.drawing.amounts import dollars
from geminids.faces.drawing.companions import draw_beside
from geminids.faces.drawing.marks import draw_marks
from geminids.faces.drawing.page import Page, Places, Span
from geminids.sharing.transcript import words
from geminids.sharing.transcript.call_summary import (
    answer_lines,
    changed_lines,
    diff_lines,
    error_line,
    line_argument,
    output_text,
    result_of_task,
    stand_together,
    value_words,
)
from geminids.sharing.transcript.entries import Detail, LeftOut, Mark, Pause, StoryEntry, Turn, transcript
from geminids.sharing.transcript.labels import (
    CALL_MARKS,
    NO_WORDS,
    UNRECOGNISED,
    attachment_name,
    branch_name,
    call_outcome,
    call_trouble,
    child_sentence,
    kind_sentence,
    left_out_sentence,
    made_by,
    mark_sentence,
    models_sentence,
    moved_sentence,
    pause_sentence,
    problem_line,
    problems_sentence,
    result_title,
    speaker_name,
    state_name,
    thought_title,
)
from geminids.sharing.transcript.limits import COMMAND_LINES, DIFF_LINES, first_lines, more_lines

if TYPE_CHECKING:
    from decimal import Decimal

    from geminids.query.usage.by_session import SessionUse
    from geminids.storage.durable.values import Marks

INDENT = 2

ASK_FOR: Mapping[str, str] = {
    "replies": "--detail conversation",
    "thoughts": "--thoughts",
    "notices": "--notices",
    "rewound": "--all",
    "synthetic": "--all",
    "unrecognised": "--all",
    "tools": "--tools",
    "problems": "--notices names them",
}
"""What to type to see what is left out, or only begun."""


class StoryContext(NamedTuple):
    """A session, and how it is to be drawn."""

    session: Session
    detail: Detail
    agent_title: str
    show_command: Callable[[str], str]
    """What to type to see another session."""
    marks: Marks | None = None
    """What the user said of it."""
    cost: Decimal | None = None
    """Dollars at list price; None where there is no price, or nothing that has one."""
    used: SessionUse | None = None
    """With the subagents that it led; None for a session of which only a file is known."""
    first: int | None = None
    """The number of the first message, as `search` names it and `--at` takes it; None: none has a number."""
    below: int = 0
    """How many messages stand after the last that is drawn."""
    found: Places | None = None
    """Where in a text the words stand that somebody looked for."""
    ask_for: Mapping[str, str] = ASK_FOR
    """How to see what is left out, by its name."""
    turn_use: Callable[[int], str] | None = None
    """What a turn used, by its place: said beside who speaks."""


def draw_session(page: Page, context: StoryContext) -> None:
    """Draw the heading, then the story, then what lies beside it."""
    draw_heading(page, context)
    _draw_count(page, (context.first or 1) - 1, "above")
    draw_entries(page, transcript(context.session, context.detail), context)
    _draw_count(page, context.below, "below")
    draw_beside(page, context.session, "--beside")


def _draw_count(page: Page, number: int, where: str) -> None:
    """Say how many messages are not drawn, so that nobody takes a piece for the whole."""
    if number:
        page.line()
        page.line((f"{words.count(number, 'message')} {where}", "quiet"))


def draw_entries(
    page: Page, entries: Iterable[StoryEntry], context: StoryContext, before: AnyPart | None = None
) -> None:
    """Draw a story, or a piece of one, which may go on after the part before it."""
    for entry in entries:
        match entry:
            case Turn():
                if not entry.continues:
                    page.line()
                    page.line(*_speaker(entry, context))
                    before = None
                with page.marking(context.found):
                    _draw_parts(page, entry, before, context)
                before = entry.parts[-1]
            case Pause():
                page.line()
                page.line((f"· · · {pause_sentence(entry)}", "quiet"))
            case Mark():
                page.line()
                page.line(("⟲ " + mark_sentence(entry), "warning"))
            case LeftOut(counts=counts):
                if sentence := left_out_sentence(counts, context.ask_for):
                    page.line()
                    page.words(sentence, "quiet")


def draw_record(page: Page, record: Mapping[str, Any]) -> None:
    """Draw the messages of a record as the agent loaded it, without any judgement of ours."""
    page.line((str(record.get("sessionId", "no id")), "title"))
    for message in _objects(record.get("messages")):
        page.line()
        page.line((str(message.get("type", "message")), "title"), "  ", str(message.get("timestamp", "")))
        page.words("\n".join(_native_words(message.get("content"))), indent=INDENT)
        for call in _objects(message.get("toolCalls")):
            page.line(f"{call.get('name')}  {call.get('status')}", indent=INDENT)


def draw_heading(page: Page, context: StoryContext) -> None:
    """Draw what is known of a session as a whole."""
    session, said = context.session, context.marks
    page.line(((said and said.name) or session.title or "untitled", "title"))
    if said and said.name and session.title:
        page.line((session.title, "quiet"))
    place = words.path(session.project.path) if session.project.path else session.project.name
    worked_with = filter(None, (branch_name(session), context.agent_title))
    page.line((place, "human"), ("  " + " · ".join(worked_with), "quiet"))
    if kind := kind_sentence(session, session.parent_id and context.show_command(session.parent_id)):
        page.words(kind, "warning")
    page.line((words.time_span(session.started_at, session.ended_at), "quiet"))
    if session.kind is SessionKind.LOST:
        # Whether it was answered, by which model and for how many tokens is what is lost.
        page.line((session.id, "quiet"))
    else:
        page.words(models_sentence(session, _cost(context)), "quiet")
        mark, style = words.STATUS_MARKS[session.status]
        page.line((f"{mark} {session.status}", style), ("  " + session.id, "quiet"))
    if session.kept:
        page.words(_copy_sentence(session), "quiet")
    if said:
        draw_marks(page, said)
    _draw_problems(page, context)
    page.rule()


def _copy_sentence(session: Session) -> str:
    """Why a session is read from a copy: its file is gone, or what is there now does not hold it."""
    is_damaged = any(REAL.is_file(file.path) for file in session.files if file.kept)
    return f"its file is {'damaged' if is_damaged else 'gone'}; read from a copy"


def _cost(context: StoryContext) -> str:
    """What the session cost, and what it cost with the subagents that it led."""
    alone = dollars(context.cost) if context.cost is not None else ""
    used = context.used
    if used is None or not used.subagents or used.cost is None:
        return alone
    together = f"{dollars(used.cost)} with {words.count(used.subagents, 'subagent')}"
    return f"{alone}, {together}" if alone else together


def _draw_problems(page: Page, context: StoryContext) -> None:
    """How much is damaged, and on request where. Where a problem is may be told, what it hit may not."""
    problems = context.session.problems
    if not problems:
        return
    hint = "" if context.detail.notices else f" ({context.ask_for['problems']})"
    page.line((f"{problems_sentence(len(problems))}{hint}", "warning"))
    for problem in problems if context.detail.notices else ():
        page.words(problem_line(problem, words.path(problem.file)), "warning", indent=INDENT)


def _draw_parts(page: Page, turn: Turn, before: AnyPart | None, context: StoryContext) -> None:
    # What goes on with a turn has no heading for its number; a call has room for it in its line.
    number = _number(turn, context) if turn.continues else ""
    for part in turn.parts:
        if before is not None and not stand_together(before, part):
            page.line()
        if isinstance(part, ToolCall):
            _draw_call(page, part, context, number)
        else:
            if number:
                page.line((number, "quiet"), indent=INDENT)
            _draw_part(page, part, turn.message, context)
        before, number = part, ""
    if context.detail.everything and (made := made_by(turn.message)):
        page.words(made, "quiet", indent=INDENT)


def _speaker(turn: Turn, context: StoryContext) -> list[Span]:
    number = _number(turn, context)
    spans: list[Span] = [
        (speaker_name(turn, context.agent_title), str(turn.speaker)),
        (f"  {number}" if number else "", "quiet"),
        ("  " + words.clock(turn.message.at), "quiet"),
    ]
    if context.turn_use and (used := context.turn_use(turn.place)):
        spans.append((f"  {used}", "quiet"))
    if state := state_name(turn.message, everything=context.detail.everything):
        spans.append((f"  [{state}]", "warning"))
    return spans


def _number(turn: Turn, context: StoryContext) -> str:
    """The number of a message, as it is shown; nothing where messages have none."""
    return "" if context.first is None else f"#{context.first + turn.place}"


def _draw_part(page: Page, part: AnyPart, message: Message, context: StoryContext) -> None:
    match part:
        case Text(text=text, origin=Origin.MODEL):
            page.markdown(text, indent=INDENT)
        case Text(text=text, origin=Origin.HUMAN) if message.origin is Origin.SHELL:
            page.words(f"! {text}", indent=INDENT)
        case Text(text=text, origin=Origin.COMMAND | Origin.SHELL) if not context.detail.tools:
            page.words(first_lines(text, COMMAND_LINES, context.ask_for["tools"]), "quiet", indent=INDENT)
        case Text(text=text, origin=Origin.NOTICE):
            page.words(text or NO_WORDS, _notice_style(message), indent=INDENT)
        case Text(text=text):
            page.words(text, indent=INDENT)
        case Thought(text=text):
            page.words(f"{thought_title(part)}\n{text}".rstrip(), "thought", indent=INDENT)
        case ToolCall():
            _draw_call(page, part, context)
        case ToolResult(parts=parts):
            page.line((result_title(part), "quiet"), indent=INDENT)
            for piece in parts:
                _draw_part(page, piece, message, context)
        case Attachment():
            page.line(("▣ ", "tool"), attachment_name(part), indent=INDENT)
        case FileReference(path=path, text=text):
            page.line(("@ ", "tool"), path, indent=INDENT)
            if text and context.detail.tools:
                page.words(text.strip("\n"), "quiet", indent=2 * INDENT)
        case Unrecognised(raw=raw):
            page.words(f"{UNRECOGNISED}: {value_words(raw)}", "quiet", indent=INDENT)


def _notice_style(message: Message) -> str:
    return {Level.ERROR: "bad", Level.WARNING: "warning"}.get(message.level or Level.INFO, "quiet")


def _draw_call(page: Page, call: ToolCall, context: StoryContext, number: str = "") -> None:
    mark, style = CALL_MARKS[call_outcome(call)]
    spans: list[Span] = [(mark + " ", style), (call.name, "tool"), (f"  {number}" if number else "", "quiet")]
    tells_all = context.detail.tools
    if argument := line_argument(call, context.session.project.path, is_whole_below=tells_all):
        spans.append("  " + argument)
    if counts := changed_lines(call.changes):
        spans += [(f"  +{counts[0]}", "added"), (f" -{counts[1]}", "removed")]
    if trouble := call_trouble(call):
        spans.append((f"  ({trouble})", style))
    page.line(*spans, indent=INDENT)
    if error := error_line(call):
        page.line((error, "bad"), indent=2 * INDENT)
    for answer in answer_lines(call):
        page.words(answer, "human", indent=2 * INDENT)
    if call.child_id:
        page.words(child_sentence(context.show_command(call.child_id)), "quiet", indent=2 * INDENT)
    if tells_all:
        _draw_arguments(page, call)
    elif result := result_of_task(call):
        page.words(result, indent=2 * INDENT)
    # A convenience of the terminal: documents tell a change in one line unless tools are told.
    _draw_diff(page, call, context, whole=tells_all)
    if tells_all:
        _draw_output(page, call)


def _draw_output(page: Page, call: ToolCall) -> None:
    """What a tool answered, and where that lies if it was too long for the session."""
    if moved := call.full_output:
        page.words(moved_sentence(moved, words.path(moved.path)), "quiet", indent=2 * INDENT)
    if (output := output_text(call)).strip("\n"):
        page.words(output, "quiet", indent=2 * INDENT)


def _draw_arguments(page: Page, call: ToolCall) -> None:
    for name, value in call.arguments.items():
        shown = value_words(value)
        if "\n" in shown:
            page.line((f"{name}:", "quiet"), indent=2 * INDENT)
            page.words(shown, indent=3 * INDENT)
        else:
            page.line((f"{name}: ", "quiet"), shown, indent=2 * INDENT)


def _draw_diff(page: Page, call: ToolCall, context: StoryContext, *, whole: bool) -> None:
    lines = diff_lines(call)
    shown = lines if whole else lines[:DIFF_LINES]
    for line in shown:
        if whole:
            page.words(line, _diff_style(line), indent=2 * INDENT)
        else:
            page.line((line, _diff_style(line)), indent=2 * INDENT)
    if len(lines) > len(shown):
        more = more_lines(len(lines) - len(shown), context.ask_for["tools"])
        page.line((more, "quiet"), indent=2 * INDENT)


def _diff_style(line: str) -> str:
    return {"+": "added", "-": "removed", "@": "hunk"}.get(line[:1], "")


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
