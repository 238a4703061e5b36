"""Sessions that a search has found, as a list shows them."""

# Annotations are no strings here: compiling them would take most of the time that loading this takes.
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

from geminids.storage.index import reader
from geminids.storage.index.reader import ORDERS, Condition, numbered
from geminids.storage.index.values import SessionRow

if TYPE_CHECKING:
    from geminids.storage.index.database import Index


class FoundInOrder(NamedTuple):
    """The first of the sessions that were found, in one of the orders of a list."""

    sessions: Sequence[SessionRow]
    total: int
    is_exact: bool = True
    """Else there may be more: texts must be read to tell."""


def in_order(
    index: "Index",
    found: Sequence[int],
    tagged: Collection[str] | None,
    order: tuple[str, bool],
    limit: int,
) -> FoundInOrder:
    """So many of the sessions that were found; the order has a name and may be reversed."""
    conditions = found_and_tagged(found, tagged)
    name, is_reversed = order
    rows = reader.sessions(index, conditions, limit, ORDERS[name][is_reversed])
    return FoundInOrder(rows, reader.session_count(index, conditions))


def found_and_tagged(found: Sequence[int], tagged: Collection[str] | None) -> list[Condition]:
    """Being among some sessions, and among the tagged ones if these are wanted."""
    return [numbered(found)] if tagged is None else [numbered(found), reader.among(tagged)]
