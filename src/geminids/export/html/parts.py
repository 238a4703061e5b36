"""The parts of a turn: words, thoughts, pictures, files, and what nobody could name."""

from __future__ import annotations

from geminids.export.html.calls import in_words, tool_call
from geminids.export.html.markup import Markup, filled, joined, line, text
from geminids.export.html.pictures import attachment
from geminids.export.html.prose import prose
from geminids.export.html.telling import Telling, box, fold
from geminids.model import (
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
from geminids.transcript import words

SHORT_OUTPUT = 12
"""Lines of what a command of the human produced; more is folded."""


def part_markup(part: AnyPart, message: Message, telling: Telling) -> Markup:
    """One part of a turn."""
    match part:
        case ToolCall():
            return tool_call(part, telling)
        case Thought():
            return _thought(part)
        case Text():
            return _words(part, message)
        case Attachment():
            return attachment(part)
        case FileReference(path=path, text=content):
            name = filled('<span class="argument">@ {}</span>', line(path))
            if not content or not telling.detail.tools:
                return filled('<p class="attachment">{}</p>\n', name)
            return fold("file", name, box(text(content)))
        case ToolResult(name=name, parts=parts):
            inside = joined(part_markup(piece, message, telling) for piece in parts)
            return fold("result", line(f"Result of {name or 'a tool'}"), inside)
        case Unrecognised(raw=raw):
            return fold("result", Markup("Not recognised"), box(text(in_words(raw))))


def _thought(thought: Thought) -> Markup:
    summary = filled("Thought{}", line(f": {thought.subject}" if thought.subject else ""))
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
            return filled('<div class="notice {}">{}</div>\n', level, text(part.text or "(no words)"))
        case _:
            return _folded_if_long(part)


def _folded_if_long(part: Text) -> Markup:
    """What a command printed or was expanded to, context that was put in, words in somebody's name."""
    lines = part.text.count("\n") + 1
    if lines <= SHORT_OUTPUT and len(part.text) <= 100 * SHORT_OUTPUT:
        return box(text(part.text))
    named = Markup(f"{str(part.origin).capitalize()}, {words.count(lines, 'line')}")
    return fold("result", named, box(text(part.text)))
