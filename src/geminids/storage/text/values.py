"""What a search shows of a text, as a value."""

from geminids.core.values import Value


class Snippet(Value):
    """A piece of a text, on one line."""

    text: str
    spans: tuple[tuple[int, int], ...]
    """Start and end of what was looked for."""
    is_cut_before: bool
    is_cut_after: bool
