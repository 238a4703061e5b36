"""Whether a value has the shape of a record, or of its signed envelope, and where it first has not.

msgspec says yes, or where it stopped. What was expected there is looked up in the shapes, and told in words;
of what was found only the kind is told, never its content.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec
from msgspec import inspect

from geminids.sharing.records.leftovers import complaint_and_place, escaped
from geminids.sharing.records.published_shapes import LEAVES, Envelope, Record, is_integer, leaf
from geminids.sharing.records.standalone import RefusedError, Tagged, decode_cbor

TOO_DEEP: Final = "something nested too deep to be looked at"
_CLAIMS: Final = "15"
_TYPE: Final = "type"
_NO_MEMBER: Final = "no member of this name"
_ENCODED_MAP: Final = "bytes that are the CBOR of a map"
_MOST_OF_A_KEY: Final = 80
_NOTHING: Final = object()

_KINDS: Final[dict[type, str]] = {
    str: "text",
    bool: "a boolean",
    float: "a float",
    type(None): "null",
    dict: "a map",
    list: "a list",
    bytes: "bytes",
    object: "nothing",
}
_WORDS: Final[dict[type[inspect.Type], str]] = {
    inspect.AnyType: "anything",
    inspect.StrType: "text",
    inspect.BoolType: "a boolean",
    inspect.BytesType: "bytes",
    inspect.NoneType: "null",
    inspect.DictType: "a map",
    inspect.StructType: "a map",
}
_MAPS: Final = inspect.StructType | inspect.DictType


class Mismatch(msgspec.Struct, frozen=True):
    """The place where a value first does not have its shape."""

    path: str
    """A JSON pointer; empty for the value as a whole. What is encoded in bytes counts as what it encodes."""
    expected: str
    found: str
    """What kind of value stands there; never its content."""

    @property
    def sentence(self) -> str:
        """All of it in one line."""
        where = self.path or "the root"
        return f"At {where}: expected {self.expected}, found {self.found}."


def check_record(record: object) -> Mismatch | None:
    """Where a value does not have the shape of a record; None if it has."""
    return _mismatch(record, Record)


def check_envelope(content: bytes) -> Mismatch | None:
    """Where bytes do not have the shape of a signed record in CBOR; None if they have.

    The payload is not looked into: it is bytes, and may be JSON or CBOR.
    """
    try:
        signed = decode_cbor(content)
    except RefusedError as error:
        return Mismatch("", "bytes that are the CBOR of tag 18", f"bytes that cannot be read: {error}")
    match signed:
        case Tagged(18, list([_, _, _, _, more, *_])):
            return Mismatch("/4", "the end of the list", _kind_of(more))
        case Tagged(18, list([protected, *others])):
            return _check_parts(protected, others)
        case Tagged(18, other):
            return Mismatch("", "a list of four", _kind_of(other))
        case _:
            return Mismatch("", "tag 18", _kind_of(signed))


def _check_parts(encoded: object, others: Sequence[Any]) -> Mismatch | None:
    if not isinstance(encoded, bytes):
        return Mismatch("/0", _ENCODED_MAP, _kind_of(encoded))
    try:
        protected = _labelled(decode_cbor(encoded))
    except RefusedError as error:
        return Mismatch("/0", _ENCODED_MAP, f"bytes that cannot be read: {error}")
    if isinstance(protected, dict) and _CLAIMS in protected:
        protected |= {_CLAIMS: _labelled(protected[_CLAIMS])}
    parts = [protected, *(_labelled(part) for part in others)]
    return _mismatch({str(number): part for number, part in enumerate(parts)}, Envelope)


def _labelled(value: object) -> object:
    """A map with its numbers as texts for keys; keys that are texts, all unknown to us, are left out."""
    if not isinstance(value, dict):
        return value
    labels = ((key, member) for key, member in value.items() if not isinstance(key, str))
    return {str(key) if is_integer(key) else key: member for key, member in labels}


def _mismatch(value: object, shape: type) -> Mismatch | None:
    try:
        msgspec.convert(value, shape, builtin_types=(bytes,), dec_hook=leaf)
    except msgspec.ValidationError as error:
        _, steps = complaint_and_place(str(error))
        return _at_end_of(value, inspect.type_info(shape), steps)
    except RecursionError:
        return Mismatch("", "something that can be looked through", TOO_DEEP)
    return None


def _at_end_of(value: Any, shape: inspect.Type, steps: Sequence[str]) -> Mismatch:
    """What is wrong with the value at the end of some steps, or with one of its members."""
    path = ""
    for step in steps:
        if isinstance(value, Tagged):
            # To msgspec a tag is a list of two; to a record it is nothing but a tag.
            break
        if isinstance(value, dict):
            shape, value = _member(shape, value, step), value[step]
        else:
            shape, value = _item(shape), value[int(step)]
        path += f"/{step}"
    for name, expected in _wrong_members(shape, value):
        return Mismatch(f"{path}/{_step(name)}", expected, _kind_of(value.get(name, _NOTHING)))
    is_short = isinstance(value, list) and any(
        isinstance(one, inspect.ListType) for one in _alternatives(shape)
    )
    return Mismatch(path, _words(shape), "a shorter list" if is_short else _kind_of(value))


def _alternatives(shape: inspect.Type) -> Sequence[inspect.Type]:
    return shape.types if isinstance(shape, inspect.UnionType) else (shape,)


def _item(shape: inspect.Type) -> inspect.Type:
    return next(one.item_type for one in _alternatives(shape) if isinstance(one, inspect.ListType))


def _struct(shape: inspect.Type, value: dict[Any, Any]) -> inspect.StructType | None:
    """What a map has to be: of several entries, the one that it says it is. None if it says none."""
    structs = (one for one in _alternatives(shape) if isinstance(one, inspect.StructType))
    return next((one for one in structs if not one.tag or one.tag == value.get(_TYPE)), None)


def _member(shape: inspect.Type, value: dict[Any, Any], name: str) -> inspect.Type:
    struct = _struct(shape, value)
    named = {field.encode_name: field.type for field in struct.fields} if struct else {}
    return named.get(name) or _entry_types(shape)


def _entry_types(shape: inspect.Type) -> inspect.LiteralType:
    entries = (one for one in _alternatives(shape) if isinstance(one, inspect.StructType))
    return inspect.LiteralType(tuple(str(entry.tag) for entry in entries))


def _wrong_members(shape: inspect.Type, value: Any) -> Iterator[tuple[object, str]]:
    """Members that should not be in a map, and those that are missing, each with what is expected."""
    if not isinstance(value, dict) or not isinstance(_alternatives(shape)[0], _MAPS):
        return
    yield from ((key, _NO_MEMBER) for key in value if not isinstance(key, str))
    struct = _struct(shape, value)
    if struct is None:
        yield _TYPE, _words(_entry_types(shape))
        return
    named = {field.encode_name: field for field in struct.fields}
    if struct.forbid_unknown_fields:
        yield from ((key, _NO_MEMBER) for key in value if key not in named)
    for name, field in named.items():
        if field.required and name not in value:
            yield name, _words(field.type)


def _words(shape: inspect.Type) -> str:
    """What a value has to be."""
    match shape:
        case inspect.CustomType(cls):
            return LEAVES[cls].words
        case inspect.LiteralType(values):
            return " or ".join(f'"{value}"' for value in values)
        case inspect.ListType(min_length=int(least)):
            return f"a list of at least {least}"
        case inspect.ListType():
            return "a list"
        case inspect.UnionType(types):
            return " or ".join(dict.fromkeys(map(_words, types)))
        case _:
            return _WORDS[type(shape)]


def _kind_of(value: object) -> str:
    """What kind of value it is, in words."""
    match value:
        case Tagged(number):
            return f"tag {number}"
        case int() if not isinstance(value, bool):
            return _kind_of_number(value)
        case _:
            return _KINDS[type(value)]


def _kind_of_number(value: int) -> str:
    """What kind of integer it is; the reader of CBOR makes numbers also of tagged bytes."""
    sign = "a negative" if value < 0 else "an unsigned"
    return f"{sign} integer" if is_integer(value) else f"tag {3 if value < 0 else 2}"


def _step(key: object) -> str:
    """One step of a JSON pointer. A key may be as long as someone likes."""
    # Python refuses to write very large numbers in ten digits.
    text = hex(key) if isinstance(key, int) and not is_integer(key) else str(key)
    return escaped(text if len(text) <= _MOST_OF_A_KEY else f"{text[:_MOST_OF_A_KEY]}…")
