"""Words inside one session that was read: every place where they stand, and snippets cut anew.

A search of the index cuts its snippets from what agents wrote. Where secrets are hidden they are cut from the
session after that: half of a secret cannot be recognised, and what is one in one message is hidden in all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import NamedTuple

from geminids.core.model import AnyPart, FileReference, Message, Origin, Text, Thought, ToolCall, ToolResult
from geminids.query.search.fillers import FILLERS
from geminids.sharing.transcript.call_summary import output_text, value_words
from geminids.storage.text.patterns import Patterns
from geminids.storage.text.places import find, substring_places
from geminids.storage.text.snippets import merged
from geminids.storage.text.values import Snippet
from geminids.storage.text.words import Way

BEFORE = 3
"""What was found stands this part of a snippet after its beginning: a third."""
_SAID_BY = frozenset({Origin.HUMAN, Origin.MODEL})


class Words(NamedTuple):
    """A text of a part."""

    where: str
    text: str
    argument: str | None = None


class Holding(NamedTuple):
    """A text of a session that holds what is looked for."""

    number: int
    """Of its message, from 1."""
    part: int
    text: int
    """Which text of the part."""
    times: int


class FoundWords(NamedTuple):
    """One place where it stands."""

    holding: Holding
    words: Words
    nth: int
    """Which place in this text, from 0."""
    span: tuple[int, int]


def texts_of(part: AnyPart) -> Iterator[Words]:
    """All that is written in a part, and where it belongs."""
    match part:
        case Text(text=text, origin=origin):
            yield Words(str(origin) if origin in _SAID_BY else "other", text)
        case Thought(text=text, subject=subject):
            yield Words("thoughts", f"{subject}\n{text}")
        case ToolCall():
            yield Words("arguments", part.name)
            for name, value in part.arguments.items():
                yield Words("arguments", value_words(value), name)
            yield Words("output", output_text(part))
        case ToolResult(parts=parts):
            yield from (Words("output", piece.text) for piece in parts if isinstance(piece, Text))
        case FileReference(path=path, text=text):
            yield Words("other", f"{path}\n{text or ''}")
        case _:
            return


def texts_holding(messages: Sequence[Message], wanted: str) -> Iterator[Holding]:
    """The texts of messages that hold some words, as they stand there, in any case."""
    for number, message in enumerate(messages, 1):
        for place, part in enumerate(message.parts):
            for nth, words in enumerate(texts_of(part)):
                if times := sum(1 for _ in substring_places(words.text, wanted)):
                    yield Holding(number, place, nth, times)


def first_from(holding: Sequence[Holding], number: int) -> int:
    """The first place in or after a message; where none is left, the first of all."""
    before = sum(one.times for one in holding if one.number < number)
    return before if before < sum(one.times for one in holding) else 0


def places_in(
    messages: Sequence[Message], wanted: str, holding: Sequence[Holding], start: int, count: int
) -> Iterator[FoundWords]:
    """A window of the places; only the texts that they stand in are looked through."""
    end, begin = start + count, 0
    for one in holding:
        if begin < end and begin + one.times > start:
            words = list(texts_of(messages[one.number - 1].parts[one.part]))[one.text]
            first = max(0, start - begin)
            spans = islice(substring_places(words.text, wanted), first, end - begin)
            yield from (FoundWords(one, words, nth, span) for nth, span in enumerate(spans, first))
        begin += one.times


def places_of(typed: str, now: datetime) -> Callable[[str], list[tuple[int, int]]]:
    """What tells where in a text the words of a search stand, in order and apart from each other.

    Words that only hold a sentence together are left out, unless there are no others.
    """
    from geminids.query.search.language import parse

    every = parse(typed, now).positive
    telling = [want for want in every if want.way is not Way.WORD or want.text.lower() not in FILLERS]
    patterns = Patterns()

    def places(text: str) -> list[tuple[int, int]]:
        with patterns:
            return merged(find(text, telling or every, patterns))

    return places


class SnippetCutter:
    """Cuts snippets anew, as long as its time lasts."""

    def __init__(self, seconds: float) -> None:
        self._patterns = Patterns(seconds)

    def __enter__(self) -> SnippetCutter:
        self._patterns.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._patterns.__exit__(None, None, None)

    def cut(self, message: Message, found: Snippet, width: int) -> Snippet | None:
        """The piece around the first place in a message where it stands; None if all of it is hidden."""
        wanted = _pattern(found)
        if not wanted:
            return None
        for words in (words for part in message.parts for words in texts_of(part)):
            if first := self._patterns.places(words.text, wanted, 1):
                begin = max(0, first[0][0] - width // BEFORE)
                text = words.text[begin : begin + width]
                spans = tuple(self._patterns.places(text, wanted, width))
                return Snippet(text, spans, begin > 0, begin + width < len(words.text))
        return None


def _pattern(snippet: Snippet) -> str:
    """What was found, wherever lines break in it."""
    matched = {" ".join(snippet.text[start:end].split()) for start, end in snippet.spans}
    longest_first = sorted(filter(None, matched), key=len, reverse=True)
    return "|".join(re.escape(one).replace("\\ ", r"\s+") for one in longest_first)
