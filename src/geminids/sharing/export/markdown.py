"""`markdown`: a session to read on any forge, and raw in a terminal.

    ---                                       front matter, where the file holds one session
    # <title>
    ## You · 10:01                            a turn; times are UTC
    > what the human typed, literally         a quote, in which no sign means anything
    what the model said                       Markdown, contained
    <details><summary>● replace …</summary>   a tool call: arguments, diff, output; folded

The words of a session can break neither this structure nor the page that a forge makes of it, and call
nobody there: `contained.py`, `fences.py` and `references.py` see to that. The only tags are ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from itertools import groupby
from typing import Any
from urllib.parse import quote

import msgspec

from geminids.core import agents
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
from geminids.sharing.export.attachments import content_of, file_name, is_picture
from geminids.sharing.export.base import Entry, Manner, PlainFormat, encoded, title_of
from geminids.sharing.export.contained import contained
from geminids.sharing.export.fences import cell, code, fenced, literal, quoted
from geminids.sharing.export.front_matter import front_matter
from geminids.sharing.export.references import as_code_in_html
from geminids.sharing.export.sentences import about, between, call_end, speaker
from geminids.sharing.export.table import COLUMNS, is_mixed, newest_first, note, row, summary
from geminids.sharing.transcript import safe, words
from geminids.sharing.transcript.call_summary import (
    answer_lines,
    diff_lines,
    error_line,
    line_argument,
    output_text,
    result_of_task,
    value_words,
)
from geminids.sharing.transcript.entries import LeftOut, StoryEntry, Turn, transcript
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
from geminids.sharing.transcript.visible import visible_session


class Markdown(PlainFormat):
    """Sessions as one Markdown file."""

    name = "markdown"
    title = "Markdown"
    summary = "To read on any forge or in an editor; tool calls fold."
    suffix = ".md"
    holds_many = True
    level = "tools"
    options = frozenset({"share", "files_folder"})
    contents_name = "README.md"

    def write(self, sessions: Iterable[Session], manner: Manner) -> Iterator[bytes]:
        """The file, a turn at a time."""
        if manner.share:
            yield from agents.writer().shared(visible_session(session, manner.detail) for session in sessions)
            return
        gap = b""
        for block in _file(sessions, manner):
            yield gap + encoded(block)
            gap = b"\n\n"
        yield b"\n"

    def contents(self, entries: Iterable[Entry], manner: Manner) -> Iterator[bytes]:
        """A table with a line for each file, newest first."""
        ordered = newest_first(entries)
        shows_redaction = is_mixed(ordered)
        yield encoded(f"# Sessions\n\n{summary(ordered)}. Times are UTC.\n\n")
        if redacted := note(ordered, manner):
            yield encoded(f"{literal(safe.line(redacted))}\n\n")
        yield encoded(f"| {' | '.join(COLUMNS)} |\n| --- | --- | --- | --- | ---: | ---: | --- |\n")
        for entry in ordered:
            yield encoded(_row(entry, manner, shows_redaction=shows_redaction))


def _file(sessions: Iterable[Session], manner: Manner) -> Iterator[str]:
    for number, (session, is_only) in enumerate(_with_is_only(sessions)):
        if is_only:
            yield front_matter(session, manner)
        elif number:
            yield "---"
        yield from _blocks(session, manner)


def _with_is_only(sessions: Iterable[Session]) -> Iterator[tuple[Session, bool]]:
    """Each session, and whether it is the only one. Of many sessions no more than two are held."""
    ahead = iter(sessions)
    first, second = next(ahead, None), next(ahead, None)
    if first is None:
        return
    yield first, second is None
    del first
    if second is None:
        return
    yield second, False
    del second
    for session in ahead:
        yield session, False


def _blocks(session: Session, manner: Manner) -> Iterator[str]:
    """The document of one session, in blocks with blank lines between them."""
    yield f"# {literal(safe.line(title_of(session, manner)))}"
    yield "  \n".join(literal(safe.line(line)) for line in about(session, manner))
    yield from story_blocks(transcript(session, manner.detail), session, manner)


def story_blocks(entries: Iterable[StoryEntry], session: Session, manner: Manner) -> Iterator[str]:
    """The story of a session or some of it, in blocks with blank lines between them."""
    for entry in entries if manner.detail.tools else _joined(entries):
        match entry:
            case Turn():
                if turn := "\n\n".join(_turn(entry, session, manner)):
                    yield turn
            case LeftOut(counts=counts):
                if sentence := left_out_sentence(counts):
                    yield f"*{sentence}*"
            case _:
                yield f"*{between(entry)}*"


def _joined(entries: Iterable[StoryEntry]) -> Iterator[StoryEntry]:
    """The entries of a story, those in which the model goes on as one: their calls are one list."""
    turn: Turn | None = None
    parts: list[AnyPart] = []
    for entry in entries:
        if isinstance(entry, Turn) and entry.continues and turn:
            parts += entry.parts
            continue
        if turn:
            yield msgspec.structs.replace(turn, parts=tuple(parts))
            turn = None
        if isinstance(entry, Turn):
            turn, parts = entry, list(entry.parts)
        else:
            yield entry
    if turn:
        yield msgspec.structs.replace(turn, parts=tuple(parts))


def _turn(turn: Turn, session: Session, manner: Manner) -> Iterator[str]:
    if not turn.continues:
        yield "## " + " · ".join(literal(safe.line(piece)) for piece in speaker(turn, session, manner))
    if manner.detail.tools:
        for part in turn.parts:
            yield from _part(part, turn.message, session, manner)
        if manner.detail.everything and (made := made_by(turn.message)):
            yield f"*{literal(safe.line(made))}*"
        return
    for are_calls, parts in groupby(turn.parts, lambda part: isinstance(part, ToolCall)):
        shown = list(parts)
        if are_calls:
            calls = [part for part in shown if isinstance(part, ToolCall)]
            yield "\n".join(line for call in calls for line in _call_in_a_line(call, session))
        else:
            for part in shown:
                yield from _part(part, turn.message, session, manner)


def _part(part: AnyPart, message: Message, session: Session, manner: Manner) -> Iterator[str]:
    match part:
        case Text():
            yield from _text(part, message, manner)
        case ToolCall():
            yield from _call(part, session, manner)
        case Thought(text=text):
            yield _folded(thought_title(part), _markdown(text))
        case ToolResult(parts=parts):
            blocks = [block for piece in parts for block in _part(piece, message, session, manner)]
            yield _folded(result_title(part), *blocks)
        case Attachment():
            yield _attachment(part, manner)
        case FileReference(path=path, text=str(text)) if manner.detail.tools:
            yield _folded(f"@ {path}", _code_block(text))
        case FileReference(path=path):
            yield f"@ {code(safe.line(path))}"
        case Unrecognised(raw=raw):
            yield _folded(UNRECOGNISED, _code_block(value_words(raw), "json"))


def _text(part: Text, message: Message, manner: Manner) -> Iterator[str]:
    match part:
        case Text(text=text, origin=Origin.MODEL):
            if written := _markdown(text):
                yield written
        case Text(text=text, origin=Origin.HUMAN) if message.origin is Origin.SHELL:
            yield quoted(safe.text(f"! {text}"), as_code=True)
        case Text(text=text, origin=Origin.COMMAND | Origin.SHELL):
            yield _code_block(text if manner.detail.tools else first_lines(text, COMMAND_LINES))
        case Text(text=text, origin=Origin.INJECTED):
            yield _folded(f"Context, {words.count(text.count(chr(10)) + 1, 'line')}", _code_block(text))
        case Text(text=text, origin=Origin.TOOL):
            yield _code_block(text)
        case Text(text=text):
            yield quoted(safe.text(text).strip("\n") or NO_WORDS)


def _call(call: ToolCall, session: Session, manner: Manner) -> Iterator[str]:
    """A folded call, and below it what a reader should not have to unfold."""
    argument = line_argument(call, session.project.path, is_whole_below=True)
    seen = [f"{call_mark(call)} {call.name}", argument, call_end(call)]
    yield _folded("  ".join(filter(None, seen)), *_inside_call(call, manner))
    if error := error_line(call):
        yield f"✗ {literal(safe.line(error))}"
    if answers := answer_lines(call):
        yield quoted(safe.text("\n".join(answers)))
    if call.child_id:
        yield words.capital(child_sentence(code(safe.line(call.child_id))))


def _inside_call(call: ToolCall, manner: Manner) -> Iterator[str]:
    if call.arguments:
        yield _code_block("\n".join(_argument(name, value) for name, value in call.arguments.items()))
    if diff := diff_lines(call):
        yield _code_block("\n".join(diff), "diff")
    if moved := call.full_output:
        yield words.capital(moved_sentence(moved, code(safe.line(moved.path))))
    if output := output_text(call).strip("\n"):
        yield _code_block(output)
    for piece in call.result:
        match piece:
            case Attachment():
                yield _attachment(piece, manner)
            case Unrecognised(raw=raw) if manner.detail.everything:
                yield _code_block(value_words(raw), "json")


def _argument(name: str, value: Any) -> str:
    shown = value_words(value)
    if "\n" in shown:
        shown = "\n" + shown.removesuffix("\n")
        return f"{name}:{shown.replace(chr(10), chr(10) + '  ')}"
    return f"{name}: {shown}"


def _call_in_a_line(call: ToolCall, session: Session) -> Iterator[str]:
    """A call as an item of a list, with what the human answered or a subagent handed back below it."""
    argument = safe.line(line_argument(call, session.project.path, is_whole_below=False))
    pieces = [call_mark(call), code(safe.line(call.name)), argument and code(argument), call_end(call)]
    line = "- " + " ".join(filter(None, [*pieces[:3], literal(safe.line(pieces[3]))]))
    if error := error_line(call):
        line += f": {literal(safe.line(error))}"
    yield line
    if answers := answer_lines(call):
        yield _indented(quoted(safe.text("\n".join(answers))))
    if result := result_of_task(call):
        yield "\n" + _indented(quoted(safe.text(result)))
    if call.child_id:
        yield f"  - {child_sentence(code(safe.line(call.child_id)))}"


def _attachment(attachment: Attachment, manner: Manner) -> str:
    """A picture or a link where files are written beside the document, else what it is."""
    name = safe.line(attachment_name(attachment))
    content = content_of(attachment)
    if content is None or manner.files_folder is None:
        return f"▣ {code(name)}"
    place = quote(encoded(f"{manner.files_folder}/{file_name(attachment, content)}"))
    return f"{'!' if is_picture(attachment) else ''}[{literal(name)}]({place})"


def _folded(line: str, *inside: str) -> str:
    seen = as_code_in_html(escape(safe.line(line), quote=False))
    return "\n\n".join((f"<details><summary>{seen}</summary>", *filter(None, inside), "</details>"))


def _markdown(text: str) -> str:
    return contained(safe.text(text).strip("\n"))


def _code_block(text: str, language: str = "") -> str:
    return fenced(safe.text(text).strip("\n"), language)


def _indented(block: str) -> str:
    return "  " + block.replace("\n", "\n  ")


def _row(entry: Entry, manner: Manner, *, shows_redaction: bool) -> str:
    about = row(entry, manner, shows_redaction=shows_redaction)
    cells = [
        about.last,
        f"[{cell(safe.line(about.title))}]({quote(encoded(entry.file))}) {about.note}".strip(),
        cell(safe.line(about.project)),
        cell(safe.line(about.agent)),
        f"{about.prompts:,}",
        f"{about.tool_calls:,}",
        cell(safe.line(about.status)),
    ]
    return f"| {' | '.join(cells)} |\n"
