"""Every kind of value that the model has room for, by its types: what sessions of tomorrow may hold."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import inspect

from geminids.core.model import Message, Origin, Session, State, Text
from geminids.sharing.export.kinds import Held, each_value, message_kind

CELLS = "tool-call.display.screen.cells"
IN_CELLS = {f"{CELLS}.text", f"{CELLS}.style", f"{CELLS}.style (choices)", f"{CELLS}.style (numbers)"}
"""What stands in the cells of a screen, of which the model only knows that it may be anything."""


def model_kinds() -> set[str]:
    """All kinds of values and of messages."""
    of_messages = {message_kind(state) for state in State}
    return {*_kinds(inspect.type_info(Session), "session")} | IN_CELLS | of_messages


def _kinds(type_: inspect.Type, kind: str) -> Iterator[str]:
    match type_:
        case inspect.StructType():
            yield from _kinds_in(type_, kind)
        case inspect.UnionType():
            for one in type_.types:
                yield from _kinds(one, kind)
        case inspect.DictType():
            yield from _kinds(type_.value_type, kind)
        case inspect.ListType() | inspect.VarTupleType():
            yield from _kinds(type_.item_type, kind)
        case inspect.AnyType():
            yield from (kind, f"{kind} (choices)", f"{kind} (numbers)")
        case inspect.NoneType():
            pass
        case _:
            yield kind


def _kinds_in(struct: inspect.StructType, kind: str) -> Iterator[str]:
    is_part = kind == "message.parts"
    start = f"{kind}.{struct.tag}" if struct.tag else kind
    start = "message" if struct.cls is Message else str(struct.tag) if is_part else start
    for field in struct.fields:
        if struct.cls is Text and is_part and field.name == "text":
            yield from (f"{start}.text ({origin})" for origin in Origin)
        else:
            yield from _kinds(field.type, f"{start}.{field.name}")


def held_values(session: Session) -> list[Held]:
    """All values that a session holds."""
    found: list[Held] = []
    each_value(session, found.append)
    return found
