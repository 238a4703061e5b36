"""The text of a schema as the tree of `cddlparser`.

The parser is taken as it is, but not at its word everywhere. It reads `?` as any number of times, does not
know 0 as a number of times, forgets an empty alternative at the end of a group, and stops at a NUL as if the
text ended there. Its tree has no lines; they are found by writing the tree out again, which gives the text
back as it was.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Final

from cddlparser import Marker, ParserError, Tokens, parse
from cddlparser.ast import CDDLNode, CDDLTree, Group, GroupEntry, Type, Value

from geminids.sharing.records.errors import SchemaError

_LINE: Final = re.compile(r"line (\d+): (.*)", re.DOTALL)
_BEFORE: Final = re.compile(r"(?:\0\d+\0|\s|;[^\n]*)*")
_MOST_OF_A_REASON: Final = 200


class Source:
    """A schema's text, read."""

    def __init__(self, text: str, name: str) -> None:
        self.name = name
        self.tree = _tree(text, name)

    def error(self, reason: str, node: CDDLNode | None = None) -> SchemaError:
        """An error that says where in the text something is wrong."""
        return SchemaError(self.name, reason, self.line_of(node) if node else None)

    def line_of(self, node: CDDLNode) -> int | None:
        """The line on which a piece of the schema begins."""
        numbering = _Numbering()
        written = self.tree.serialize(numbering)
        number = next((number for number, known in enumerate(numbering.nodes) if known is node), None)
        if number is None:
            return None
        begin = written.index(f"\0{number}\0")
        before = _BEFORE.match(written, begin)
        return written.count("\n", 0, before.end() if before else begin) + 1


class _Numbering(Marker):
    """Puts a number before every node when a tree is written out."""

    def __init__(self) -> None:
        self.nodes: list[CDDLNode] = []

    def markupFor(self, node: CDDLNode) -> tuple[str, None]:  # noqa: N802 — the parser's name
        self.nodes.append(node)
        return f"\0{len(self.nodes) - 1}\0", None


def _tree(text: str, name: str) -> CDDLTree:
    if "\0" in text:
        raise SchemaError(name, "a NUL in the text", text[: text.index("\0")].count("\n") + 1)
    try:
        tree = parse(text)
    except ParserError as error:
        raise _syntax_error(name, str(error)) from None
    except RecursionError:
        raise SchemaError(name, "it is nested too deep") from None
    except (AssertionError, TypeError, ValueError, IndexError, AttributeError):
        # The parser's own words for text that ends where it must not.
        raise SchemaError(name, "it is no CDDL, or ends too early") from None
    if not tree.rules:
        raise SchemaError(name, "there is no rule in it")
    return tree


def _syntax_error(name: str, message: str) -> SchemaError:
    found = _LINE.search(message)
    if not found:
        return SchemaError(name, message.removeprefix("CDDL semantic error - ")[:_MOST_OF_A_REASON])
    return SchemaError(name, found[2][:_MOST_OF_A_REASON], int(found[1]))


def alternatives(group: Group) -> list[Sequence[GroupEntry]]:
    """The alternatives of a group; there is always one, even if it is empty."""
    choices: list[Sequence[GroupEntry]] = [_entries(choice.groupEntries) for choice in group.groupChoices]
    if not choices or group.groupChoices[-1].separator is not None:
        choices.append([])
    return choices


def _entries(written: Sequence[GroupEntry]) -> list[GroupEntry]:
    """The entries of a sequence. `0*2 name` comes as the literal 0 with an entry `*2 name` right after it."""
    return [
        entry
        for entry, following in zip(written, [*written[1:], None], strict=False)
        if not (following and _is_zero(entry) and _begins_at_once(following))
    ]


def _is_zero(entry: GroupEntry) -> bool:
    match entry:
        case GroupEntry(
            occurrence=None, key=None, separator=None, type=Type(types=[Value(value="0", type="number")])
        ):
            return True
        case _:
            return False


def _begins_at_once(entry: GroupEntry) -> bool:
    """Whether an entry begins with a `*` that touches what is before it."""
    if not entry.occurrence or not entry.occurrence.tokens:
        return False
    first = entry.occurrence.tokens[0]
    return first.type == Tokens.ASTERISK and not first.startWithSpaces()


def times(entry: GroupEntry) -> tuple[int, int | None]:
    """How often an entry may be there: at least and at most."""
    occurrence = entry.occurrence
    if occurrence is None:
        return 1, 1
    if occurrence.tokens and occurrence.tokens[0].type == Tokens.QUEST:
        return 0, 1
    return int(occurrence.n), None if occurrence.m == math.inf else int(occurrence.m)


def has_upper_zero(entry: GroupEntry) -> bool:
    """Whether the number right after a `*` is a 0, which comes as if it were the entry itself."""
    if not entry.occurrence or entry.occurrence.tokens[-1].type != Tokens.ASTERISK:
        return False
    first = entry.key.type if entry.key else entry.type.types[0]
    return isinstance(first, Value) and first.value == "0" and not first.whitespace and not first.comments
