"""Work that makes millions of values and no cycles, spared the search for them."""

# Annotations are no strings here: compiling them would take most of the time that loading this takes.
import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collecting() -> Iterator[None]:
    """A while in which nobody looks for cycles: sessions have none, and there are millions of values."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
