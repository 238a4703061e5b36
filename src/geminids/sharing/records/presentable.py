"""Values that neither JSON nor CBOR can hold are replaced, and what they were is noted as text.

    half a character    U+FFFD
    not a number        its name
    nested too deep     its JSON, as a text

In a record the map that holds such a value has the JSON of what it was under `originals` of its
`x-geminids`, by JSON pointers from that map; the record itself has the number of all under `replaced`. So a
record says what was changed, and can be read back as what it was made of.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

from geminids.sharing.records.errors import RecordError
from geminids.sharing.records.leftovers import escaped
from geminids.sharing.records.profile import OURS

DEEPEST = 100
"""Maps and lists within each other, in a record as a whole."""
ORIGINALS = "originals"
REPLACED = "replaced"
_INSIDE = ("session", "entries", "children")
"""Members that hold maps which note what was replaced in them."""

Note = Callable[[str, Any], None]
"""What is told of a value that was replaced: the pointer to it, and what it was."""


def fits(value: Any, depth: int = 0) -> bool:
    """Whether JSON and CBOR can hold a value as it is."""
    kind = type(value)
    if kind is str:
        return value.isascii() or _is_whole(value)
    if kind is dict:
        if depth >= DEEPEST:
            return False
        for key, item in value.items():
            if type(key) is not str or not (key.isascii() or _is_whole(key)):
                return False
            if type(item) is str and item.isascii():
                continue
            if not fits(item, depth + 1):
                return False
        return True
    if kind is list:
        return depth < DEEPEST and all(fits(item, depth + 1) for item in value)
    if kind is float:
        return math.isfinite(value)
    return value is None or kind is int or kind is bool


def presentable(value: Any) -> Any:
    """The value itself where JSON and CBOR can hold it, else with other values for what they cannot."""
    return value if fits(value) else _presented(value, "", 0, lambda pointer, original: None)


def presentable_record(record: dict[str, Any]) -> dict[str, Any]:
    """A record that JSON and CBOR can hold, with notes of what was replaced in it."""
    if fits(record):
        return record
    presented, replaced = _presented_map(record, 0)
    if not replaced:
        return presented
    return presented | {OURS: presented[OURS] | {REPLACED: replaced}}


def restored_record(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """A record before anything in it was replaced. Raises RecordError where the notes do not fit."""
    match record:
        case {"x-geminids": {"replaced": int(replaced), **ours}}:
            restored, found = _restored_map({**record, OURS: ours}, "")
            if found != replaced:
                raise RecordError(
                    f"The record says that {replaced} values were replaced, but describes {found}."
                )
            return restored
        case _:
            return record


def _is_whole(words: str) -> bool:
    try:
        words.encode()
    except UnicodeEncodeError:
        return False
    return True


def _presented_map(written: dict[str, Any], depth: int) -> tuple[dict[str, Any], int]:
    """A map of a record, and how many values were replaced in it and in the maps inside."""
    presented: dict[str, Any] = {}
    originals: dict[str, str] = {}

    def note(pointer: str, original: Any) -> None:
        originals[pointer] = json.dumps(original)

    inside = 0
    for name, value in written.items():
        if name in _INSIDE:
            presented[name], replaced = _presented_inside(value, depth + 1)
            inside += replaced
        else:
            presented[name] = _presented(value, f"/{escaped(name)}", depth + 1, note)
    if originals:
        presented[OURS] = presented.get(OURS, {}) | {ORIGINALS: originals}
    return presented, inside + len(originals)


def _presented_inside(value: Any, depth: int) -> tuple[Any, int]:
    if isinstance(value, dict):
        return _presented_map(value, depth)
    pairs = [_presented_map(item, depth + 1) for item in value]
    return [item for item, _ in pairs], sum(replaced for _, replaced in pairs)


def _presented(value: Any, pointer: str, depth: int, note: Note) -> Any:
    match value:
        case str():
            return (
                value
                if value.isascii() or _is_whole(value)
                else _replaced(value, _whole(value), pointer, note)
            )
        case float() if not math.isfinite(value):
            return _replaced(value, json.dumps(value), pointer, note)
        case dict() | list() if depth >= DEEPEST:
            return _replaced(value, json.dumps(value), pointer, note)
        case list():
            return [_presented(item, f"{pointer}/{n}", depth + 1, note) for n, item in enumerate(value)]
        case dict() if all(map(_is_whole, value)):
            return {
                key: _presented(item, f"{pointer}/{escaped(key)}", depth + 1, note)
                for key, item in value.items()
            }
        case dict():
            return _replaced(value, _with_whole_keys(value, depth), pointer, note)
        case _:
            return value


def _replaced(original: Any, other: Any, pointer: str, note: Note) -> Any:
    note(pointer, original)
    return other


def _whole(words: str) -> str:
    return words.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _with_whole_keys(value: dict[str, Any], depth: int) -> dict[str, Any]:
    """A map with other keys; what is in it is noted with the map as a whole."""
    presented: dict[str, Any] = {}
    for key, item in value.items():
        name = _whole(key)
        while name in presented:
            name += "\ufffd"
        presented[name] = _presented(item, "", depth + 1, lambda pointer, original: None)
    return presented


def _restored_map(written: Mapping[str, Any], place: str) -> tuple[dict[str, Any], int]:
    restored = dict(written)
    inside = 0
    for name in _INSIDE:
        match restored.get(name):
            case dict() as held:
                restored[name], found = _restored_map(held, f"{place}/{name}")
                inside += found
            case list() as held:
                pairs = [_restored_item(item, f"{place}/{name}/{n}") for n, item in enumerate(held)]
                restored[name] = [item for item, _ in pairs]
                inside += sum(found for _, found in pairs)
    match restored.get(OURS):
        case {"originals": dict(originals)}:
            for pointer, text in originals.items():
                _put_back(restored, pointer, text, place)
            # What stands in `x-geminids` itself may just have been put back.
            ours = {name: value for name, value in restored[OURS].items() if name != ORIGINALS}
            restored = {name: value for name, value in restored.items() if name != OURS}
            return restored | ({OURS: ours} if ours else {}), inside + len(originals)
        case _:
            return restored, inside


def _restored_item(item: Any, place: str) -> tuple[Any, int]:
    return _restored_map(item, place) if isinstance(item, dict) else (item, 0)


def _put_back(restored: dict[str, Any], pointer: object, text: object, place: str) -> None:
    """Put what a value was in its place. Maps and lists on the way are copied: the record is not ours."""
    try:
        original = json.loads(text)  # type: ignore[arg-type]
        steps = [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")]  # type: ignore[attr-defined]
        holder: Any = restored
        for step in steps[1:-1]:
            key = _key(holder, step)
            holder[key] = holder[key].copy()
            holder = holder[key]
        key = _key(holder, steps[-1])
        if steps[0] or len(steps) < 2 or holder[key] is None:
            raise KeyError(pointer)
        holder[key] = original
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        where = f"{place}/{OURS}/{ORIGINALS}"
        raise RecordError(
            f"The record says at {where} what was replaced, and that cannot be put back."
        ) from error


def _key(holder: Any, step: str) -> str | int:
    return int(step) if isinstance(holder, list) else step
