"""Many things in groups of about equal size: what is handed on at once."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import TypeVar

    T = TypeVar("T")


def grouped(things: Iterable[T], weight: Callable[[T], int], most: int) -> Iterator[tuple[T, ...]]:
    """Things in their order, in groups that weigh no more, or are but one."""
    gathered: list[T] = []
    room = most
    for thing in things:
        weighs = weight(thing)
        if gathered and weighs > room:
            yield tuple(gathered)
            gathered, room = [], most
        gathered.append(thing)
        room -= weighs
    if gathered:
        yield tuple(gathered)
