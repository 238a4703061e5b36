"""Who said it: telling the human's words from everything else that a `user` message holds.

A `user` message may be a tool's answer, context that the CLI put in, a nudge it invented, or the
output of a shell command; and the human's own words may be fused with any of these in one string.
So each piece gets an origin of its own, and the message takes the most telling one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from geminids.agents.gemini.own_words import whose_words
from geminids.agents.gemini.phrases import EDITOR_FILES_BEGIN, FILES_BEGIN, FILES_END, GO_ON, SUMMARY_RECEIVED
from geminids.agents.gemini.read.content import parts_of, plain_text, result_part, tool_result
from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.model import AnyPart, Attachment, FileReference, Origin, Text, ToolResult

CONTEXT_ID = "d04923d38bb0f6017037e74183378ef4"
"""The id of the injected context message, the same in every session since 0.44.0."""

ACKNOWLEDGEMENTS = frozenset(
    {
        SUMMARY_RECEIVED,
        "Got it. Thanks for the context!",
        "Binary content received. Proceeding with analysis.",
        "[The previous response was interrupted before it completed.]",
    }
)
"""What the CLI says in the model's name."""

_HOOK = lazy_pattern(r"\s*<hook_context>.*?</hook_context>(?:\n\n)?", re.DOTALL)
_SHELL_MODE = lazy_pattern(
    r"I ran the following shell command:\n```sh\n(?P<command>.*?)\n```\n\n"
    r"This produced the following result:\n```\n(?P<output>.*)\n```\s*",
    re.DOTALL,
)
_MOST_TELLING = (Origin.COMMAND, Origin.SHELL, Origin.HUMAN, Origin.TOOL, Origin.SYNTHETIC)
_HUMAN = Origin.HUMAN
"""Under a name that Python looks up faster: every piece is asked for it."""
_STEERING = lazy_pattern(r"User (?:steering update|hints):")
_USER_INPUT = lazy_pattern(r"<user_input>\n?((?:(?!<user_input>).)*?)\n?</user_input>", re.DOTALL)
_FILES = (FILES_BEGIN, EDITOR_FILES_BEGIN)
_REFERENCED = "\n--- Content from referenced "
_ANY_FILES = lazy_pattern("|".join(map(re.escape, _FILES)))
_REFERENCE = lazy_pattern(r"\nContent from @(.*?):\n")
_MIME_TYPE = r"(?:image|audio|video|application)/[\w.+-]+"
_PLACEHOLDER = lazy_pattern(rf"(?:<|\[(?:Image|Audio|Video|Media): )({_MIME_TYPE})(?:>|[^\]]*\])")


class Prompt(NamedTuple):
    """What a human typed, and what the CLI made of it."""

    typed: str
    sent: str


def user_parts(content: object, shown: object, previous: Prompt | None) -> tuple[AnyPart, ...]:
    """The pieces of a `user` message, each with its origin.

    `shown` is its displayContent: what the human typed, where that differs from what was sent.
    """
    if isinstance(content, str) and _REFERENCED not in content:
        # One text without files: there is nothing to look for in it but whose it is.
        parts: tuple[AnyPart, ...] = tuple([Text(words, whose) for words, whose in _whose(content)])
    else:
        pieces = parts_of(content)
        if any(isinstance(piece, dict) and "functionResponse" in piece for piece in pieces):
            return tuple(_tool_turn(pieces))
        parts = tuple(_split_references(pieces))
    if not shown:
        return parts
    typed = "".join(text for text, origin in _whose(plain_text(shown)) if origin is Origin.HUMAN)
    sent = _human_words(parts)
    if not typed.strip() or typed.strip() == sent.strip():
        return parts
    if previous is not None and typed == previous.typed and _goes_on_from(previous, sent, parts):
        return tuple(_given_to(Origin.SYNTHETIC, parts))
    return _typed_and_sent(typed, parts)


def beside_typed(parts: tuple[AnyPart, ...], typed: str) -> tuple[AnyPart, ...] | None:
    """What was sent with what was typed for it before it; None if it is there already, or not the human's."""
    sent = _human_words(parts)
    given = {part.origin for part in parts if isinstance(part, Text)} - {Origin.HUMAN, Origin.SHELL}
    if not sent.strip() or typed.strip() == sent.strip() or given:
        return None
    return _typed_and_sent(typed, parts)


def _typed_and_sent(typed: str, sent: tuple[AnyPart, ...]) -> tuple[AnyPart, ...]:
    whose = Origin.COMMAND if typed.lstrip().startswith("/") else Origin.INJECTED
    return (Text(typed, Origin.HUMAN), *_given_to(whose, sent))


def prompt_of(message_parts: tuple[AnyPart, ...]) -> Prompt | None:
    """What the human typed in a message, and what was sent for it; None if it is no prompt."""
    if ToolResult in map(type, message_parts):
        return None
    typed = _human_words(message_parts)
    if not typed:
        return None
    expanded = (Origin.COMMAND, Origin.INJECTED)
    sent = "\n".join(p.text for p in message_parts if isinstance(p, Text) and p.origin in expanded)
    return Prompt(typed, sent or typed)


def _goes_on_from(previous: Prompt, sent: str, parts: tuple[AnyPart, ...]) -> bool:
    """Whether the CLI went on by itself ("Please continue.").

    It then attaches the last prompt as the words typed; taken at face value that repeats the human.
    But a human may also type the same once more, and it is expanded in the same way.
    """
    if sent.strip() == GO_ON:
        return True
    expands = any(isinstance(part, FileReference | Attachment) for part in parts)
    return not expands and previous.typed.strip() not in sent and previous.sent.strip() != sent.strip()


def _human_words(parts: tuple[AnyPart, ...]) -> str:
    return "\n".join([part.text for part in parts if type(part) is Text and part.origin is _HUMAN])


def _given_to(whose: Origin, parts: tuple[AnyPart, ...]) -> Iterator[AnyPart]:
    """The same pieces, with the human's words given to somebody else."""
    for part in parts:
        human = isinstance(part, Text) and part.origin is Origin.HUMAN
        yield Text(part.text, whose) if isinstance(part, Text) and human else part


def _tool_turn(pieces: list[Any]) -> Iterator[AnyPart]:
    for piece in pieces:
        match piece:
            case {"functionResponse": dict(response)}:
                yield tool_result(response)
            case {"text": str(text)} if _STEERING.match(text):
                yield from (Text(words, whose) for words, whose in _steering(text))
            case _:
                # Plain text beside a tool's answer is the tool's.
                yield result_part(piece)


def _split_references(pieces: list[Any]) -> Iterator[AnyPart]:
    """Texts by origin, and the files put in for `@path` as references with their text."""
    in_references = False
    path: str | None = None
    texts: list[str] = []
    for piece in pieces:
        text = piece.get("text") if isinstance(piece, dict) else None
        if not isinstance(text, str):
            yield result_part(piece, Origin.HUMAN)
        elif in_references:
            if (start := _REFERENCE.fullmatch(text)) or text == FILES_END or text in _FILES:
                yield from _reference(path, texts)
                path, texts = (start[1] if start else None), []
                in_references = text != FILES_END
            else:
                texts.append(text)
        elif text in _FILES:
            in_references = True
        elif _ANY_FILES.search(text):
            yield from _split_string(text)
        else:
            yield from (Text(words, whose) for words, whose in _whose(text))
    yield from _reference(path, texts)


def _reference(path: str | None, texts: list[str]) -> Iterator[AnyPart]:
    if path is not None:
        yield FileReference(path, "".join(texts))
    elif texts:
        yield Text("".join(texts), Origin.INJECTED)


def _split_string(text: str) -> Iterator[AnyPart]:
    """The same for a prompt that was stored as one string (0.4 to 0.27)."""
    prompt, files = _ANY_FILES.split(text, maxsplit=1)
    # A file may hold the closing line itself; the real one is the last.
    closed, has_end, after = files.rpartition(FILES_END)
    yield from (Text(words, whose) for words, whose in _whose(prompt))
    before, *blocks = _REFERENCE.split(closed if has_end else files)
    yield from (Attachment(mime_type) for mime_type in _PLACEHOLDER.findall(before))
    if unknown := _PLACEHOLDER.sub("", before).strip():
        yield Text(unknown, Origin.INJECTED)
    for path, content in zip(blocks[::2], blocks[1::2], strict=True):
        yield FileReference(path, content)
    if has_end and after.strip():
        yield from (Text(words, whose) for words, whose in _whose(after))


def _whose(text: str) -> Iterator[tuple[str, Origin]]:
    """A text in pieces, each with its origin."""
    while hook := _HOOK.match(text):
        yield hook[0], Origin.INJECTED
        text = text[hook.end() :]
    if not text:
        return
    if _STEERING.match(text):
        yield from _steering(text)
    elif shell := _SHELL_MODE.fullmatch(text):
        yield shell["command"], Origin.HUMAN
        yield shell["output"], Origin.SHELL
    else:
        yield text, whose_words(text)


def _steering(text: str) -> Iterator[tuple[str, Origin]]:
    """A hint typed while the model worked: the human's words stand inside the CLI's."""
    done = 0
    for words in _USER_INPUT.finditer(text):
        yield text[done : words.start(1)], Origin.INJECTED
        yield words[1], Origin.HUMAN
        done = words.end(1)
    yield text[done:], Origin.INJECTED


def message_origin(parts: tuple[AnyPart, ...]) -> Origin:
    """The most telling origin among the pieces of a `user` message."""
    found = {part.origin for part in parts if isinstance(part, (Text, Attachment))}
    if ToolResult in map(type, parts):
        found.add(Origin.TOOL)
    return next((origin for origin in _MOST_TELLING if origin in found), Origin.INJECTED)
