"""Prompts that only the queue lines of a session have.

Claude Code notes each prompt that waits for its turn (`enqueue`) and how the wait ended: sent as a prompt
(`dequeue`), told to the model at work (`remove`), or taken back for editing (`popAll`, `popOne`). Releases
2.0 write no other line of a prompt that was told to the model at work, nor of one whose answer was empty.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Sequence

from geminids.agents.claude.read.content import blocks_of, object_or_empty, plain_text, text_or_none
from geminids.agents.claude.read.origins import Said, said, said_by_user
from geminids.agents.claude.read.records import ATTACHMENT, QUEUE, SYSTEM, USER, Record
from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.model import Location, Origin, Text

MISSING = "Claude Code noted it in its queue of prompts, but not in the conversation"
_TOLD_AT_WORK = (None, "absorbed_mid_turn")
"""Reasons of a `remove` after which the model has the prompt; after any other it was thrown away."""
_NEARBY = 50
"""Records after the end of a wait among which the record of a prompt is looked for."""
_COMMAND = lazy_pattern(r"/[\w:-]+(?:\s|$)")
_PASTED = lazy_pattern(r"\[Pasted text #\d+(?: \+\d+ lines)?\]")
_BLOCKED = "Original prompt: "
"""Prefix of a prompt that a hook blocked."""
_TAKEN = "\n\0\n"


def queued(record: Record) -> Said:
    """Return the words of an `enqueue` line: a prompt, or a command to Claude Code."""
    content = record.value["content"]
    words = said(content)
    is_command = words.origin is Origin.HUMAN and _COMMAND.match(content)
    return Said(words.parts, Origin.COMMAND) if is_command else words


def unsent_prompts(facts: Iterable[Record], tree: Sequence[Record]) -> list[Record]:
    """Return the `enqueue` lines of prompts that no other record holds and nobody took back."""
    waits = _waits(record for record in facts if record.kind == QUEUE)
    if not waits:
        return []
    records = _Records([record for record in tree if record.place.file == waits[0][0].place.file])
    return [enqueued for enqueued, end in waits if not records.take(enqueued, end.place)]


class _Records:
    """The words of the records of a conversation; those of a prompt are taken once."""

    def __init__(self, records: Sequence[Record]) -> None:
        self._starts = [record.place.start for record in records]
        self._words = list(map(_words, records))
        self._with_line: dict[str, list[int]] = {}
        for at, words in enumerate(self._words):
            for line in words.split("\n"):
                self._with_line.setdefault(line, []).append(at)

    def take(self, enqueued: Record, end: Location) -> bool:
        """Return whether a record between the beginning of a wait and soon after its end holds the prompt."""
        prompt = enqueued.value["content"].strip()
        first = bisect_left(self._starts, enqueued.place.start)
        last = min(bisect_left(self._starts, end.start) + _NEARBY, len(self._starts))
        pieces = [piece for piece in _PASTED.split(prompt) if piece.strip()]
        if pieces != [prompt]:
            return any(self._take(at, pieces) for at in range(max(first, last - 2 * _NEARBY), last))
        lines = _lines(prompt)
        found = self._with_line.get(lines.split("\n", 2)[1], [])
        for number in range(bisect_left(found, first), bisect_left(found, last)):
            if self._take(found[number], [lines]):
                # Many prompts may be alike.
                del found[number]
                return True
        return False

    def _take(self, at: int, pieces: Sequence[str]) -> bool:
        words = self._words[at]
        if not all(piece in words for piece in pieces):
            return False
        for piece in pieces:
            words = words.replace(piece, _TAKEN, 1)
        self._words[at] = words
        return True


def _waits(operations: Iterable[Record]) -> list[tuple[Record, Record]]:
    """Return the `enqueue` lines of what a human typed, each with the line that ended its wait, or itself."""
    every: list[Record] = []
    alike: dict[object, deque[Record]] = {}
    """The same by their words, and all of them under None, which lines without words name."""
    ended: dict[int, Record | None] = {}
    for record in operations:
        content, operation = record.value.get("content"), record.value.get("operation")
        if operation == "enqueue":
            every.append(record)
            for name in {None, content} if isinstance(content, str) else (None,):
                alike.setdefault(name, deque()).append(record)
            continue
        waiting = alike.get(content if isinstance(content, str) else None, deque())
        while waiting and waiting[0].place.start in ended:
            waiting.popleft()
        if waiting:
            was_sent = operation == "dequeue" or (
                operation == "remove" and record.value.get("reason") in _TOLD_AT_WORK
            )
            ended[waiting[0].place.start] = record if was_sent else None
    found = ((record, ended.get(record.place.start, record)) for record in every if _is_typed(record))
    return [(record, end) for record, end in found if end is not None]


def _is_typed(record: Record) -> bool:
    content = record.value.get("content")
    return type(content) is str and bool(content.strip()) and said(content).origin is Origin.HUMAN


def _words(record: Record) -> str:
    """Return the words of a record that can be those of a prompt, as lines between line breaks."""
    value = record.value
    if record.kind == USER:
        content = blocks_of(object_or_empty(value.get("message")).get("content"))
        own = [block for block in content if not (type(block) is dict and "tool_use_id" in block)]
        return _lines(_texts(said_by_user(value, own)))
    if record.kind == ATTACHMENT:
        return _lines(plain_text(object_or_empty(value.get("attachment")).get("prompt")))
    if record.kind == SYSTEM:
        return _lines(_texts(said(text_or_none(value.get("content")) or "")).replace(_BLOCKED, "\n"))
    return ""


def _texts(words: Said) -> str:
    return "\n".join(part.text for part in words.parts if isinstance(part, Text))


def _lines(text: str) -> str:
    """Return the lines of a text without the space around and between their words, between line breaks."""
    return "\n".join(["", *(" ".join(line.split()) for line in text.splitlines()), ""])
