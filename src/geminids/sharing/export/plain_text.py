"""`text`: a session in plain words, as `geminids show` tells it in a pipe; times are UTC."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from geminids.core.model import (
    AnyPart,
    Attachment,
    FileReference,
    Message,
    Origin,
    Session,
    Text,
    Thought,
    ToolCall,
    ToolResult,
    Unrecognised,
)
from geminids.sharing.export.base import Manner, PlainFormat, encoded, title_of
from geminids.sharing.export.sentences import about, between, call_end, speaker
from geminids.sharing.transcript import safe
from geminids.sharing.transcript.call_summary import (
    answer_lines,
    diff_lines,
    error_line,
    line_argument,
    output_text,
    result_of_task,
    stand_together,
    value_words,
)
from geminids.sharing.transcript.entries import LeftOut, Turn, transcript
from geminids.sharing.transcript.labels import (
    NO_WORDS,
    UNRECOGNISED,
    attachment_name,
    call_mark,
    child_sentence,
    left_out_sentence,
    made_by,
    moved_sentence,
    result_title,
    thought_title,
)
from geminids.sharing.transcript.limits import COMMAND_LINES, first_lines

INDENT = 2
RULE = "-" * 72
BETWEEN_SESSIONS = "=" * 72


class PlainText(PlainFormat):
    """Sessions as plain words."""

    name = "text"
    title = "Plain text"
    summary = "Plain words, for mail, notes and everything that knows no markup."
    suffix = ".txt"
    holds_many = True
    level = "conversation"

    def write(self, sessions: Iterable[Session], manner: Manner) -> Iterator[bytes]:
        """One session after the other, an entry at a time."""
        for number, session in enumerate(sessions):
            if number:
                yield encoded(f"\n{BETWEEN_SESSIONS}\n\n")
            yield encoded(_heading(session, manner))
            yield from map(encoded, _entries(session, manner))


def turn_text(turn: Turn, session: Session, manner: Manner) -> str:
    """What one turn tells, without whose it is."""
    return "".join(_turn(turn, None, session, manner))


def _heading(session: Session, manner: Manner) -> str:
    lines = [title_of(session, manner), *about(session, manner)]
    return "".join(f"{safe.line(line).rstrip()}\n" for line in (*lines, RULE))


def _entries(session: Session, manner: Manner) -> Iterator[str]:
    before: AnyPart | None = None
    for entry in transcript(session, manner.detail):
        match entry:
            case Turn():
                if not entry.continues:
                    yield f"\n{safe.line('  '.join(speaker(entry, session, manner)))}\n"
                    before = None
                yield "".join(_turn(entry, before, session, manner))
                before = entry.parts[-1]
            case LeftOut(counts=counts):
                if sentence := left_out_sentence(counts):
                    yield f"\n{sentence}\n"
            case _:
                yield f"\n{between(entry)}\n"


def _turn(turn: Turn, before: AnyPart | None, session: Session, manner: Manner) -> Iterator[str]:
    for part in turn.parts:
        if before is not None and not stand_together(before, part):
            yield "\n"
        yield from _part(part, turn.message, session, manner)
        before = part
    if manner.detail.everything and (made := made_by(turn.message)):
        yield _line(made)


def _part(part: AnyPart, message: Message, session: Session, manner: Manner) -> Iterator[str]:
    match part:
        case Text(text=text, origin=Origin.HUMAN) if message.origin is Origin.SHELL:
            yield _indented(f"! {text}")
        case Text(text=text, origin=Origin.COMMAND | Origin.SHELL) if not manner.detail.tools:
            yield _indented(first_lines(text, COMMAND_LINES))
        case Text(text=text):
            yield _indented(text or NO_WORDS)
        case Thought(text=text):
            yield _indented(f"{thought_title(part)}\n{text}".rstrip())
        case ToolCall():
            yield from _call(part, session, manner)
        case ToolResult(parts=parts):
            yield _line(result_title(part))
            for piece in parts:
                yield from _part(piece, message, session, manner)
        case Attachment():
            yield _line(f"▣ {attachment_name(part)}")
        case FileReference(path=path, text=text):
            yield _line(f"@ {path}")
            if text and manner.detail.tools:
                yield _indented(text.strip("\n"), 2)
        case Unrecognised(raw=raw):
            yield _indented(f"{UNRECOGNISED}: {value_words(raw)}")


def _call(call: ToolCall, session: Session, manner: Manner) -> Iterator[str]:
    shows_all = manner.detail.tools
    argument = line_argument(call, session.project.path, is_whole_below=shows_all)
    seen = [f"{call_mark(call)} {call.name}", argument, call_end(call)]
    yield _line("  ".join(piece for piece in seen if piece))
    if error := error_line(call):
        yield _line(error, 2)
    for answer in answer_lines(call):
        yield _line(answer, 2)
    if call.child_id:
        yield _line(child_sentence(call.child_id), 2)
    if shows_all:
        yield from _inside_call(call)
    elif result := result_of_task(call):
        yield _indented(result, 2)


def _inside_call(call: ToolCall) -> Iterator[str]:
    for name, value in call.arguments.items():
        shown = value_words(value)
        if "\n" in shown:
            yield _line(f"{name}:", 2)
            yield _indented(shown, 3)
        else:
            yield _line(f"{name}: {shown}", 2)
    if diff := diff_lines(call):
        yield _indented("\n".join(diff), 2)
    if moved := call.full_output:
        yield _line(moved_sentence(moved, moved.path), 2)
    if output := output_text(call).strip("\n"):
        yield _indented(output, 2)


def _line(text: str, steps: int = 1) -> str:
    return f"{' ' * INDENT * steps}{safe.line(text)}".rstrip() + "\n"


def _indented(text: str, steps: int = 1) -> str:
    margin = " " * INDENT * steps
    return "".join([f"{margin}{line}".rstrip() + "\n" for line in safe.text(text).split("\n")])
