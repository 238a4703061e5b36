"""Regular expressions that are compiled when they are first used.

A sync of one file loads eighty and uses twenty, and compiling them took a tenth of its time.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from typing import Any, AnyStr

_METHODS = ("search", "match", "fullmatch", "finditer", "findall", "split", "sub")


class _LazyPattern:
    """A regular expression that becomes itself when it is asked for anything."""

    def __init__(self, source: str | bytes, flags: int) -> None:
        self._source = source
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        import re

        compiled = re.compile(self._source, self._flags)
        # From now on these are found without asking here.
        vars(self).update({method: getattr(compiled, method) for method in _METHODS})
        return getattr(compiled, name)


def lazy_pattern(source: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """What `re.compile` gives, as far as methods are used; compiled by the first of them."""
    return _LazyPattern(source, flags)  # type: ignore[return-value]
