"""What is to be taken out of a record: what differs from another, where a text stands, repeats."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import Any

from geminids.sharing.records import standalone
from geminids.sharing.records.profile import NATIVE, OURS, SOURCE
from geminids.sharing.records.redaction import LABELS, beginnings, leaves, path_in, value_at
from geminids.sharing.records.standalone import Where, pointer_of

SHORTEST_REPEAT = 6
"""Shorter texts stand in many places by chance."""
_NAMES_AND_KINDS = frozenset(
    {
        *("type", "role", "id", "parent-id", "call-id", "timestamp", "model-id", "name", "status"),
        *("event-type", NATIVE, SOURCE, OURS),
    }
)
"""Members of an entry that nobody typed: the same texts stand all over a record."""
_INPUT = "input"
"""What a tool was asked for: here a name or an id may be anything."""
_SHORTENED = frozenset({"title", "summary"})
_CONTENT = "content"
_BESIDE = frozenset({"data", NATIVE, OURS})
_KINDS = frozenset({"type", "role", "status", "event-type"})
_MARGIN = re.compile(r"^\s*(?:[-+>|]|\d+\s*[→:|\t])?\s*")
"""What stands before a line in a difference, a quotation or a listing with numbers."""
_FEWEST_WORDS = 3


def differences(record: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """Pointers of what a record has and another version of it has not, or has otherwise.

    A leaf that differs is named itself. Where one version has members or elements that the other has no
    place for, the map or list around them is named.
    """
    one, two = standalone.body_of(record), standalone.body_of(other)
    return [pointer_of(path) for path in _differences(one, two, ())]


def _differences(one: Any, two: Any, path: Where) -> Iterator[Where]:
    if path[-1:] and path[-1] in standalone.WHOLES:
        if json.dumps(one, sort_keys=True) != json.dumps(two, sort_keys=True):
            yield path
    elif type(one) is not type(two):
        yield path
    elif isinstance(one, dict):
        odd_kind = standalone.is_entry_list(path[:-1]) and one.get("type") != two.get("type")
        if two.keys() - one.keys() or odd_kind:
            yield path
            return
        for key, value in one.items():
            if key in two:
                yield from _differences(value, two[key], (*path, key))
            else:
                yield (*path, key)
    elif isinstance(one, list):
        if len(one) != len(two):
            yield path
            return
        for index, (value, counterpart) in enumerate(zip(one, two, strict=True)):
            yield from _differences(value, counterpart, (*path, str(index)))
    elif one != two:
        yield path


def places_of(record: dict[str, Any], text: str) -> list[str]:
    """Pointers of all pieces that hold a text, also one that holds it as JSON in a text."""
    if not text:
        return []
    spelt = _spellings(text)
    found = {
        path: None
        for path, leaf in leaves(standalone.body_of(record), ())
        if not standalone.is_fixed(path)
        and (any(form in leaf for form in spelt) if isinstance(leaf, str) else _is_number(leaf, text))
    }
    return [pointer_of(path) for path in found]


def _is_number(number: float, text: str) -> bool:
    try:
        return json.dumps(number) == text
    except ValueError:
        # A number of many thousand digits, which nobody types.
        return False


def with_repeats(record: dict[str, Any], pointers: Iterable[str]) -> list[str]:
    """Pointers, and those of all other pieces that hold a text again which is taken out with them.

    Blanks around a text do not count. A title or a summary counts that is a piece of such a text, or the
    beginning of it with dots at the end. What stands beside the messages (the agent's own records, our words)
    is mostly told from them, so there a line of such a text is enough, or a short message.
    """
    given = list(dict.fromkeys(pointers))
    body = standalone.body_of(record)
    paths = {path_in(pointer) for pointer in given}
    pieces = [(path, value_at(body, path)) for path in paths]
    texts = {
        stripped
        for path, piece in pieces
        for text in _texts(piece, is_input=_INPUT in path)
        if len(stripped := text.strip()) >= SHORTEST_REPEAT
    }
    others = [
        (path, leaf)
        for path, leaf in leaves(body, ())
        if isinstance(leaf, str) and not standalone.is_fixed(path) and paths.isdisjoint(beginnings(path))
    ]
    beside = {*_lines_in(texts), *(said for path, piece in pieces for said in _said(piece, path))}
    found = sorted({*_holding(others, texts), *_shortened(others, texts), *_beside(others, beside)})
    return list(dict.fromkeys([*given, *(pointer_of(others[index][0]) for index in found)]))


def _said(piece: Any, path: Where) -> Iterator[str]:
    """What somebody said in a piece that is taken out, however short."""
    contents = [piece] if path[-1] == _CONTENT else []
    if isinstance(piece, dict):
        contents += [piece.get(_CONTENT)]
    return (
        stripped
        for content in contents
        for text in _texts(content, is_input=False)
        if (stripped := text.strip())
    )


def _lines_in(texts: Iterable[str]) -> Iterator[str]:
    """The lines of some texts, without what differences and listings put before them; no mere word or two."""
    for text in texts:
        for line in text.splitlines():
            words = _MARGIN.sub("", line).split()
            if len(words) >= _FEWEST_WORDS:
                yield " ".join(words)


def _beside(leaves: list[tuple[Where, str]], lines: set[str]) -> Iterator[int]:
    for index, (path, leaf) in enumerate(leaves):
        if _BESIDE.isdisjoint(path) or path[-1] in LABELS or path[-1] in _KINDS:
            continue
        if leaf.strip() in lines or not lines.isdisjoint(_lines_in([leaf])):
            yield index


def _holding(leaves: list[tuple[Where, str]], texts: set[str]) -> Iterator[int]:
    """Which leaves hold one of the texts. They are searched as one text, which is a hundred times faster."""
    joined = "\0".join(leaf for _, leaf in leaves)
    starts = list(accumulate((len(leaf) + 1 for _, leaf in leaves), initial=0))
    words = set(joined.split())
    for form in {form for text in texts for form in _spellings(text)}:
        # Mostly one of its words stands nowhere else, and then the text need not be searched for.
        if not words.issuperset(form.split()[1:-1]):
            continue
        at = joined.find(form)
        while at >= 0:
            index = bisect_right(starts, at) - 1
            yield index
            at = joined.find(form, starts[index + 1])


def _shortened(leaves: list[tuple[Where, str]], texts: set[str]) -> Iterator[int]:
    folded = "\0".join(" ".join(text.split()) for text in texts)
    for index, (path, leaf) in enumerate(leaves):
        ours = path[:2] == ("session", OURS) and not _SHORTENED.isdisjoint(path)
        cut = leaf.rstrip().removesuffix("…").removesuffix("...")
        if ours or len(cut) < len(leaf.rstrip()):
            piece = " ".join(cut.split())
            if len(piece) >= SHORTEST_REPEAT and piece in folded:
                yield index


def _spellings(text: str) -> set[str]:
    """A text as it stands in a text, and in JSON that stands in a text, and in JSON in that."""
    forms = {text}
    for only_ascii in (False, True):
        form = text
        for _ in range(2):
            form = json.dumps(form, ensure_ascii=only_ascii)[1:-1]
            forms.add(form)
    return forms


def _texts(value: Any, *, is_input: bool) -> Iterator[str]:
    """The texts in a piece that is taken out, less those that only say what kind of thing it is."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for element in value:
            yield from _texts(element, is_input=is_input)
    elif isinstance(value, dict):
        for key, member in value.items():
            if key not in (_KINDS if is_input else _NAMES_AND_KINDS):
                yield from _texts(member, is_input=is_input or key == _INPUT)
