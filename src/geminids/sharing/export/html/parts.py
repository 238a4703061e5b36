"""The parts of a turn: words, thoughts, pictures, files, and what nobody could name."""

from __future__ import annotations

from geminids.core.model import (
    AnyPart,
    Attachment,
    FileReference,
    Level,
    Message,
    Origin,
    Text,
    Thought,
    ToolCall,
    ToolResult,
    Unrecognised,
)
from geminids.sharing.export.html.calls import tool_call
from geminids.sharing.export.html.markup import Markup, filled, joined, line, text
from geminids.sharing.export.html.pictures import attachment
from geminids.sharing.export.html.pieces import PageFacts, box, fold
from geminids.sharing.export.html.prose import prose
from geminids.sharing.transcript import words
from geminids.sharing.transcript.call_summary import value_words
from geminids.sharing.transcript.labels import NO_WORDS, UNRECOGNISED, result_title, thought_title
from geminids.sharing.transcript.limits import UNFOLDED_LETTERS, UNFOLDED_LINES


def part_markup(part: AnyPart, message: Message, facts: PageFacts) -> Markup:
    """One part of a turn."""
    match part:
        case ToolCall():
            return tool_call(part, facts)
        case Thought():
            return _thought(part)
        case Text():
            return _words(part, message)
        case Attachment():
            return attachment(part)
        case FileReference(path=path, text=content):
            name = filled('<span class="argument">@ {}</span>', line(path))
            if not content or not facts.detail.tools:
                return filled('<p class="attachment">{}</p>\n', name)
            return fold("file", name, box(text(content)))
        case ToolResult(parts=parts):
            inside = joined(part_markup(piece, message, facts) for piece in parts)
            return fold("result", line(result_title(part)), inside)
        case Unrecognised(raw=raw):
            return fold("result", Markup(UNRECOGNISED), box(text(value_words(raw, indented=True))))


def _thought(thought: Thought) -> Markup:
    summary = line(thought_title(thought))
    if not thought.text.strip():
        return filled('<p class="thought">{}</p>\n', summary)
    return fold("thought", summary, filled('<div class="prose">{}</div>', prose(thought.text)))


def _words(part: Text, message: Message) -> Markup:
    match part.origin:
        case Origin.MODEL:
            return filled('<div class="prose">{}</div>\n', prose(part.text))
        case Origin.HUMAN if message.origin is Origin.SHELL:
            return filled('<div class="said typed">! {}</div>\n', text(part.text))
        case Origin.HUMAN:
            return filled('<div class="said">{}</div>\n', text(part.text))
        case Origin.NOTICE:
            level = Markup(message.level or Level.INFO)
            return filled('<div class="notice {}">{}</div>\n', level, text(part.text or NO_WORDS))
        case _:
            return _folded_if_long(part)


def _folded_if_long(part: Text) -> Markup:
    """What a command printed or was expanded to, context that was put in, words in somebody's name."""
    lines = part.text.count("\n") + 1
    if lines <= UNFOLDED_LINES and len(part.text) <= UNFOLDED_LETTERS:
        return box(text(part.text))
    named = Markup(f"{str(part.origin).capitalize()}, {words.count(lines, 'line')}")
    return fold("result", named, box(text(part.text)))
