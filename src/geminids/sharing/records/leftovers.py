"""What values of the model hold beyond the members of the format: told under one key, and read back.

Everything here goes by the fields that a struct has, so a field that the model gets tomorrow is told too.
What is as it always is, is left out. JSON that an agent wrote is passed on as it is and never copied.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from enum import Enum
from functools import cache
from typing import Any, TypeVar

import msgspec

from geminids.sharing.records.errors import RecordError

_PLACE = re.compile(r" - at (?:`key` in )?`\$([^`]*)`$")
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]")
_WORDS_OF_A_RECORD = re.compile(r"Invalid (?:enum )?value .*")

NO_DEFAULT = msgspec.NODEFAULT

T = TypeVar("T")


class Leftovers:
    """The fields of a struct that no member of the format tells, and what else is noted beside them."""

    def __init__(
        self,
        struct: type[msgspec.Struct],
        carried_elsewhere: Iterable[str],
        usual: Mapping[str, Any] | None = None,
        notes: Sequence[tuple[str, Any, Any]] = (),
    ) -> None:
        """`usual` says what need not be told where a struct has no default; notes: name, type, default."""
        known = {**_defaults(struct), **(usual or {})}
        fields = [field for field in msgspec.structs.fields(struct) if field.name not in {*carried_elsewhere}]
        self._defaults = {field.name: known[field.name] for field in fields}
        self._notes = {name: default for name, _, default in notes}
        shape: list[Any] = [_shape_field(field.name, field.type, known[field.name]) for field in fields]
        shape += [_shape_field(name, kind, default) for name, kind, default in notes]
        # Fields without a default have to come first.
        shape.sort(key=len)
        self._shape = msgspec.defstruct(f"{struct.__name__}Leftovers", shape, forbid_unknown_fields=True)

    def written(self, value: msgspec.Struct, **notes: Any) -> dict[str, Any]:
        """What is left of a value, and the notes that are not as always."""
        written = {
            name: plain(held)
            for name, default in self._defaults.items()
            if (held := getattr(value, name)) != default
        }
        for name, note in notes.items():
            if note != self._notes[name]:
                written[name] = plain(note)
        return written

    def read(self, written: object, pointer: str) -> dict[str, Any]:
        """All fields and notes by their names, those that were not told as they always are."""
        return msgspec.structs.asdict(converted(written, self._shape, pointer))


def converted(value: object, kind: type[T], pointer: str) -> T:
    """A value of a record as what it should be. Raises RecordError, which names the place."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise _misfit(str(error), pointer) from error
    except (ValueError, OverflowError, RecursionError) as error:
        raise RecordError(
            f"The record cannot be read: {pointer or 'it'} holds what no record can."
        ) from error


def plain(value: Any) -> Any:
    """A value of the model as JSON has it, without fields that are as they always are."""
    match value:
        case None | bool() | int() | float():
            return value
        case Enum():
            return value.value
        case str():
            return value
        case tuple():
            return [plain(item) for item in value]
        case datetime():
            return moment(value)
        case msgspec.Struct():
            return _plain_struct(value)
        case _:
            return value


def moment(at: datetime) -> str:
    """A time as the format wants it."""
    written = at.astimezone(UTC).isoformat()
    return f"{written[:-6]}Z"


def escaped(key: str) -> str:
    """A key as one step of a JSON pointer."""
    return key.replace("~", "~0").replace("/", "~1") if "~" in key or "/" in key else key


def _plain_struct(value: msgspec.Struct) -> dict[str, Any]:
    tag = value.__struct_config__.tag
    written = {str(value.__struct_config__.tag_field): tag} if tag else {}
    for name, default in _defaults(type(value)).items():
        held = getattr(value, name)
        if held != default:
            written[name] = plain(held)
    return written


@cache
def _defaults(struct: type[msgspec.Struct]) -> dict[str, Any]:
    return {field.name: _default(field) for field in msgspec.structs.fields(struct)}


def _default(field: msgspec.structs.FieldInfo) -> Any:
    return field.default_factory() if callable(field.default_factory) else field.default


def _shape_field(name: str, kind: Any, default: Any) -> tuple[Any, ...]:
    if default is NO_DEFAULT:
        return name, kind
    is_mutable = isinstance(default, dict | list)
    return name, kind, msgspec.field(default_factory=type(default)) if is_mutable else default


def complaint_and_place(error: str) -> tuple[str, list[str]]:
    """What msgspec complains about, and the steps to the place where."""
    found = _PLACE.search(error)
    if found is None:
        return error, []
    return error[: found.start()], [name or number for name, number in _STEP.findall(found[1])]


def _misfit(error: str, pointer: str) -> RecordError:
    """The error for what does not fit; words of a record are not repeated."""
    complaint, steps = complaint_and_place(error)
    reason = _WORDS_OF_A_RECORD.sub("a value that is not known", complaint)
    place = "".join((pointer, *(f"/{step}" for step in steps))) or "its root"
    return RecordError(f"This is not a record of geminids, or a damaged one: {reason} at {place}.")
